import assert from "node:assert/strict";
import test from "node:test";
import { askedWindow, parseTime, parseWindow } from "../../src/window";

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

test("a window that is asked for ends where the trace does, and one outside of it is told as that", () => {
  const whole = { t0: 10, t1: 20 };
  const window = (text: string) => askedWindow(text, { t0: 12, t1: 14 }, whole, whole);
  assert.deepEqual(window("15 – 40"), { t0: 15, t1: 20 });
  assert.deepEqual(window("0 – 12.5"), { t0: 10, t1: 12.5 });
  assert.deepEqual(window("0 – 100"), whole);
  assert.deepEqual(window("15 + 1 min"), { t0: 15, t1: 20 });
  assert.deepEqual(window("50% – 300%"), { t0: 15, t1: 20 });
  // A middle keeps the length of the window.
  assert.deepEqual(window("20"), { t0: 19, t1: 21 });
  for (const text of ["100 – 200", "200%-300%", "1 – 2", "20 – 30", "5", "21"]) assert.equal(window(text), `“${text}” lies outside the trace, which is at 10.000 – 20.000\u202fs.`);
  assert.match(String(window("5-4")), /“5-4” is no window. Write begin – end/);
});
