import assert from "node:assert/strict";
import test from "node:test";
import { align as aligned, alignedBy, atLeft, beneath, counterparts, nameIn, reach as reached, scaleWords, under, type AlignedBy, type Moments, type Side } from "../../src/alignment";

/** Each as long as so many seconds. */
const phases = (t0: number[], length = 10): Moments => ({ state: "known", rank: null, each: t0.length > 0 ? 1 : 0, t0, t1: t0.map((begin) => begin + length) });
const calls = (rank: number, ...t0: number[]): Moments => ({ state: "known", rank, each: 0, t0, t1: t0.map((begin) => begin + 1) });
const side = (name: string, t0: number, t1: number, moments: Moments | null): Side => ({ name, t0, t1, moments });

/** Steps of 10 s from 5 s on above, of 12 s from 20 s on below, where one is missing. */
const above = side("a", 1, 50, phases([5, 15, 25, 35]));
const below = side("b", 2, 60, phases([20, 32, 44], 12));
/** The same without stretching, and how far a time is shifted. */
const align = (by: AlignedBy, nth: number, window: { t0: number; t1: number }, first: Side, second: Side) => {
  const laid = aligned({ by, nth, isStretched: false }, window, first, second);
  assert.equal(laid.scale, 1);
  return { shift: laid.below - laid.above, nth: laid.nth, words: laid.words, isRefused: laid.isRefused };
};
const reach = (by: AlignedBy, nth: number, first: Side, second: Side) => reached({ by, nth, isStretched: false }, first, second);
const window = { t0: 14, t1: 34 };

test("the first moment that begins in the window, else the one before it, else the first", () => {
  const begins = [5, 15, 25, 35];
  for (const [t0, t1, expected] of [[0, 50, 1], [5, 50, 1], [5.1, 50, 2], [15, 16, 2], [16, 20, 2], [25.000_001, 35, 3], [36, 40, 4], [90, 99, 4], [0, 1, 1]] as const) {
    assert.equal(atLeft(begins, { t0, t1 }), expected, `${t0} to ${t1}`);
  }
});

test("traces are laid by their begins, a phase of the window, or a chosen one", () => {
  assert.deepEqual(align("", 0, window, above, below), { shift: 1, nth: 0, words: "aligned by the begin of both", isRefused: false });
  assert.deepEqual(align("phases", 0, window, above, below), { shift: 17, nth: 2, words: "aligned by phase 2: of 4 above, of 3 below", isRefused: false });
  assert.equal(align("phases", 0, { t0: 0, t1: 50 }, above, below).shift, 15);
  assert.equal(align("phases", 3, window, above, below).shift, 19);
  const other = side("c", 0, 90, phases([7, 8, 9, 10]));
  assert.deepEqual(align("phases", 1, window, above, other), { shift: 2, nth: 1, words: "aligned by phase 1 of 4", isRefused: false });
});

test("calls of a name say the rank that they are of", () => {
  const [first, second] = [side("a", 0, 50, calls(0, 5, 15)), side("b", 0, 60, calls(0, 25, 30))];
  assert.deepEqual(align("name:solve", 0, window, first, second), { shift: 15, nth: 2, words: "aligned by solve 2 of 2 on rank 0", isRefused: false });
  const elsewhere = side("b", 0, 60, calls(3, 25, 30));
  assert.equal(align("name:solve", 0, window, first, elsewhere).words, "aligned by solve 2: of 2 on rank 0 above, of 2 on rank 3 below");
});

test("what both traces do not have is said, and they are laid by their begins", () => {
  const none = (name: string) => side(name, 3, 60, phases([]));
  const refused: [number, Side, Side, string][] = [
    [4, above, below, "aligned by the begin: there is no phase 4 in both, as a has 4 phases and b has 3 phases"],
    [9, above, side("b", 2, 9, phases([5])), "aligned by the begin: there is no phase 9 in both, as a has 4 phases and b has 1 phase"],
    [0, above, none("b"), "aligned by the begin: b has no phases, since no main loop was found in it"],
    [0, none("a"), below, "aligned by the begin: a has no phases, since no main loop was found in it"],
    [0, none("a"), none("b"), "aligned by the begin: neither trace has phases"],
    [0, above, side("b", 2, 60, null), "aligned by the begin until the phases of b are known"],
    [0, above, side("b", 2, 60, { ...phases([]), state: "pending" }), "aligned by the begin until the phases of b are known"],
    [0, above, side("b", 2, 60, { ...phases([]), state: "unknown" }), "aligned by the begin: b is too large for its phases to be found while somebody waits"],
    [0, above, side("b", 2, 60, { ...phases([20]), each: 2 }), "aligned by the begin: a phase is 1 iteration above and 2 below"],
  ];
  for (const [nth, first, second, words] of refused) {
    assert.deepEqual(align("phases", nth, window, first, second), { shift: second.t0 - first.t0, nth: 0, words, isRefused: !words.includes("until") });
  }
  const absent: Moments = { state: "absent", rank: null, each: 0, t0: [], t1: [] };
  const [first, second] = [side("a", 0, 50, calls(0, 5)), side("b", 0, 60, absent)];
  assert.equal(align("name:solve", 0, window, first, second).words, "aligned by the begin: b has no calls of solve");
  const many = side("b", 0, 60, { ...absent, state: "many" });
  assert.equal(align("name:solve", 0, window, first, many).words, "aligned by the begin: b has too many calls of solve to be numbered");
});

test("what is seen of the other trace reaches as far as any window shows of it", () => {
  assert.deepEqual(reach("", 0, above, below), { t0: 1, t1: 59 });
  assert.deepEqual(reach("phases", 1, above, below), { t0: -13, t1: 45 });
  // By phase 1 it begins 15 s earlier, by phase 3 19 s; the begins are 1 s apart, and lie above each other where phase 4 is seen.
  assert.deepEqual(reach("phases", 0, above, below), { t0: -17, t1: 59 });
  assert.deepEqual(reach("phases", 0, side("a", 1, 50, phases([5, 15, 25])), below), { t0: -17, t1: 45 });
});

test("a phase that is drawn as wide ends at the same place, too", () => {
  const laid = aligned({ by: "phases", nth: 2, isStretched: true }, window, above, below);
  // From 15 to 25 s above and from 32 to 44 s below.
  assert.deepEqual([15, 20, 25].map((t) => under(laid, t)), [32, 38, 44]);
  assert.equal(laid.words.replace("\u202f", " "), "aligned by phase 2: of 4 above, of 3 below, which is 1.20 × as long below and drawn as wide");
  // The trace below begins 30 s before its phase 2 and ends 28 s after its begin.
  const { t0, t1 } = reached({ by: "phases", nth: 2, isStretched: true }, above, below);
  assert.ok(Math.abs(t0 - (15 - 30 / 1.2)) < 1e-9 && Math.abs(t1 - (15 + 28 / 1.2)) < 1e-9, `${t0} ${t1}`);
  assert.deepEqual([scaleWords(laid, "above"), scaleWords(laid, "below")].map((words) => words.replace("\u202f", " ")), ["same width below: 1.20 × the time", "same width above: 0.833 × the time"]);
  for (const length of [0, 0.1, 1000]) {
    const odd = aligned({ by: "phases", nth: 1, isStretched: true }, window, above, side("b", 0, 90, phases([7], length)));
    assert.deepEqual([odd.scale, odd.below, scaleWords(odd, "above"), scaleWords(odd, "below")], [1, 7, "", ""]);
    assert.match(odd.words, /, not as wide: its lengths differ by more than 50/);
  }
  assert.equal(aligned({ by: "", nth: 0, isStretched: true }, window, above, below).scale, 1);
});

test("texts of links that say nothing mean the begin", () => {
  assert.deepEqual(["", "phase", "name:", "begin", "name", "phases", "name:x:y"].map(alignedBy), ["", "", "", "", "", "phases", "name:x:y"]);
  assert.deepEqual([nameIn("name:a:b"), nameIn("phases"), nameIn("")], ["a:b", null, null]);
});

test("timelines below are those of the same name, wherever they stand", () => {
  const named = (...names: string[]) => ({ label: names.map((name) => name.split("/").at(-1)!), path: names.map((name) => name.split("/").slice(0, -1)) });
  const [above, below] = [named("rank 2", "rank 0", "n/cpu", "m/cpu", "odd", "x", "x"), named("rank 0", "rank 1", "rank 2", "m/cpu", "x", "n/cpu", "x")];
  const others = counterparts(above, below);
  assert.deepEqual(others, [2, 0, 5, 3, -1, 4, 6]);
  for (const [y0, y1, first, behind] of [[0, 1, 2, 3], [0, 2, 0, 3], [3, 5, 3, 4], [2, 4, 3, 6]] as const) {
    assert.deepEqual(beneath({ y0, y1 }, others, 7), { y0: first, y1: behind }, `${y0} to ${y1}`);
  }
  // All of the trace above is all below; what is not there is a stretch of time alone.
  assert.deepEqual([beneath({ y0: 0, y1: 7 }, others, 9), beneath({ y0: 4, y1: 5 }, others, 9), beneath({ y0: 0, y1: 3 }, [], 9)], Array(3).fill({ y0: 0, y1: 9 }));
});
