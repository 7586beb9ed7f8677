import assert from "node:assert/strict";
import { test } from "node:test";
import { fullLabel } from "../../src/labels";

test("a timeline that stands alone has the names of the headings above it, which the tree shows above it", () => {
  const timelines = { label: ["rank 0", "thread 0", "lane 1"], path: [[], ["rank 0"], ["server 2", "thread 0"]] };
  assert.deepEqual([0, 1, 2].map((timeline) => fullLabel(timelines, timeline)), ["rank 0", "rank 0 thread 0", "server 2 thread 0 lane 1"]);
  assert.deepEqual([fullLabel(timelines, 3), fullLabel(timelines, -1), fullLabel(null, 0)], ["", "", ""]);
});
