import assert from "node:assert/strict";
import { test } from "node:test";
import type { TracksAnswer } from "../../src/answers";
import { palette } from "../../src/palette";
import { columnAt, columnsFor, meanWords, outside, shownOf, titleOf, topOf, trackOf, wordsAt } from "../../src/tracks";

const look = palette([], "class", "light");
const answer: TracksAnswer = {
  t0: 1, t1: 3, columns: 4, state: "known", ranks: 4, exact: true,
  use: { waiting: [0, 3, 2.5, 0], mpi: [0, 0.125, 1.5, 0], files: [0, 0, 0, 1], starting: [0.5, 0, 0, 0], lacks_short_waits: false },
  messages: [0, 1500, 12_345_678, 0.25], bytes: [0, 1536, 2_500_000, 0.5], io: { read: [0, 0, 0, 0], written: [0, 2048, 0, 0] },
  counters: [{ name: "cycles", rate: [0, 0, 0, 0] }],
};
const of = (name: string, changed: Partial<TracksAnswer> = {}) => {
  const found = trackOf(name, { ...answer, ...changed }, look);
  assert.ok(found, name);
  return found;
};

test("the ranks are shown where there are several, unless a link says otherwise", () => {
  const all = ["ranks", "messages", "bytes"];
  assert.deepEqual(shownOf(null, all), ["ranks"]);
  assert.deepEqual(shownOf(null, ["messages"]), []);
  assert.deepEqual(shownOf([], all), []);
  assert.deepEqual(shownOf(["bytes", "counter:gone", "ranks"], all), ["ranks", "bytes"]);
});

test("columns are powers of two, no more than pixels", () => {
  assert.deepEqual([1, 100, 511, 512, 800, 5000].map(columnsFor), [16, 64, 256, 512, 512, 1024]);
});

test("less than a hundredth of a rank is told as that, none as none", () => {
  const use = { waiting: [2.5e-7, 0.0049, 0.005, 0], mpi: [0, 0, 0, 0], files: [0, 0, 0, 0], starting: [0, 0, 0, 0], lacks_short_waits: false };
  const told = [0, 1, 2, 3].map((column) => wordsAt(of("ranks", { use }), column, 4).replace(/,.*/, ""));
  assert.deepEqual(told, ["of 4 ranks <0.01 waiting", "of 4 ranks <0.01 waiting", "of 4 ranks 0.005 waiting", "of 4 ranks 0 waiting"]);
});

test("values are told in words with units, zero too", () => {
  assert.equal(wordsAt(of("ranks"), 1, 4), "of 4 ranks 3 waiting, 0.13 in MPI, 0.88 computing");
  assert.equal(wordsAt(of("ranks"), 3, 4, true), "0 waiting, 0 in MPI, 1 files, 3 computing");
  assert.equal(wordsAt(of("ranks"), 0, 4), "of 4 ranks 0 waiting, 0 in MPI, 0.5 starting or ending MPI, 3.5 computing");
  assert.deepEqual([0, 1, 2, 3].map((column) => wordsAt(of("messages"), column, 4)), ["0 messages/s sent", "1.50\u202fk messages/s sent", "12.3\u202fM messages/s sent", "0.25 messages/s sent"]);
  assert.deepEqual([0, 1, 3].map((column) => wordsAt(of("bytes"), column, 4)), ["0\u202fB/s on their way", "1.50\u202fKiB/s on their way", "0.5\u202fB/s on their way"]);
  assert.equal(wordsAt(of("io"), 1, 4), "2.00\u202fKiB/s written, 0\u202fB/s read");
  assert.equal(wordsAt(of("counter:cycles"), 1, 4), "0 cycles/s");
  assert.equal(meanWords(of("ranks"), answer, answer), "1.4 waiting, 0.41 in MPI, 0.25 files, 0.13 starting or ending MPI, 1.8 computing");
});

test("means are those of the time in which there is a trace", () => {
  // The trace ends in the middle of the window: 3, 1.5 and 0.5 in columns of half a second, in a second and a half.
  const use = { waiting: [0, 3, 1.5, 0], mpi: [0, 0, 0, 0], files: [0, 0, 0, 0], starting: [0.5, 0, 0, 0], lacks_short_waits: false };
  const ranks = of("ranks", { use });
  assert.equal(meanWords(ranks, answer, { t0: 0, t1: 2.5 }), "1.5 waiting, 0 in MPI, 0.17 starting or ending MPI, 2.3 computing");
  assert.equal(meanWords(ranks, answer, { t0: 0, t1: 10 }), "1.1 waiting, 0 in MPI, 0.13 starting or ending MPI, 2.8 computing");
  assert.equal(meanWords(ranks, answer, { t0: 4, t1: 5 }), "outside of the trace");
});

test("what is known of the whole trace is drawn beside the window only", () => {
  assert.deepEqual(outside(1, 2, null), [[1, 2]]);
  assert.deepEqual(outside(1, 2, [2, 3]), [[1, 2]]);
  assert.deepEqual(outside(1, 2, [0, 5]), []);
  assert.deepEqual(outside(1, 2, [1.5, 5]), [[1, 1.5]]);
  assert.deepEqual(outside(1, 2, [0, 1.25]), [[1.25, 2]]);
  assert.deepEqual(outside(1, 2, [1.25, 1.5]), [[1, 1.25], [1.5, 2]]);
});

test("what is not exact says so, and what is not known is not told as nothing", () => {
  assert.equal(wordsAt(of("messages", { exact: false }), 0, 4), "≈ 0 messages/s sent");
  const use = { ...answer.use!, lacks_short_waits: true };
  assert.match(wordsAt(of("ranks", { use }), 0, 4), /^≈ /);
  const unknown = { ...answer.use!, waiting: null };
  assert.equal(wordsAt(of("ranks", { use: unknown }), 2, 4), "of 4 ranks 1.5 in MPI or waiting, 2.5 computing");
  for (const name of ["messages", "bytes", "io", "counter:cycles", "counter:none"]) {
    assert.equal(trackOf(name, { ...answer, messages: null, bytes: null, io: null, counters: [] }, look), null, name);
  }
});

test("the full height is all ranks, or the most there is", () => {
  assert.deepEqual(["ranks", "messages", "bytes", "io", "counter:cycles"].map((name) => topOf(of(name))), ["4", "12.3\u202fM/s", "2.38\u202fMiB/s", "2.00\u202fKiB/s", ""]);
  assert.equal(titleOf("counter:cycles")[0], "cycles/s");
});

test("a time is in the column that it lies in", () => {
  assert.deepEqual([0.9, 1, 1.49, 1.5, 2.99, 3, 3.1].map((t) => columnAt(t, answer)), [-1, 0, 0, 1, 3, 3, -1]);
});
