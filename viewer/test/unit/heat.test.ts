import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, heatOf, mix } from "../../src/color";
import { THEMES } from "../../src/palette";

test("the ground of a number says how near it is to the most of its column; nothing has none", () => {
  assert.equal(heatOf(0, 5), 0);
  assert.equal(heatOf(0, 0), 0);
  assert.equal(heatOf(Number.NaN, 5), 0);
  assert.equal(heatOf(5, 5), 45);
  assert.equal(heatOf(2.5, 5), 23);
  assert.equal(heatOf(7, 5), 45);
});

test("numbers can be read on the strongest ground, in both themes", () => {
  // As style.css has them: `--hot`.
  for (const [theme, hot] of [["light", 0xf0a35e], ["dark", 0xa8480a]] as const) {
    const { ground, text } = THEMES[theme];
    assert.ok(contrast(mix(ground, hot, heatOf(1, 1) / 100), text) >= 7, theme);
    assert.ok(contrast(mix(ground, hot, heatOf(1, 1) / 100), ground) >= 1.25, theme);
  }
});
