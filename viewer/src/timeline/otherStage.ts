// What is drawn of the other trace: the window of the first one, shifted as the traces are laid above each other. Times are equally long unless
// a phase is to be drawn as wide as above.

import { computed, signal } from "@preact/signals";
import { beneath, counterparts, under } from "../alignment";
import {
  alignment, otherKnown, otherMeta, otherShownTracks, otherTimelines, otherTracks, otherWaits, otherWholeTracks, scaleBelow,
} from "../compare";
import { blockOf, clamp, seen, type Extent, type View as Window } from "../geometry";
import { LEAST_STACK } from "../painter";
import { palette } from "../palette";
import { isDark, meta, numbersText, pointerTime, serverMeta, serverTimelines, tracks, view } from "../state";
import { MOST_STATES, type Lower } from "./lowerStage";
import { now } from "./now";
import type { Marks } from "./scene";
import { colors } from "./stage";
import { ownTracks, type TracksSource } from "./Tracks";

/** Size of the drawing area. */
export const otherArea = signal({ width: 0, height: 0 });

/** What there is of the other trace, and the room for it. */
export function otherExtent(): Extent {
  const about = otherMeta.value;
  return { t0: about?.t0 ?? 0, t1: about?.t1 ?? 1, timelines: otherTimelines.value?.count ?? 0, pinned: 0, ...otherArea.value };
}

/** The window of the other trace: what lies under that of the first, and as high. */
export function otherWindow(): Window {
  const { t0, t1, top, timelineHeight } = now.value;
  const scrolled = clamp({ t0, t1, top, timelineHeight }, otherExtent());
  return { ...scrolled, t0: under(alignment.value, t0), t1: under(alignment.value, t1) };
}

const paletteName = computed(() => view.value.palette);

/** States of the same name have the colour that they have in the first trace. */
const otherColors = computed(() => {
  const [about, first] = [otherMeta.value, colors.value];
  const known = new Map((serverMeta.value?.categories ?? []).flatMap(({ name, topology }, kind) =>
    (topology === "state" ? [[name, first.fill[kind] ?? 0] as const] : [])));
  const own = new Map((about?.categories ?? []).flatMap(({ name, topology }, kind) =>
    (topology === "state" && known.has(name) ? [[kind, known.get(name)!] as const] : [])));
  return palette(about?.categories ?? [], paletteName.value, isDark.value ? "dark" : "light", false, own);
});

const otherNames = computed(() => (otherMeta.value?.categories ?? []).map(({ name }) => name));

/** Kinds of the other trace that have the name of one of these of the first, as the traces have it: names of one's own are those of the first one. */
function same(kinds: readonly number[]): number[] {
  const wanted = new Set(kinds.map((kind) => serverMeta.value?.categories[kind]?.name));
  return (otherMeta.value?.categories ?? []).flatMap(({ name }, kind) => (wanted.has(name) ? [kind] : []));
}

/** A number that no kind has: nothing is of it. */
const NO_KIND = 65_535;

const heated = computed(() => (view.value.mode === "heat" ? view.value.heat : -1));

/** The name of the category whose share is shown, where the other trace has none of this name; else nothing. */
export const lacking = computed(() => {
  const first = serverMeta.value?.categories[heated.value]?.name ?? "";
  return first !== "" && otherMeta.value && same([heated.value]).length === 0 ? (meta.value?.categories[heated.value]?.name ?? first) : "";
});

/** A time of the first trace as the other one has it. */
function below(t: number | null): number | null {
  return t === null ? null : under(alignment.value, t);
}

const askedRange = computed(() => view.value.range);

/** The selected stretch of time as the other trace has it. */
const otherTimes = computed(() => {
  const [range, laid] = [askedRange.value, alignment.value];
  return range && { t0: under(laid, range.t0), t1: under(laid, range.t1) };
});

/** For each timeline of the first trace that of the other one. */
const others = computed(() => {
  const [above, timelines] = [serverTimelines.value, otherTimelines.value];
  return above && timelines ? counterparts(above, timelines) : [];
});

/** The selected range as the other trace has it. */
function otherRange(): Marks["range"] {
  const [range, times] = [askedRange.value, otherTimes.value];
  return range && times && { ...times, ...beneath(range, others.value, otherTimelines.value?.count ?? 0) };
}

/** The tracks of the other trace: those that the first one shows, read at the time that lies below the pointer or the cursor. */
export const otherTracksSource: TracksSource = {
  id: "other-tracks", trace: otherMeta, name: computed(() => otherMeta.value?.name ?? ""), shown: otherShownTracks, answer: otherTracks, whole: otherWholeTracks, beside: tracks,
  window: computed(otherWindow), extent: computed(otherExtent), look: otherColors, waits: otherWaits,
  pointer: computed(() => below(pointerTime.value)), reading: computed(() => below(ownTracks.reading.value)), range: otherTimes,
};

/** The trace of this number below the first one. */
export function otherTrace(trace: number): Lower {
  return {
    extent: otherExtent,
    window: otherWindow,
    layout: () => otherTimelines.value,
    palette: () => otherColors.value,
    names: () => otherNames.value,
    marks: () => ({ pointer: below(pointerTime.value), scale: scaleBelow.value, range: otherRange() }),
    version: () => otherKnown.value,
    isOf: (want) => want.timelines === (otherTimelines.peek()?.spec ?? ""),
    arrived: () => undefined,
    want: (all, shown, where) => {
      if (!otherMeta.peek()) return null;
      const block = blockOf(shown.timelineHeight);
      const [first, last] = seen(shown, all);
      const inBlocks = (timeline: number) => (where.leaf[Math.min(timeline, where.leaf.length - 1)] ?? 0) / block;
      const { mode, heat, hide, arrows } = view.peek();
      const look = mode === "heat" ? `heat:${same([heat])[0] ?? NO_KIND}` : mode;
      return {
        trace, timelines: otherTimelines.peek()?.spec ?? "", block, t0: shown.t0, t1: shown.t1, width: Math.round(all.width),
        y0: block > 1 ? Math.floor(inBlocks(first)) : first, y1: block > 1 ? Math.ceil(inBlocks(last)) : last,
        hide: numbersText(same(hide)), mode: mode === "dominant" && shown.timelineHeight >= LEAST_STACK ? "stack" : look, look, arrows: arrows === "sel" ? "none" : arrows, most: MOST_STATES, query: "",
      };
    },
  };
}
