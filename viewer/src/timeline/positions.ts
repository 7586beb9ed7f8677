// Rows of the page and rows of pictures in which neighbours are one. Pure.

/** Where a layout position lies in the pictures of a layout of blocks: headings are not in those. */
export interface Positions {
  /** By layout position, how many rows before it are no headings; one more than there are rows. */
  leaf: Uint32Array;
  pinned: number;
}

export function positions(open: readonly boolean[], pinned: number): Positions {
  const leaf = new Uint32Array(open.length + 1);
  open.forEach((isOpen, row) => {
    leaf[row + 1] = (leaf[row] ?? 0) + (isOpen ? 0 : 1);
  });
  return { leaf, pinned };
}

/** The layout position of the first row of a picture's row `row`, and the other way round, which may be between two rows. */
export function blocked(row: number, block: number, { leaf, pinned }: Positions): number {
  if (block <= 1 || row <= pinned) return row;
  const below = Math.min(Math.max(Math.floor(row), 0), leaf.length - 1);
  const exact = (leaf[below] ?? 0) + (row - below);
  return pinned + (exact - pinned) / block;
}

/** The layout position at which a row of such a picture begins; the other way round of `blocked`. */
export function unblocked(row: number, block: number, { leaf, pinned }: Positions): number {
  if (block <= 1 || row < pinned) return row;
  const exact = pinned + (row - pinned) * block;
  // The last position with no more rows before it.
  let [low, high] = [pinned, leaf.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((leaf[middle] ?? 0) <= exact) low = middle;
    else high = middle - 1;
  }
  return low + (exact - (leaf[low] ?? 0));
}
