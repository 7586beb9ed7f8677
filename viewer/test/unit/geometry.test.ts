import assert from "node:assert/strict";
import { test } from "node:test";
import * as geometry from "../../src/geometry";

const extent: geometry.Extent = { t0: 10, t1: 20, timelines: 1000, pinned: 2, width: 800, height: 400 };
const near = (a: number, b: number) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)), `${a} ≠ ${b}`);

test("zooming keeps the time below the pointer, and timelines likewise", () => {
  let view: geometry.View = { t0: 12, t1: 16, top: 100, timelineHeight: 10 };
  const time = geometry.timeAt(300, view, extent);
  const timeline = geometry.timelineAt(205, view, extent);
  for (let nth = 0; nth < 20; nth++) view = geometry.zoomTime(view, extent, geometry.STEP, 300);
  near(geometry.timeAt(300, view, extent), time);
  view = geometry.zoomTimelines(view, extent, 2, 205);
  assert.equal(geometry.timelineAt(205, view, extent), timeline);
});

test("no view leaves the trace, whatever is asked", () => {
  const asked = [-1e300, -5, 0, 10, 15, 1e9, Number.NaN, Infinity];
  for (const t0 of asked) for (const t1 of asked) for (const top of asked) for (const timelineHeight of [0, 1e-9, 1, 1e9, Number.NaN]) {
    const view = geometry.clamp({ t0, t1, top, timelineHeight }, extent);
    assert.ok(view.t0 >= 10 - 1e-9 && view.t1 <= 20 + 1e-9 && view.t1 > view.t0, JSON.stringify({ t0, t1, view }));
    assert.ok(view.top >= 0 && view.top <= 998 && view.timelineHeight > 0 && view.timelineHeight <= 400, JSON.stringify(view));
  }
});

test("timelines and pixels are each other's inverse, pinned ones on top", () => {
  const view = { t0: 10, t1: 20, top: 17.25, timelineHeight: 12 };
  for (let y = 0; y < 400; y++) {
    const timeline = geometry.timelineAt(y, view, extent);
    const top = geometry.yOf(timeline, view, extent);
    assert.ok(timeline < 2 ? top <= y && y < top + 22 : top <= y + 1e-9 && y < top + 12, `${y}: timeline ${timeline} at ${top}`);
  }
  assert.equal(geometry.timelineAt(0, view, extent), 0);
  assert.equal(geometry.timelineAt(44, view, extent), 2 + 17);
});

test("home shows everything, ten thousand timelines as well as two", () => {
  for (const timelines of [0, 1, 2, 50, 10_000]) {
    const all = { ...extent, timelines, pinned: 0 };
    const view = geometry.clamp(geometry.home(all), all);
    assert.deepEqual([view.t0, view.t1, view.top], [10, 20, 0]);
    const [first, last] = geometry.seen(view, all);
    assert.deepEqual([first, last], [0, timelines]);
    assert.ok(timelines * view.timelineHeight <= 400.0001);
  }
  assert.equal(geometry.blockOf(1), 1);
  assert.equal(geometry.blockOf(0.04), 32);
});

test("a timeline that is revealed is seen", () => {
  for (const timeline of [0, 1, 2, 3, 500, 998, 999]) {
    const view = geometry.reveal({ t0: 10, t1: 20, top: 300, timelineHeight: 20 }, extent, timeline);
    const y = geometry.yOf(timeline, view, extent);
    assert.ok(y >= 0 && y + 20 <= 400 + 1e-6, `${timeline} at ${y}`);
  }
});

test("all pinned timelines are seen, and others below them, however high timelines are made", () => {
  for (const pinned of [1, 3, 12, 50]) for (const timelines of [pinned, pinned + 1, 64]) for (const height of [200, 700, 1080]) {
    const all = { ...extent, timelines, pinned, height };
    for (const timelineHeight of [1, 20, 160, 1e9, geometry.home(all).timelineHeight]) {
      const view = geometry.clamp({ t0: 10, t1: 20, top: 0, timelineHeight }, all);
      for (let timeline = 0; timeline < Math.min(pinned + 1, timelines); timeline++) {
        const y = geometry.yOf(timeline, view, all);
        const high = geometry.heightOf(timeline, view, all);
        near(y, timeline * geometry.heightOf(0, view, all));
        assert.ok(timeline >= pinned || high >= Math.min(22, height / 2 / pinned) - 1e-6);
        assert.ok(y + high <= height + 1e-6, `${pinned} of ${timelines} in ${height}: ${timeline} at ${y}`);
      }
    }
  }
});

test("pinned timelines stay high where the others are low, and all others fit below them", () => {
  const all = { ...extent, timelines: 10_000, pinned: 12, height: 600 };
  const view = geometry.home(all);
  assert.equal(geometry.heightOf(11, view, all), 22);
  near(geometry.heightOf(12, view, all), (600 - 12 * 22) / (10_000 - 12));
  near(geometry.yOf(9999, view, all) + view.timelineHeight, 600);
  assert.equal(geometry.timelineAt(11.5 * 22, view, all), 11);
  assert.equal(geometry.timelineAt(12 * 22 + 0.001, view, all), 12);
  // Of many there is room for half of the page.
  near(geometry.pinnedHeight(view, { ...all, pinned: 60 }), 300);
});

test("a finding's timelines are high enough to be seen among many, and all timelines stay where they fit", () => {
  assert.equal(geometry.heightWithPinned(3, 1000, 600), geometry.GOOD_TIMELINE_HEIGHT);
  assert.equal(geometry.heightWithPinned(2, 100, 600), geometry.GOOD_TIMELINE_HEIGHT);
  assert.equal(geometry.heightWithPinned(2, 75, 600), 0);
  assert.equal(geometry.heightWithPinned(0, 1000, 600), 0);
  assert.equal(geometry.heightWithPinned(1, 0, 0), geometry.GOOD_TIMELINE_HEIGHT);
});
