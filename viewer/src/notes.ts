// Notes that the reader puts at a time of a timeline. They are part of the link, and of nothing else.

import { signal } from "@preact/signals";
import type { TimelinesAnswer } from "./answers";
import { item, keysOf } from "./spec";
import { change, cursor, layout, NOT_A_CLUSTER, say, selected, span, timelineName, view } from "./state";
import type { Note } from "./url";

/** The note that is being written, by its place in the list. */
export const writing = signal<number | null>(null);

/** The timeline that a note is on, or −1 if it is not shown. A group has the notes of all that is in it. */
export function timelineOf({ of }: Note, timelines: TimelinesAnswer): number {
  const [map, key] = of.split(".");
  if (key === undefined || map !== (item(timelines.spec, "map") ?? "0")) return -1;
  const own = timelines.key.findIndex((other, timeline) => other === key && !timelines.open[timeline]);
  if (own >= 0) return own;
  const group = timelines.key.findIndex((other) => other.includes(",") || other.includes("-") ? keysOf(other).includes(key) : false);
  // What is on a heading, however it came there, is seen where that stands.
  return group >= 0 ? group : timelines.key.indexOf(key);
}

/** Begins a note at the selection, else at the cursor; its text is written under Pins. */
export function addNote(): void {
  const timelines = layout.peek();
  const last = selected.peek().at(-1);
  const place = last && last.timeline >= 0 ? { timeline: last.timeline, t: last.t0 } : cursor.peek();
  if (!timelines || !place || place.timeline >= timelines.count) return say("a note needs a place: select something, or put the cursor somewhere");
  const name = timelineName(timelines, place.timeline);
  const [map, keys] = name.split(".");
  if (keys === "") return say(NOT_A_CLUSTER);
  const of = `${map}.${keysOf(keys ?? "")[0] ?? keys}`;
  const { t0, t1 } = span.peek();
  // As many digits as a picture can show.
  const t = Number(place.t.toFixed(Math.min(12, Math.max(3, Math.ceil(5 - Math.log10(Math.max(t1 - t0, 1e-9)))))));
  const notes = [...view.peek().notes, { t, of, text: "" }];
  change({ notes, panel: "pins" });
  writing.value = notes.length - 1;
  say("write the note, Enter keeps it");
}

/** Gives a note its text; one without any is taken away. */
export function writeNote(nth: number, text: string): void {
  writing.value = null;
  const { notes } = view.peek();
  const plain = text.replace(/\s+/g, " ").trim();
  change({ notes: plain === "" ? notes.filter((_, other) => other !== nth) : notes.map((note, other) => (other === nth ? { ...note, text: plain } : note)) });
}
