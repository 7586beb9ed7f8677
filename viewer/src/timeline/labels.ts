// Picks the timelines that have room for their label where they are lower than letters.

import { roundAbove } from "../axis";

/** Pixels that a label needs. */
export const LETTERS = 13;
/** Pixels of these that are above and below figures. */
const LEAD = 3;

/**
 * The labels that have room: all timelines, or headings of the tree and between them each so many. `thread` has the number of the thread of each timeline,
 * 0 for the main one of a rank: where its label has no room below a heading, those of the few timelines beside it do not stand there in its place.
 */
export function labelled(first: number, last: number, timelineHeight: number, open: readonly boolean[], thread: readonly number[] = []): number[] {
  const need = Math.max(1, Math.ceil(LETTERS / timelineHeight));
  const step = need === 1 ? 1 : roundAbove(need);
  const timelines: number[] = [];
  let free = first;
  // The letters of the first timeline stay within the field, below the middle of it. Those of the next may come as close as figures still stand apart.
  const below = need === 1 ? first : first + Math.ceil((1.5 * LETTERS - LEAD) / timelineHeight - 0.5);
  for (let timeline = first; timeline < last; timeline++) {
    if (timeline < free) continue;
    if (!open[timeline]) {
      if (timeline % step !== 0 || (timeline > first && timeline < below)) continue;
      if (need > 1 && isBesideUntold(timeline, 2 * need, timelines, open, thread)) continue;
      // A heading that follows closely goes before.
      let next = timeline + 1;
      while (next < timeline + need && next < last && !open[next]) next++;
      if (next < timeline + need && next < last) continue;
    }
    timelines.push(timeline);
    free = timeline + need;
  }
  return timelines;
}

/**
 * Where the label of a timeline that begins at `place` and is so high stands in a field whose pinned timelines end at `split`: within what can be seen of
 * the timeline. Letters that are higher than it stay within the field. Null where it has no room among the others of its band.
 */
export function labelPlace(place: number, own: number, isPinned: boolean, split: number, height: number): { top: number; high: number } | null {
  const [above, below] = isPinned ? [0, split] : [split, height];
  if (own >= LETTERS) {
    const [top, bottom] = [Math.max(place, above), Math.min(place + own, below)];
    return bottom - top < LETTERS / 2 ? null : { top: Math.min(top, below - LETTERS), high: Math.max(bottom - top, LETTERS) };
  }
  const top = Math.min(Math.max(place + (own - LETTERS) / 2, above), height - LETTERS);
  const middle = top + LETTERS / 2;
  return (isPinned ? middle < split : middle >= split) ? { top, high: LETTERS } : null;
}

/** Whether a timeline follows the main one of its rank within so many, and that has no label. */
function isBesideUntold(timeline: number, most: number, labels: readonly number[], open: readonly boolean[], thread: readonly number[]): boolean {
  let main = timeline;
  while (main > timeline - most && main > 0 && !open[main] && (thread[main] ?? -1) > 0) main--;
  return main < timeline && !open[main] && (thread[main] ?? -1) === 0 && !labels.includes(main);
}
