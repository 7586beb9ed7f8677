import assert from "node:assert/strict";
import { test } from "node:test";
import { beyondLines, brushOf, classesOf, durationText, linesOf, queryOf } from "../../src/brush";

test("a duration is written so that it is read as the same number", () => {
  for (const [seconds, text] of [[1.25 / 1e6, "1.25us"], [125 / 1e6, "125us"], [1.6 / 1e3, "1.6ms"], [20, "20s"], [1e-9, "1ns"], [0, "0"], [2 ** -20, String(2 ** -20)]] as const) {
    assert.equal(durationText(seconds), text);
  }
});

test("a brush is a search, and is read back from it", () => {
  const brush = { name: "MPI_Send", from: 1.25 / 1e6, to: 2 / 1e3 };
  assert.equal(queryOf(brush, null), 'category:"MPI_Send" dur>=1.25us dur<2ms');
  assert.equal(queryOf(brush, { t0: 0.5, t1: 2 }), 'category:"MPI_Send" dur>=1.25us dur<2ms t>=0.5 t<2');
  for (const lines of ["", " rank:0-2,5", " rank:3 thread:1", " rank:3,5 thread:0,2"]) {
    for (const window of [null, { t0: 1e-9, t1: 2.5 }]) assert.deepEqual(brushOf(queryOf(brush, window, lines)), brush);
  }
  for (const name of ['a"b', 'say "hello" now', '"', '""', "a|b*c?d:e>f"]) assert.deepEqual(brushOf(queryOf({ ...brush, name, from: 0 }, null)), { ...brush, name, from: 0 });
  for (const other of ["", "MPI_Send dur>1ms", 'category:"MPI_Send"', 'category:"a" dur>=2ms dur<1ms', 'category:"a" dur>=x dur<y']) assert.equal(brushOf(other), null, other);
});

test("timelines are searched for by their ranks, and by their threads if all have the same", () => {
  const of = (ranks: string[], thread: number[]) => linesOf({ ranks, thread, open: [false, false, false, true] }, 1, 4);
  assert.equal(of(["0", "1", "2", "3"], [0, 0, 0, 0]), " rank:1,2 thread:0");
  assert.equal(of(["0", "1-2", "5", "6"], [-1, -1, -1, -1]), " rank:1,2,5");
  assert.equal(of(["0", "1", "1", "2"], [0, 0, 1, 0]), " rank:1 thread:0,1");
  const two = (thread: number[]) => linesOf({ ranks: ["4", "4", "7", "7"], thread, open: [false, false, false, false] }, 0, 4);
  assert.equal(two([0, 1, 0, 1]), " rank:4,7 thread:0,1");
  assert.equal(two([0, 1, 0, 2]), " rank:4,7");
  assert.equal(of(["0", "1", "", "2"], [0, 0, 0, 0]), "");
});

test("where a search finds more than what is on the timelines, that is told", () => {
  // The lines of a trace with two threads of each rank, and those that a search with these conditions takes, as its language says.
  const taken = (query: string, lines: [rank: number, thread: number][]) => {
    const ranges = (key: string) => new RegExp(` ${key}:(\\S+)`).exec(query)?.[1]?.split(",").map((range) => range.split("-").map(Number));
    const fits = (key: string, number: number) => ranges(key)?.some(([from = -1, to = from]) => from <= number && number <= to) ?? true;
    return lines.filter(([rank, thread]) => fits("rank", rank) && fits("thread", thread)).length;
  };
  const all: [number, number][] = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]];
  const timelines = { ranks: all.map(([rank]) => String(rank)), thread: all.map(([, thread]) => thread), open: all.map(() => false) };
  for (let y0 = 0; y0 < all.length; y0++) {
    for (let y1 = y0 + 1; y1 <= all.length; y1++) {
      assert.equal(beyondLines(timelines, y0, y1) === "", taken(linesOf(timelines, y0, y1), all) === y1 - y0, `${y0}–${y1}`);
    }
  }
  assert.match(beyondLines(timelines, 0, 3), /all threads of these ranks/);
  const mixed = { ranks: ["0", "1", ""], thread: [-1, 0, 0], open: [false, false, false] };
  assert.match(beyondLines(mixed, 0, 2), /all threads/);
  assert.match(beyondLines(mixed, 1, 3), /all timelines/);
  assert.equal(beyondLines({ ...mixed, thread: [-1, -1, 0] }, 0, 2), "");
});

test("a brush covers whole classes", () => {
  const least = [0, 1e-3, 2e-3, 4e-3, 8e-3];
  const of = (from: number, to: number) => classesOf({ name: "", from, to }, least);
  assert.deepEqual(of(1e-3, 4e-3), [1, 2]);
  assert.deepEqual(of(0, 8e-3), [0, 3]);
  assert.deepEqual(of(0, 1e-3), [0, 0]);
  assert.equal(of(1.5e-3, 3e-3), null);
});
