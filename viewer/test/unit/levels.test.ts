import assert from "node:assert/strict";
import test from "node:test";
import type { Frame } from "../../src/frame";
import { depthsIn, depthsToAsk, titlesOf } from "../../src/levels";

const NO_CELLS: Frame["cells"] = {
  category: null, busy: null, deviation: null, events: null, hits: null, second: null, third: null, share1: null, share2: null, share3: null,
};

function ofStates(states: readonly (readonly [timeline: number, depth: number, kind: number, duration: number])[], timelines: number) {
  return {
    columns: 4, timelines, cells: NO_CELLS,
    states: {
      start: new Float32Array(states.length), duration: new Float32Array(states.map(([, , , duration]) => duration)),
      timeline: new Uint32Array(states.map(([timeline]) => timeline)), depth: new Uint16Array(states.map(([, depth]) => depth)), kind: new Uint16Array(states.map(([, , kind]) => kind)),
    },
  };
}

test("call depths are counted, also those that are nested on the last timeline", () => {
  assert.equal(depthsIn(ofStates([], 8), 8), 0);
  assert.equal(depthsIn(ofStates([[0, 0, 0, 1], [2, 0, 0, 1]], 8), 8), 3);
  // The second thread.
  assert.equal(depthsIn(ofStates([[0, 0, 0, 1], [5, 0, 0, 1]], 8), 4), 2);
  assert.equal(depthsIn(ofStates([[3, 0, 0, 1], [3, 2, 0, 1]], 4), 4), 6);
  const cells = { columns: 2, timelines: 4, states: null, cells: { ...NO_CELLS, category: Uint8Array.of(1, 0, 0, 3, 0, 0, 0, 0) } };
  assert.equal(depthsIn(cells, 4), 2);
});

test("one more call depth is asked for than there are, and more where the last one is full", () => {
  assert.deepEqual(depthsToAsk(1, 3, 8), { known: 3, asked: 4 });
  assert.deepEqual(depthsToAsk(3, 2, 4), { known: 3, asked: 4 });
  assert.deepEqual(depthsToAsk(3, 4, 4), { known: 4, asked: 8 });
  assert.deepEqual(depthsToAsk(60, 100, 61), { known: 100, asked: 64 });
});

test("call depths are called by what most of their time is", () => {
  const classes = ["user", "p2p", "collective", "disk", "io"];
  assert.deepEqual(titlesOf(ofStates([[0, 0, 0, 5], [1, 0, 1, 1], [1, 0, 2, 1], [1, 0, 4, 3], [1, 0, 3, 1], [2, 0, 3, 1]], 4), classes), ["regions", "MPI-IO, MPI", "file operations", ""]);
});
