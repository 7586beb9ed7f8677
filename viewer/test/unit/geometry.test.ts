import assert from "node:assert/strict";
import { test } from "node:test";
import * as geometry from "../../src/geometry";

const extent: geometry.Extent = { t0: 10, t1: 20, rows: 1000, pinned: 2, width: 800, height: 400 };
const near = (a: number, b: number) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)), `${a} ≠ ${b}`);

test("zooming keeps the time below the pointer, and rows likewise", () => {
  let view: geometry.View = { t0: 12, t1: 16, top: 100, rowHeight: 10 };
  const time = geometry.timeAt(300, view, extent);
  const row = geometry.rowAt(205, view, extent);
  for (let nth = 0; nth < 20; nth++) view = geometry.zoomTime(view, extent, geometry.STEP, 300);
  near(geometry.timeAt(300, view, extent), time);
  view = geometry.zoomRows(view, extent, 2, 205);
  assert.equal(geometry.rowAt(205, view, extent), row);
});

test("no view leaves the trace, whatever is asked", () => {
  const asked = [-1e300, -5, 0, 10, 15, 1e9, Number.NaN, Infinity];
  for (const t0 of asked) for (const t1 of asked) for (const top of asked) for (const rowHeight of [0, 1e-9, 1, 1e9, Number.NaN]) {
    const view = geometry.clamp({ t0, t1, top, rowHeight }, extent);
    assert.ok(view.t0 >= 10 - 1e-9 && view.t1 <= 20 + 1e-9 && view.t1 > view.t0, JSON.stringify({ t0, t1, view }));
    assert.ok(view.top >= 0 && view.top <= 998 && view.rowHeight > 0 && view.rowHeight <= 400, JSON.stringify(view));
  }
});

test("rows and pixels are each other's inverse, pinned ones on top", () => {
  const view = { t0: 10, t1: 20, top: 17.25, rowHeight: 12 };
  for (let y = 0; y < 400; y++) {
    const row = geometry.rowAt(y, view, extent);
    const top = geometry.yOf(row, view, extent);
    assert.ok(row < 2 ? top <= y && y < top + 12 : top <= y + 1e-9 && y < top + 12, `${y}: row ${row} at ${top}`);
  }
  assert.equal(geometry.rowAt(0, view, extent), 0);
  assert.equal(geometry.rowAt(24, view, extent), 2 + 17);
});

test("home shows everything, ten thousand rows as well as two", () => {
  for (const rows of [0, 1, 2, 50, 10_000]) {
    const all = { ...extent, rows, pinned: 0 };
    const view = geometry.clamp(geometry.home(all), all);
    assert.deepEqual([view.t0, view.t1, view.top], [10, 20, 0]);
    const [first, last] = geometry.seen(view, all);
    assert.deepEqual([first, last], [0, rows]);
    assert.ok(rows * view.rowHeight <= 400.0001);
  }
  assert.equal(geometry.blockOf(1), 1);
  assert.equal(geometry.blockOf(0.04), 32);
});

test("a row that is revealed is seen", () => {
  for (const row of [0, 1, 2, 3, 500, 998, 999]) {
    const view = geometry.reveal({ t0: 10, t1: 20, top: 300, rowHeight: 20 }, extent, row);
    const y = geometry.yOf(row, view, extent);
    assert.ok(y >= 0 && y + 20 <= 400 + 1e-6, `${row} at ${y}`);
  }
});
