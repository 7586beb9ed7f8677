import assert from "node:assert/strict";
import { test } from "node:test";
import type { TimelinesAnswer } from "../../src/answers";
import { timelineOf } from "../../src/notes";

test("a note on an opened group is where its heading stands", () => {
  const timelines = { spec: "", key: ["n0", "0", "1", "2-4"], open: [true, false, false, false] } as unknown as TimelinesAnswer;
  const place = (of: string) => timelineOf({ t: 0, of, text: "" }, timelines);
  assert.deepEqual(["0.n0", "0.1", "0.3", "0.9", "1.0"].map(place), [0, 2, 3, -1, -1]);
});
