// What is drawn of a timeline in full: the window of the page, a timeline for each call depth.

import { computed, signal } from "@preact/signals";
import { COARSE, FROM_INDEX } from "../answers";
import { depths, fullSelected, fullSpec, fullTimelines, learnDepths, placed } from "../full";
import type { DrawableDetail } from "../answers";
import type { Extent, View as Window } from "../geometry";
import { depthsIn, titlesOf } from "../levels";
import { LEAST_STACK } from "../painter";
import { bounds, meta, numbersText, pointerTime, span, view, waits } from "../state";
import { MOST_STATES, type Lower } from "./lowerStage";
import { colors } from "./stage";

/** Pixels of a call depth, if there is room. */
export const DEPTH_HEIGHT = 22;

/** Size of the drawing area. */
export const fullArea = signal({ width: 0, height: 0 });
/** What lies below the pointer, as the server has it. */
export const fullHover = signal<DrawableDetail | null>(null);
/** For each timeline what most of it is. */
export const titles = signal<readonly string[]>([]);
/** What the picture leaves out. */
export const fullNote = signal("");

/** The timelines that are seen: one of the last thread has nothing on it and is not. */
export const fullRows = computed(() => {
  const [timelines, { known, asked }] = [fullTimelines.value, depths.value];
  return Math.max(1, (timelines?.count ?? known) - (asked - known));
});

export function fullExtent(): Extent {
  const whole = bounds.value;
  return { t0: whole?.t0 ?? 0, t1: whole?.t1 ?? 1, timelines: fullRows.value, pinned: 0, ...fullArea.value };
}

export function fullWindow(): Window {
  return { ...span.value, top: 0, timelineHeight: Math.max(1, fullArea.value.height) / fullRows.value };
}

const names = computed(() => (meta.value?.categories ?? []).map(({ name }) => name));
const version = computed(() => `${meta.value?.index.state === "ready"} ${waits.value?.state === "known"}`);

/** Which timeline it is, whatever call depths of it are asked for. */
function withoutDepth(timelines: string): string {
  return timelines.replace(/;depth:\d+$/, "");
}

export const inFull: Lower = {
  extent: fullExtent,
  window: fullWindow,
  layout: () => fullTimelines.value,
  palette: () => colors.value,
  names: () => names.value,
  version: () => version.value,
  marks: () => {
    const { range } = view.value;
    return {
      hover: fullHover.value && placed(fullHover.value), selected: fullSelected.value, pointer: pointerTime.value,
      range: range && { ...range, y0: 0, y1: fullRows.value },
    };
  },
  isOf: (want) => want.trace === view.peek().trace && withoutDepth(want.timelines) === withoutDepth(fullSpec.peek()),
  arrived: ({ frame, want }) => {
    if (want.timelines !== fullSpec.peek()) return;
    titles.value = titlesOf(frame, (meta.peek()?.categories ?? []).map((kind) => kind.class));
    const isCoarse = (frame.flags & (COARSE | FROM_INDEX)) !== 0;
    fullNote.value = isCoarse ? "≈ shares on the first line: call depths are told in shorter windows" : "";
    // What is only known in shares has no depth.
    if (!isCoarse) learnDepths(depthsIn(frame, depths.peek().asked), depths.peek().asked);
  },
  want: (all, shown) => {
    const timelines = fullTimelines.peek();
    if (!timelines || timelines.spec !== fullSpec.peek()) return null;
    const { trace, hide, mode, heat } = view.peek();
    const look = mode === "heat" ? `heat:${heat}` : mode;
    return {
      trace, timelines: timelines.spec, block: 1, t0: shown.t0, t1: shown.t1, width: Math.round(all.width), y0: 0, y1: timelines.count,
      hide: numbersText(hide), look, mode: mode === "dominant" && shown.timelineHeight >= LEAST_STACK ? "stack" : look,
      arrows: "none", most: MOST_STATES, query: "",
    };
  },
};
