import assert from "node:assert/strict";
import { test } from "node:test";
import { labelled, labelPlace, LETTERS } from "../../src/timeline/labels";

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
  // Of 64 in 200 pixels those of the fifth begin at 10.7, which leaves room between figures.
  assert.deepEqual(labelled(0, 64, 3.125, []).slice(0, 4), [0, 5, 10, 15]);
  assert.deepEqual(labelled(0, 64, 6.6, []).slice(0, 3), [0, 2, 4]);
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

test("a label stands in what can be seen of its timeline", () => {
  const place = (at: number, own: number, isPinned = false) => labelPlace(at, own, isPinned, 100, 400);
  assert.deepEqual(place(150, 50), { top: 150, high: 50 });
  // Partly below the pinned ones, partly below the field, and higher than it.
  assert.deepEqual(place(-60, 200), { top: 100, high: 40 });
  assert.deepEqual(place(380, 200), { top: 380, high: 20 });
  assert.deepEqual(place(-500, 2000), { top: 100, high: 300 });
  assert.deepEqual(place(0, 2000, true), { top: 0, high: 100 });
  assert.equal(place(-97, 200), null);
  assert.equal(place(395, 200), null);
  // Lower than letters.
  assert.deepEqual(place(98, 4), { top: 100, high: LETTERS });
  assert.deepEqual(place(398, 4), { top: 400 - LETTERS, high: LETTERS });
  assert.equal(place(98, 4, true), null);
});
