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
  const whole = { t0: 10, t1: 20 };
  const window = (text: string) => parseWindow(text, now, whole);
  assert.deepEqual(window("1 – 2"), { t0: 1, t1: 2 });
  assert.deepEqual(window("1 s - 2 s"), { t0: 1, t1: 2 });
  assert.deepEqual(window("1..2"), { t0: 1, t1: 2 });
  assert.deepEqual(window("1 + 500 ms"), { t0: 1, t1: 1.5 });
  assert.deepEqual(window("5"), { t0: 4, t1: 6 });
  assert.deepEqual(window("3.25-3.5"), { t0: 3.25, t1: 3.5 });
  assert.deepEqual(window("1e-3-2e-3"), { t0: 1e-3, t1: 2e-3 });
  assert.deepEqual(window("-2 - -1"), { t0: -2, t1: -1 });
  assert.deepEqual(window("3200ms-3400ms"), { t0: 3.2, t1: 3.4 });
  assert.deepEqual(window("50%-60%"), { t0: 15, t1: 16 });
  assert.deepEqual(window("50% + 250 ms"), { t0: 15, t1: 15.25 });
  assert.deepEqual(window("50%"), { t0: 14, t1: 16 });
  for (const text of ["2 – 1", "1 – 1", "a – b", "1 – 2 – 3", "", "3.4-3.2", "60%-50%", "-", "1 + 2%", "5%%"]) assert.equal(window(text), null, text);
});
