import assert from "node:assert/strict";
import { test } from "node:test";
import { axis, bytes, duration, instant, spanBetween, spanOf, stretch } from "../../src/axis";

const labels = (t0: number, t1: number) => {
  const { ticks, unit, origin } = axis(t0, t1, 6);
  return [ticks.filter((tick) => tick.major).map((tick) => tick.label).join(" "), unit, origin?.text ?? ""];
};

test("round numbers in a unit that suits them", () => {
  assert.deepEqual(labels(0, 10), ["0 2 4 6 8 10", "s", ""]);
  assert.deepEqual(labels(0, 0.05), ["0 10 20 30 40 50", "ms", ""]);
  assert.deepEqual(labels(12.031, 12.0429), ["12\u2009032 12\u2009034 12\u2009036 12\u2009038 12\u2009040 12\u2009042", "ms", ""]);
  assert.deepEqual(labels(0, 3e-6), ["0.0 0.5 1.0 1.5 2.0 2.5 3.0", "us", ""]);
});

test("labels that would be too long are counted from near the begin, which is said", () => {
  const [text, unit, origin] = labels(1234.5678901, 1234.5678951);
  assert.equal(unit, "us");
  assert.match(origin ?? "", /^1234\.56789\d* s$/);
  assert.match(text ?? "", /^\+/);
  const { ticks, origin: from } = axis(1234.5678901, 1234.5678951, 6);
  for (const tick of ticks.filter((each) => each.major)) {
    assert.ok(Math.abs((from?.time ?? 0) + Number(tick.label) / 1e6 - tick.time) < 1e-12, tick.label);
  }
});

test("nothing but an empty axis where there is no time", () => {
  for (const [t0, t1] of [[1, 1], [2, 1], [Number.NaN, 1], [0, Infinity]] as const) assert.deepEqual(axis(t0, t1, 6).ticks, []);
});

test("quantities", () => {
  assert.equal(duration(0.003214), "3.214\u202fms");
  assert.equal(duration(1234.5), "1\u2009235\u202fs");
  assert.equal(duration(0.99999), "1.000\u202fs");
  assert.equal(duration(1.5e-8), "15.00\u202fns");
  assert.equal(duration(0), "0 s");
  assert.equal(instant(12.0353, 0.01), "12.035300\u202fs");
  assert.equal(bytes(1536), "1.50\u202fKiB");
  assert.equal(bytes(12), "12\u202fB");
  // A mean of whole numbers.
  assert.equal(bytes(1060 / 3), "353\u202fB");
  assert.deepEqual([1024, 1_048_000, 1_048_570].map(bytes), ["1.00\u202fKiB", "1023.4\u202fKiB", "1.00\u202fMiB"]);
});

test("begin and end of what is far shorter than the window are told apart", () => {
  const [t0, t1] = [0.300040123, 0.300041047];
  assert.equal(stretch(t0, t1, spanOf(t1 - t0, 0.3)), "0.300040123 – 0.300041047\u202fs");
  assert.equal(stretch(12.1, 12.3, spanOf(0.2, 0.01)), "12.100000 – 12.300000\u202fs");
  // An event has no length.
  assert.equal(spanOf(0, 0.3), 0.3);
});

test("times below one another differ where they are not the same", () => {
  const times = [0.29291, 0.29290, 0.29294, 0.2929];
  const texts = times.map((time) => instant(time, spanBetween(times, 4)));
  assert.equal(new Set(texts).size, 3, texts.join(", "));
  assert.deepEqual([spanBetween([], 4), spanBetween([1, 1], 4), spanBetween([1, 2], 4)], [4, 4, 4]);
});
