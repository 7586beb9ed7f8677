import assert from "node:assert/strict";
import { test } from "node:test";
import { hitsText } from "../../src/panels/parts";

test("a number of hits that is not all of them says so: about as many, or as many at least", () => {
  assert.equal(hitsText({ count: 0, exact: true, at_least: false }), "0");
  assert.equal(hitsText({ count: 72, exact: true, at_least: false }), "72");
  assert.match(hitsText({ count: 1_181_000, exact: false, at_least: false }), /^≈ 1\D181\D000$/u);
  assert.match(hitsText({ count: 21_956, exact: false, at_least: true }), /^≥ 21\D956$/u);
});
