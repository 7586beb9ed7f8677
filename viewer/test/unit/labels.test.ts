import assert from "node:assert/strict";
import { test } from "node:test";
import { labelled, LETTERS } from "../../src/timeline/labels";

test("labels never lie on one another, headings keep theirs, and no room stays empty that a label could have", () => {
  for (const timelineHeight of [2, 5, 6.6, 12.9]) {
    const need = Math.ceil(LETTERS / timelineHeight);
    // Headings at irregular places, far enough from each other.
    const open = Array.from({ length: 120 }, (_, timeline) => timeline % 23 === 7 || timeline % 31 === 0);
    const timelines = labelled(0, 120, timelineHeight, open);
    for (let nth = 1; nth < timelines.length; nth++) assert.ok(timelines[nth]! - timelines[nth - 1]! >= need, `${timelineHeight}: ${timelines[nth - 1]} and ${timelines[nth]}`);
    open.forEach((isOpen, timeline) => {
      const isClose = open.some((other, at) => other && at < timeline && timeline - at < need);
      if (isOpen && !isClose) assert.ok(timelines.includes(timeline), `${timelineHeight}: heading ${timeline}`);
    });
    assert.ok(timelines.length >= 120 / (need * 4), `${timelineHeight}: ${timelines.length} labels`);
  }
  assert.deepEqual(labelled(3, 7, 20, []), [3, 4, 5, 6]);
  // Of 1 000 timelines in 280 pixels the letters of the first one end at 13, those of the 50th would begin at 7.6.
  assert.deepEqual(labelled(0, 200, 0.28, []), [0, 100, 150]);
});

test("what lies beside the main timeline of a rank does not stand in its place", () => {
  // Three ranks, each a heading, its main timeline, another thread and asynchronous I/O.
  const open = Array.from({ length: 12 }, (_, timeline) => timeline % 4 === 0);
  const thread = Array.from({ length: 12 }, (_, timeline) => (timeline % 4) - 1);
  assert.deepEqual(labelled(0, 12, 20, open, thread), [...open.keys()]);
  assert.deepEqual(labelled(0, 12, 12.9, open, thread), [0, 4, 8]);
  // Without headings main timelines are told, and what has room between them.
  const flat = Array.from({ length: 12 }, (_, timeline) => timeline % 4);
  assert.deepEqual(labelled(0, 12, 7, [], flat).filter((timeline) => timeline % 4 === 0), [0, 4, 8]);
  // Of many threads some are told all the same.
  const many = Array.from({ length: 65 }, (_, timeline) => timeline - 1);
  assert.ok(labelled(0, 65, 2, [true], many).length > 3);
});
