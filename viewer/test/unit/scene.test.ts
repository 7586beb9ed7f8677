import assert from "node:assert/strict";
import { test } from "node:test";
import { blocked, positions, unblocked } from "../../src/timeline/positions";

test("timelines of the page and timelines of a picture of blocks, headings left out, pinned timelines as they are", () => {
  // Two pinned timelines, then two headings with four leaves each.
  const open = [false, false, true, false, false, false, false, true, false, false, false, false];
  const where = positions(open, 2);
  assert.deepEqual([0, 1, 2].map((timeline) => blocked(timeline, 4, where)), [0, 1, 2]);
  assert.equal(blocked(3, 4, where), 2);
  assert.equal(blocked(7, 4, where), 3);
  assert.equal(blocked(8, 4, where), 3);
  assert.equal(blocked(12, 4, where), 4);
  for (let timeline = 0; timeline < 12; timeline++) assert.equal(blocked(timeline, 1, where), timeline);
  // The other way round: wherever that leads, it is the same place of the picture, and no heading.
  for (let timeline = 0; timeline < 4; timeline += 0.125) {
    const position = unblocked(timeline, 4, where);
    assert.equal(blocked(position, 4, where), timeline);
    assert.ok(!open[Math.floor(position)], `${timeline} at ${position}`);
  }
});
