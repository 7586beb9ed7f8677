// Picks the timelines that have room for their label where rows are lower than letters.

import { roundAbove } from "../axis";

/** Pixels that a label needs. */
export const LETTERS = 13;

/** The labels that have room: all rows, or headings of the tree and between them each so many. */
export function labelled(first: number, last: number, rowHeight: number, open: readonly boolean[]): number[] {
  const need = Math.max(1, Math.ceil(LETTERS / rowHeight));
  const step = need === 1 ? 1 : roundAbove(need);
  const rows: number[] = [];
  let free = first;
  for (let row = first; row < last; row++) {
    if (row < free) continue;
    if (!open[row]) {
      if (row % step !== 0) continue;
      // A heading that follows closely goes before.
      let next = row + 1;
      while (next < row + need && next < last && !open[next]) next++;
      if (next < row + need && next < last) continue;
    }
    rows.push(row);
    free = row + need;
  }
  return rows;
}
