import assert from "node:assert/strict";
import { test } from "node:test";
import { coarseNote } from "../../src/timeline/note";

test("a coarse picture promises an exact one only where an index is being made: a page without a server makes none", () => {
  assert.equal(coarseNote(false, true), "≈ coarse, the exact picture follows");
  assert.equal(coarseNote(false, false), "≈ coarse, exact when zoomed in");
  for (const isBeingMade of [true, false]) assert.equal(coarseNote(true, isBeingMade), "≈ from the index, exact when zoomed in");
});
