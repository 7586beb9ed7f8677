// Picks the timelines that have room for their label where they are lower than letters.

import { roundAbove } from "../axis";

/** Pixels that a label needs. */
export const LETTERS = 13;

/** The labels that have room: all timelines, or headings of the tree and between them each so many. */
export function labelled(first: number, last: number, timelineHeight: number, open: readonly boolean[]): number[] {
  const need = Math.max(1, Math.ceil(LETTERS / timelineHeight));
  const step = need === 1 ? 1 : roundAbove(need);
  const timelines: number[] = [];
  let free = first;
  // The letters of the first timeline stay within the field, below the middle of it.
  const below = need === 1 ? first : first + Math.ceil((1.5 * LETTERS) / timelineHeight);
  for (let timeline = first; timeline < last; timeline++) {
    if (timeline < free) continue;
    if (!open[timeline]) {
      if (timeline % step !== 0 || (timeline > first && timeline < below)) continue;
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
