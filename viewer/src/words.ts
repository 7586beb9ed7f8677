// Things of a trace in words.

import type { DrawableDetail } from "./answers";
import { duration, instant, spanOf } from "./axis";
import { fullLabel } from "./labels";
import { layout, meta, span } from "./state";

/** The category of something, by the name that the reader gave it. */
export function nameOf({ kind, name }: DrawableDetail): string {
  return meta.value?.categories[kind]?.name ?? name;
}

/** The line of something, by the name that the reader gave its timeline, unless that stands for many. */
export function labelOf({ timeline, label }: { timeline: number; label: string }): string {
  const timelines = layout.value;
  return timeline >= 0 && timelines && !timelines.group[timeline] ? (fullLabel(timelines, timeline) || label) : label;
}

/** "rows (4)", or the number alone of a communicator that the program has not named; null of what may be about MPI_COMM_WORLD. */
export function communicatorOf({ communicator }: DrawableDetail): string | null {
  if (communicator === null) return null;
  const { number, name } = communicator;
  return name === null ? String(number) : `${name} (${number})`;
}

/** The file of a call, which its values do not name. */
export function fileOf({ file, info }: DrawableDetail): string | null {
  return info.some(([key]) => key === "file" || key === "filename") ? null : file;
}

/** How long a state lasts without what is nested in it, if that is less than all of it and could be found out. */
export function itself({ topology, t0, t1, excl, excl_is_estimate: isEstimate }: DrawableDetail): string | null {
  if (topology !== "state" || excl === null || excl >= t1 - t0) return null;
  return `${isEstimate ? "≈ " : ""}${duration(excl)}`;
}

/** The name of the line of something. */
export type Labeller = (one: { timeline: number; label: string }) => string;

/** "waiting 42.00 ms of 50.00 ms for rank 0, which was computing in assemble (late sender)"; null of what waits for nobody. */
export function waitOf({ waits, t0, t1 }: DrawableDetail, labeller: Labeller = labelOf): string | null {
  if (waits.length === 0) return null;
  const texts = waits.map((wait) => {
    const { doing, pattern } = wait;
    const what = doing === null ? "computing" : doing.class === "user" ? `computing in ${doing.name}` : `in ${doing.name}`;
    return `${duration(wait.seconds)} of ${duration(t1 - t0)} for ${labeller(wait)}, which was ${what}${pattern === null ? "" : ` (${pattern})`}`;
  });
  return `waiting ${texts.join("; ")}`;
}

/** "rank 129, MPI_Waitall, 3.214 ms, at 12.0353 s". Of something that was asked for with other timelines than those of the page, `labeller` knows these. */
export function describe(found: DrawableDetail, labeller: Labeller = labelOf): string {
  const { t0, t1 } = span.peek();
  const to = found.topology === "arrow" && found.to ? ` to ${labeller(found.to)}` : "";
  const length = found.topology === "event" ? "" : `, ${duration(found.t1 - found.t0)}`;
  return `${labeller(found)}${to}, ${nameOf(found)}${length}, at ${instant(found.t0, spanOf(found.t1 - found.t0, t1 - t0))}${found.backward ? ", backward" : ""}${found.waits.length > 0 ? `, ${waitOf(found, labeller)}` : ""}`;
}
