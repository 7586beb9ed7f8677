import assert from "node:assert/strict";
import test from "node:test";
import { isAggregation, partText, quantity, valueText } from "../../src/aggregation";

test("sums are told from searches", () => {
  for (const text of ["sum dur by rank", " COUNT by name where x", "max size by tag", "mean colour by rank"]) assert.ok(isAggregation(text), text);
  for (const text of ["sum", "count", "MPI_Reduce", "sum dur", "summit by rank", "dur>1ms", "count by", ""]) assert.ok(!isAggregation(text), text);
});

test("values in words", () => {
  assert.equal(valueText(12_345, { function: "count", unit: "seconds" }).replace(/\s/g, " "), "12 345");
  assert.match(valueText(0.25, { function: "sum", unit: "seconds" }), /250.*ms/);
  assert.match(quantity(2048, "bytes"), /2.*KiB/);
  assert.equal(quantity(1 / 3, "number"), "0.333333");
});

test("a part of the trace is told as such", () => {
  const whole = { t0: 10, t1: 30 };
  assert.equal(partText({ until: 30, exact: true }, whole), "");
  assert.match(partText({ until: 11, exact: false }, whole), /^Of the first 5\.0\s% of the trace/);
  assert.match(partText({ until: 20, exact: false }, whole), /^Of the first 50\s% of the trace/);
});
