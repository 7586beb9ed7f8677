import assert from "node:assert/strict";
import { test } from "node:test";
import { labelled, LETTERS } from "../../src/timeline/labels";

test("labels never lie on one another, headings keep theirs, and no room stays empty that a label could have", () => {
  for (const rowHeight of [2, 5, 6.6, 12.9]) {
    const need = Math.ceil(LETTERS / rowHeight);
    // Headings at irregular places, far enough from each other.
    const open = Array.from({ length: 120 }, (_, row) => row % 23 === 7 || row % 31 === 0);
    const rows = labelled(0, 120, rowHeight, open);
    for (let nth = 1; nth < rows.length; nth++) assert.ok(rows[nth]! - rows[nth - 1]! >= need, `${rowHeight}: ${rows[nth - 1]} and ${rows[nth]}`);
    open.forEach((isOpen, row) => {
      const isClose = open.some((other, at) => other && at < row && row - at < need);
      if (isOpen && !isClose) assert.ok(rows.includes(row), `${rowHeight}: heading ${row}`);
    });
    assert.ok(rows.length >= 120 / (need * 4), `${rowHeight}: ${rows.length} labels`);
  }
  assert.deepEqual(labelled(3, 7, 20, []), [3, 4, 5, 6]);
});
