import assert from "node:assert/strict";
import { test } from "node:test";
import { blank, decode, encode, FrameError, type Frame } from "../../src/frame";

function sample(): Frame {
  const frame = blank(3, 2, 1.5, 2.25);
  return {
    ...frame,
    flags: 5, seq: 77, y0: 9, drawables: 12_345_678_901, found: 23_456_789_012,
    cells: { ...frame.cells, category: Uint16Array.from([1, 300, 0, 2, 2, 65535]), busy: Uint8Array.from([0, 1, 2, 3, 4, 255]) },
    states: {
      start: Float32Array.from([0, 0.25]), duration: Float32Array.from([0.5, 0.125]),
      timeline: Uint32Array.from([9, 10]), kind: Uint16Array.from([3, 300]), depth: Uint16Array.from([0, 1]),
    },
    events: { time: Float32Array.from([0.5]), timeline: Uint32Array.from([9]), kind: Uint16Array.from([1]) },
    arrows: {
      from: Float32Array.from([0.1]), to: Float32Array.from([0.2]), timelineFrom: Uint32Array.from([9]), timelineTo: Uint32Array.from([10]),
      kind: Uint16Array.from([4]), flags: Uint16Array.from([1]), count: null, bytes: null,
    },
  };
}

test("what was written is read", () => {
  assert.deepEqual(decode(encode(sample())), sample());
});

test("a header by hand", () => {
  const bytes = Buffer.alloc(64 + 16 + 8);
  bytes.write("LTV1");
  for (const [nth, value] of [1, 2, 1, 1, 1, 6, 0].entries()) bytes.writeUInt32LE(value, 4 + nth * 4);
  bytes.writeDoubleLE(0.5, 32);
  bytes.writeDoubleLE(1.5, 40);
  bytes.writeUInt32LE(1, 64);
  bytes.writeUInt32LE(1, 68);
  bytes.writeUInt32LE(2, 72);
  bytes.set([3, 4], 80);
  const frame = decode(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer);
  assert.deepEqual([...(frame.cells.category ?? [])], [3, 4]);
  assert.deepEqual([frame.columns, frame.timelines, frame.seq, frame.t0, frame.t1], [2, 1, 6, 0.5, 1.5]);
});

test("whatever is cut off or changed is an error and nothing else", () => {
  const whole = encode(sample());
  for (let length = 0; length < whole.byteLength; length += 3) {
    assert.throws(() => decode(whole.slice(0, length)), FrameError, `${length} bytes`);
  }
  // Numbers from a fixed seed.
  let seed = 7;
  const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648);
  for (let nth = 0; nth < 3000; nth++) {
    const bytes = new Uint8Array(whole.slice(0));
    for (let change = 0; change <= nth % 4; change++) bytes[next() % (64 + 16 * 12)] = next() % 256;
    try {
      decode(bytes.buffer);
    } catch (error) {
      assert.ok(error instanceof FrameError, String(error));
    }
  }
});
