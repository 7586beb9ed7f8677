import assert from "node:assert/strict";
import { test } from "node:test";
import { pack } from "../../src/color";
import { palette, type KindLook, type Palette } from "../../src/palette";
import { paint, type Shot } from "../../src/painter";
import { blank, type Frame } from "../../src/frame";
import { pixel } from "./brute";

const KINDS: KindLook[] = [
  { name: "MPI_Send", color: "#0000ff", class: "p2p", by_class: ["#5b9fe6", "#4982ba"], topology: "state" },
  { name: "MPI_Wait", color: "#ff0000", class: "wait", by_class: ["#a9b2c1", "#566371"], topology: "state" },
  { name: "solve", color: "#00ff00", class: "user", by_class: ["#e8e0cd", "#3c3424"], topology: "state" },
];

let seed = 1;
function random(most: number): number {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return seed % most;
}

function randomFrame(columns: number, timelines: number, states: number): Frame {
  const cells = columns * timelines;
  const bytes = (most: number) => Uint8Array.from({ length: cells }, () => random(most));
  const frame = blank(columns, timelines, 1, 2);
  frame.y0 = 4;
  frame.cells = { ...frame.cells, category: bytes(4), busy: bytes(256), deviation: bytes(256), events: bytes(2), hits: bytes(2) };
  frame.cells = { ...frame.cells, second: bytes(4), third: bytes(4), share1: bytes(128), share2: bytes(100), share3: bytes(80) };
  if (states > 0) {
    const list = Array.from({ length: states }, () => ({
      start: Math.fround(random(2000) / 1000 - 0.5), duration: Math.fround(random(1000) ** 2 / 1e6),
      timeline: 4 + random(timelines), kind: random(3), depth: random(4),
    }));
    frame.states = {
      start: Float32Array.from(list, (state) => state.start), duration: Float32Array.from(list, (state) => state.duration),
      timeline: Uint32Array.from(list, (state) => state.timeline), kind: Uint16Array.from(list, (state) => state.kind),
      depth: Uint16Array.from(list, (state) => state.depth),
    };
    // Each third state waits from its begin on, each ninth twice; the shortest waits are not seen.
    const waits = list.flatMap(({ start, duration }, state) =>
      state % 3 ? [] : [0, 0.5].slice(0, state % 9 ? 1 : 2).map((part) => ({ state, begin: start + part * duration, duration: duration * (random(45) / 100) })));
    frame.waits = {
      state: Uint32Array.from(waits, ({ state }) => state), begin: Float32Array.from(waits, ({ begin }) => begin),
      duration: Float32Array.from(waits, (wait) => wait.duration),
    };
  }
  return frame;
}

test("every pixel is what the rules in words say", () => {
  const colors = [palette(KINDS, "file", "light"), palette(KINDS, "class", "dark")];
  let nth = 0;
  for (const timelineHeight of [1, 2.5, 4, 7.3, 15, 33]) {
    for (const mode of ["dominant", "rare", "stack", "heat"] as const) {
      for (const states of [0, 40]) {
        for (const unit of [1, 2]) {
          nth++;
          const frame = randomFrame(nth % 2 ? 37 : 50, 3, states);
          const shot: Shot = { width: 50, height: Math.round(3 * timelineHeight) + 2, timelineHeight, unit, mode, merged: (timeline) => timeline === 5 };
          const colorsOf = colors[nth % 2] as Palette;
          const target = new Uint32Array(shot.width * shot.height);
          paint(frame, colorsOf, shot, target);
          for (let y = 0; y < shot.height; y++) {
            for (let x = 0; x < shot.width; x++) {
              const [is, expected] = [target[y * shot.width + x] ?? 0, pixel(frame, colorsOf, shot, x, y)];
              assert.equal(is.toString(16), expected.toString(16), `${x},${y} of ${JSON.stringify({ timelineHeight, mode, states, unit })}`);
            }
          }
        }
      }
    }
  }
});

test("only the waiting part of a state is hatched; what is short has the colour of the hatch, and low timelines show none", () => {
  const colors = palette(KINDS, "file", "light");
  const one = (duration: number, wait: { begin: number; duration: number } | null, timelineHeight = 20) => {
    const frame = blank(200, 1, 0, 1);
    const column = (value: number) => Float32Array.of(value);
    frame.states = { start: column(0.1), duration: column(duration), timeline: Uint32Array.of(0), kind: Uint16Array.of(0), depth: Uint16Array.of(0) };
    if (wait) frame.waits = { state: Uint32Array.of(0), begin: column(wait.begin), duration: column(wait.duration) };
    const shot: Shot = { width: 200, height: timelineHeight, timelineHeight, unit: 1, mode: "dominant", merged: () => false };
    const target = new Uint32Array(shot.width * shot.height);
    paint(frame, colors, shot, target);
    const hatched = Array.from({ length: 200 }, (_, x) => x).filter((x) =>
      Array.from({ length: timelineHeight }, (_, y) => target[y * 200 + x]).includes(pack(colors.hatch[0]!)));
    return [hatched[0], hatched.at(-1)];
  };
  // Pixels 20 to 120; the outline takes the first.
  assert.deepEqual(one(0.5, { begin: 0.1, duration: 0.25 }), [21, 69]);
  assert.deepEqual(one(0.5, { begin: 0.3, duration: 0.1 }), [60, 79]);
  assert.deepEqual(one(0.5, null), [undefined, undefined]);
  assert.deepEqual(one(0.5, { begin: 0.3, duration: 0.015 }), [60, 62]);
  assert.deepEqual(one(0.5, { begin: 0.1, duration: 0.25 }, 5), [undefined, undefined]);
});

test("a full screen of cells is painted in a few milliseconds", () => {
  const [width, height] = [1840, 960];
  const frame = randomFrame(width, height, 0);
  frame.cells = { ...frame.cells, deviation: null, events: null, hits: null };
  const target = new Uint32Array(width * height);
  const shot: Shot = { width, height, timelineHeight: 1, unit: 1, mode: "dominant", merged: () => true };
  const colors = palette(KINDS, "file", "light");
  const times = Array.from({ length: 9 }, () => {
    const begin = performance.now();
    paint(frame, colors, shot, target);
    return performance.now() - begin;
  });
  // Not asserted: machines differ. A painter that has become slower by an order shows here.
  console.log(`cells ${width} × ${height}: ${times.sort((a, b) => a - b)[4]?.toFixed(1)} ms`);
});
