import assert from "node:assert/strict";
import { test } from "node:test";
import { cornersOf } from "../../src/timeline/path";
import type { Extent, View } from "../../src/geometry";

const extent: Extent = { t0: 0, t1: 10, timelines: 6, pinned: 1, width: 100, height: 180 };
const view: View = { t0: 0, t1: 10, top: 0, timelineHeight: 30 };
const path = (...stretches: [number, number, number][]) => ({
  from: stretches.map(([from]) => from), to: stretches.map(([, to]) => to), timeline: stretches.map(([, , timeline]) => timeline), exact: true,
});

test("the critical path runs along the middle of timelines, and over to the next where one ends", () => {
  assert.deepEqual(cornersOf(path([0, 4, 0], [4, 6, 3], [6, 10, 2]), view, extent), [
    { x: 0, y: 15, isDrawn: false }, { x: 40, y: 15, isDrawn: true },
    { x: 40, y: 105, isDrawn: true }, { x: 60, y: 105, isDrawn: true },
    { x: 60, y: 75, isDrawn: true }, { x: 100, y: 75, isDrawn: true },
  ]);
  assert.deepEqual(cornersOf(path(), view, extent), []);
});

test("where the path is on a timeline that is not shown there is a gap; behind the pinned ones there is no line", () => {
  assert.deepEqual(cornersOf(path([0, 4, 0], [4, 6, -1], [6, 10, 0]), view, extent).map(({ isDrawn }) => isDrawn), [false, true, false, true]);
  const scrolled = cornersOf(path([0, 4, 0], [4, 6, 1], [6, 10, 4]), { ...view, top: 2 }, extent);
  assert.deepEqual(scrolled.slice(2), [
    { x: 40, y: 30, isDrawn: true }, { x: 60, y: 30, isDrawn: false },
    { x: 60, y: 75, isDrawn: true }, { x: 100, y: 75, isDrawn: true },
  ]);
});
