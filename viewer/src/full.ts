// The timeline that is shown in full, its call depths under one another: which one it is, and what the server says about it.

import { computed, effect, signal, untracked } from "@preact/signals";
import { Asker, askReference, question, report } from "./api";
import type { DrawableDetail, TimelinesAnswer } from "./answers";
import { fullLabel } from "./labels";
import { depthsToAsk, FIRST_DEPTHS } from "./levels";
import { item } from "./spec";
import { change, layout, say, serverMeta, view } from "./state";

const map = computed(() => item(view.value.timelines, "map"));
const key = computed(() => view.value.full);
const trace = computed(() => view.value.trace);
const selection = computed(() => view.value.sel);

/** Call depths that are known to have something, and those asked for. */
export const depths = signal({ known: 1, asked: FIRST_DEPTHS });

/** The timelines of the call depths, as the server is asked for them; empty where nothing is shown in full. */
export const fullSpec = computed(() => (key.value === "" ? "" : `${map.value === null ? "" : `map:${map.value};`}levels:${key.value};depth:${depths.value.asked}`));

/** The timelines of the call depths; null until they are known. */
export const fullTimelines = signal<TimelinesAnswer | null>(null);
/** Why there are none. */
export const noFull = signal("");
/** What is selected, as far as it is on these timelines. */
export const fullSelected = signal<readonly DrawableDetail[]>([]);

/** Name of what is shown in full, as the reader has named it. */
export const fullName = computed(() => {
  const nth = layout.value?.key.indexOf(key.value) ?? -1;
  return fullLabel(layout.value, nth) || (fullTimelines.value?.label[0] ?? "…");
});

/** The name of the line of something whose number of a timeline is one of the call depths. */
export function labelInFull({ timeline, label }: { timeline: number; label: string }): string {
  const isOneLine = fullTimelines.value !== null && fullTimelines.value.count <= depths.value.asked;
  return timeline >= 0 && isOneLine ? fullName.value : label;
}

/** Shows a timeline in full. */
export function showInFull(timeline: number): void {
  const timelines = layout.peek();
  const of = timelines?.key[timeline] ?? "";
  const isOne = /^\d+$/.test(of) || (/^n\d+$/.test(of) && (timelines?.rank[timeline] ?? -1) >= 0);
  if (!isOne) return say("only a timeline of one rank or thread is shown in full");
  change({ full: of });
  say(`${fullLabel(timelines, timeline)} in full: its call depths under one another; Esc leaves it`);
}

/** Shows a rank in full. */
export function showRankInFull(rank: number): void {
  const timelines = layout.peek();
  // The first of its threads where each has a timeline.
  const nth = timelines?.rank.findIndex((one, timeline) => one === rank && !timelines.open[timeline]) ?? -1;
  if (nth >= 0) return showInFull(nth);
  say(`rank ${rank} is not among the timelines that are shown`);
}

/** Shows nothing in full any more. */
export function leaveFull(): void {
  if (view.peek().full === "") return;
  change({ full: "" });
  say("no longer in full");
}

/** Takes over how many call depths a picture was found to have. */
export function learnDepths(used: number, asked: number): void {
  const { known, asked: last } = depths.peek();
  if (asked !== last) return;
  const next = depthsToAsk(known, used, asked);
  if (next.known !== known || next.asked !== last) depths.value = next;
}

/** Where a drawable of these timelines is drawn: on the timeline of its call depth. */
export function placed(detail: DrawableDetail): DrawableDetail {
  const hidden = new Set(view.peek().hide.map((kind) => serverMeta.peek()?.categories[kind]?.name));
  const depth = detail.parents.filter(({ name }) => !hidden.has(name)).length;
  const level = Math.min(depth, depths.peek().asked - 1);
  return { ...detail, timeline: detail.timeline < 0 ? -1 : detail.timeline + level, depth: depth - level };
}

/** Keeps what is known of the timeline in full in step with the view. */
export function loadFull(): void {
  let of = "";
  effect(() => {
    const next = `${trace.value}/${map.value}/${key.value}`;
    if (next === of) return;
    of = next;
    depths.value = { known: 1, asked: FIRST_DEPTHS };
    fullTimelines.value = null;
    noFull.value = "";
  });
  const asker = new Asker<TimelinesAnswer>();
  effect(() => {
    const [number, spec] = [trace.value, fullSpec.value];
    if (spec === "") return asker.stop();
    const refused = (error: unknown) => (noFull.value = error instanceof Error ? error.message : String(error));
    untracked(() => void asker.ask(number, question("timelines", { timelines: spec }), refused).then((found) => {
      if (found && fullSpec.peek() === spec) fullTimelines.value = found;
    }));
  });
  effect(() => {
    const [number, spec, sel] = [trace.value, fullSpec.value, selection.value];
    if (spec === "" || sel.length === 0) {
      fullSelected.value = [];
      return;
    }
    untracked(() => void Promise.all(sel.map((ref) => askReference(number, ref, spec))).then((all) => {
      if (fullSpec.peek() !== spec || selection.peek() !== sel) return;
      fullSelected.value = all.filter((detail) => detail !== null && detail.timeline >= 0).map((detail) => placed(detail!));
    }).catch(report));
  });
}
