// Timelines of the page, and those of pictures in which neighbours are one. Pure.

/** Where a layout position lies in the pictures of a layout of blocks: headings are not in those. */
export interface Positions {
  /** By layout position, how many timelines before it are no headings; one more than there are timelines. */
  leaf: Uint32Array;
  pinned: number;
}

export function positions(open: readonly boolean[], pinned: number): Positions {
  const leaf = new Uint32Array(open.length + 1);
  open.forEach((isOpen, timeline) => {
    leaf[timeline + 1] = (leaf[timeline] ?? 0) + (isOpen ? 0 : 1);
  });
  return { leaf, pinned };
}

/** The layout position of the first timeline of timeline number `timeline` of a picture, and the other way round, which may be between two timelines. */
export function blocked(timeline: number, block: number, { leaf, pinned }: Positions): number {
  if (block <= 1 || timeline <= pinned) return timeline;
  const below = Math.min(Math.max(Math.floor(timeline), 0), leaf.length - 1);
  const exact = (leaf[below] ?? 0) + (timeline - below);
  return pinned + (exact - pinned) / block;
}

/** The layout position at which a timeline of such a picture begins; the other way round of `blocked`. */
export function unblocked(timeline: number, block: number, { leaf, pinned }: Positions): number {
  if (block <= 1 || timeline < pinned) return timeline;
  const exact = pinned + (timeline - pinned) * block;
  // The last position with no more timelines before it.
  let [low, high] = [pinned, leaf.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((leaf[middle] ?? 0) <= exact) low = middle;
    else high = middle - 1;
  }
  return low + (exact - (leaf[low] ?? 0));
}
