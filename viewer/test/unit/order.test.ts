import assert from "node:assert/strict";
import { test } from "node:test";
import { orderAfter } from "../../src/timeline/order";

/** What the server makes of it: the named ones first, the others as they were. */
const shown = (all: readonly string[], order: readonly string[]) => [...order, ...all.filter((key) => !order.includes(key))];
const ALL = ["0", "1", "2", "3", "4", "5"];

test("a timeline that is dragged comes where it was dropped, and no more is named than needed", () => {
  for (const key of ALL) for (const before of [...ALL, null]) {
    if (key === before) continue;
    const rest = ALL.filter((other) => other !== key);
    const at = before === null ? rest.length : rest.indexOf(before);
    const wanted = [...rest.slice(0, at), key, ...rest.slice(at)];
    const order = orderAfter(ALL, 0, key, before);
    assert.deepEqual(shown(ALL, order), wanted, `${key} before ${before}`);
    assert.ok(order.length <= at + 1);
  }
});

test("timelines that were dragged before stay where they are", () => {
  const first = orderAfter(ALL, 0, "5", "1");
  const now = shown(ALL, first);
  const second = orderAfter(now, first.length, "3", "0");
  assert.deepEqual(shown(ALL, second), ["3", "0", "5", "1", "2", "4"]);
  assert.deepEqual(orderAfter(now, first.length, "9", "9"), first);
});
