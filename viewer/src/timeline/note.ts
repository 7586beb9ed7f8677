// What a picture leaves out, in words.

import { duration, thin } from "../axis";
import { hitBins, meta, waits } from "../state";
import { ARROWS_CUT, COARSE, FROM_INDEX, WAITS } from "../answers";
import type { Picture } from "./pictures";

/** All that is said below the picture; nothing if it is complete. */
export function noteOf(picture: Picture): string {
  const { frame, want } = picture;
  const isFromIndex = (frame.flags & FROM_INDEX) !== 0;
  const notes: string[] = [];
  if (frame.flags & COARSE) notes.push(coarseNote(isFromIndex, meta.peek()?.index.state === "building"));
  if (want.block > 1) notes.push(`${want.block} timelines in each line`);
  if (want.arrows === "all" && isFromIndex) notes.push("arrows when zoomed in");
  else if (frame.flags & ARROWS_CUT && drawsArrows(picture)) notes.push(arrowsNote(picture));
  if (isFromIndex && want.query !== "" && !frame.cells.hits && hasHits(picture)) notes.push("hits in the timelines when zoomed in");
  if (picture.close) notes.push(...waitsNote(picture));
  return notes.join(" · ");
}

/** Says what a picture that is not exact was made of. A better one follows only where an index is being made. */
export function coarseNote(isFromIndex: boolean, isIndexBeingMade: boolean): string {
  if (isFromIndex) return "≈ from the index, exact when zoomed in";
  return isIndexBeingMade ? "≈ coarse, the exact picture follows" : "≈ coarse, exact when zoomed in";
}

/** Whether a picture's arrows are drawn: where timelines share a line single ones are noise, unless they are asked for. */
export function drawsArrows({ frame: { arrows }, want }: Picture): boolean {
  return arrows !== null && (want.block === 1 || want.arrows !== "worst");
}

/** Says which waits are not hatched although there are such. */
function waitsNote({ frame: { flags } }: Picture): string[] {
  const shortest = waits.peek()?.shortest ?? 0;
  if (flags & WAITS) return shortest > 0 ? [`waits below ${duration(shortest)} are not hatched`] : [];
  return waits.peek()?.state === "pending" ? ["waiting is hatched when the trace has been read"] : [];
}

/** Says which arrows a picture shows, if it does not show each of them. */
function arrowsNote({ frame: { arrows, found, flags } }: Picture): string {
  const part = (shown: number) => `${thin(String(shown))} of ${flags & COARSE ? "at least " : ""}${thin(String(found))} arrows`;
  if (arrows?.count) {
    const shown = arrows.count.reduce((sum, one) => sum + one, 0);
    return `${part(shown)}, between groups of timelines, as wide as their bytes`;
  }
  return `${part(arrows?.from.length ?? 0)}, those that take longest`;
}

/** Whether the search has hits in the time of a picture. */
function hasHits({ frame: { t0, t1 } }: Picture): boolean {
  const { t0: first, t1: last } = meta.peek() ?? { t0, t1 };
  const bins = hitBins.peek();
  const at = (time: number) => ((time - first) / Math.max(1e-12, last - first)) * bins.length;
  return bins.slice(Math.max(0, Math.floor(at(t0))), Math.ceil(at(t1))).some((count) => count > 0);
}
