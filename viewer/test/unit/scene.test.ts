import assert from "node:assert/strict";
import { test } from "node:test";
import { blocked, positions, unblocked } from "../../src/timeline/positions";

test("rows of the page and rows of a picture of blocks, headings left out, pinned rows as they are", () => {
  // Two pinned rows, then two headings with four leaves each.
  const open = [false, false, true, false, false, false, false, true, false, false, false, false];
  const where = positions(open, 2);
  assert.deepEqual([0, 1, 2].map((row) => blocked(row, 4, where)), [0, 1, 2]);
  assert.equal(blocked(3, 4, where), 2);
  assert.equal(blocked(7, 4, where), 3);
  assert.equal(blocked(8, 4, where), 3);
  assert.equal(blocked(12, 4, where), 4);
  for (let row = 0; row < 12; row++) assert.equal(blocked(row, 1, where), row);
  // The other way round: wherever that leads, it is the same place of the picture, and no heading.
  for (let row = 0; row < 4; row += 0.125) {
    const position = unblocked(row, 4, where);
    assert.equal(blocked(position, 4, where), row);
    assert.ok(!open[Math.floor(position)], `${row} at ${position}`);
  }
});
