// Names of timelines where they stand alone.

/** What names timelines: the name of each, and those of the headings above it. */
export interface TimelineNames {
  readonly label: readonly string[];
  readonly path: readonly (readonly string[])[];
}

/** The name of a timeline after those of the headings above it: "rank 1 thread 0", where the tree says "thread 0"; nothing if there is no such one. */
export function fullLabel(timelines: TimelineNames | null, timeline: number): string {
  const own = timelines?.label[timeline];
  return own === undefined ? "" : [...(timelines?.path[timeline] ?? []), own].join(" ");
}
