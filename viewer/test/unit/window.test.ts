import assert from "node:assert/strict";
import test from "node:test";
import { parseTime, parseWindow } from "../../src/window";

const close = (a: number, b: number) => Math.abs(a - b) < 1e-12 * Math.max(1, Math.abs(b));

test("times with units", () => {
  for (const [text, seconds] of [["12.5", 12.5], ["12 500 ms", 12.5], ["3µs", 3e-6], ["1e-3 s", 1e-3], ["-2 ns", -2e-9], ["12\u2009345.5\u202fs", 12345.5], [".5s", 0.5]] as const) {
    assert.ok(close(parseTime(text), seconds), text);
  }
  for (const text of ["", "x", "1 h", "1..2", "--1"]) assert.ok(Number.isNaN(parseTime(text)), text);
});

test("windows", () => {
  const now = { t0: 0, t1: 2 };
  assert.deepEqual(parseWindow("1 – 2", now), { t0: 1, t1: 2 });
  assert.deepEqual(parseWindow("1 s - 2 s", now), { t0: 1, t1: 2 });
  assert.deepEqual(parseWindow("1..2", now), { t0: 1, t1: 2 });
  assert.deepEqual(parseWindow("1 + 500 ms", now), { t0: 1, t1: 1.5 });
  assert.deepEqual(parseWindow("5", now), { t0: 4, t1: 6 });
  for (const text of ["2 – 1", "1 – 1", "a – b", "1 – 2 – 3", ""]) assert.equal(parseWindow(text, now), null, text);
});
