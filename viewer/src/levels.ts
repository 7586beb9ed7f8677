// Call depths of one timeline in full: how many of them a picture shows, and what they are called. Pure.

import type { Frame } from "./frame";

/** Call depths that are asked for before it is known how many there are. */
export const FIRST_DEPTHS = 8;
/** Call depths at most; what is nested deeper is drawn on the last one. */
const MOST_DEPTHS = 64;

/** Call depths with something on them, given how many each thread has in the picture; those that are nested on the last one count. */
export function depthsIn({ states, cells, columns, timelines }: Pick<Frame, "states" | "cells" | "columns" | "timelines">, depths: number): number {
  let used = 0;
  if (states) {
    states.timeline.forEach((timeline, nth) => {
      used = Math.max(used, (timeline % depths) + (states.depth[nth] ?? 0) + 1);
    });
    return used;
  }
  const { category } = cells;
  for (let timeline = 0; category && timeline < timelines; timeline++) {
    const depth = (timeline % depths) + 1;
    if (depth > used && category.subarray(timeline * columns, (timeline + 1) * columns).some((kind) => kind !== 0)) used = depth;
  }
  return used;
}

/** Call depths to ask for: always one that nothing is on, so that it is seen when there is more. */
export function depthsToAsk(known: number, used: number, asked: number): { known: number; asked: number } {
  const most = Math.max(known, used);
  // Cells do not tell how much there is below the last one.
  const room = used >= asked ? 4 : 1;
  return { known: most, asked: Math.min(MOST_DEPTHS, most + room) };
}

const TITLES: Record<string, string> = {
  compute: "computing", p2p: "MPI", collective: "MPI", wait: "MPI", io: "MPI-IO", rma: "MPI", mpi: "MPI", start: "MPI", user: "regions", disk: "file operations",
  message: "messages", other: "other",
};

/** For each timeline of a picture what most of it is: regions, MPI, file operations. Empty where there is nothing. */
export function titlesOf({ states, cells, columns, timelines }: Pick<Frame, "states" | "cells" | "columns" | "timelines">, classes: readonly string[]): string[] {
  const sums = Array.from({ length: timelines }, () => new Map<string, number>());
  const add = (timeline: number, kind: number, much: number) => {
    const title = TITLES[classes[kind] ?? "other"] ?? "other";
    const sum = sums[timeline];
    sum?.set(title, (sum.get(title) ?? 0) + much);
  };
  if (states) {
    for (const [nth, timeline] of states.timeline.entries()) add(timeline, states.kind[nth] ?? 0, states.duration[nth] ?? 0);
  } else if (cells.category) {
    for (const [at, kind] of cells.category.entries()) if (kind > 0) add(Math.floor(at / columns), kind - 1, 1);
  }
  return sums.map((sum) => [...sum].sort((a, b) => b[1] - a[1]).map(([title]) => title).slice(0, 2).join(", "));
}
