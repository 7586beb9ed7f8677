// The trace that is shown below the first one to be compared with it: which one that is, how it is laid below it, and what the server says about it.

import { computed, effect, signal, untracked } from "@preact/signals";
import { align, nameIn, reach, scaleWords, under, type AlignedBy, type Moments, type Side, type Wish } from "./alignment";
import { ApiError, Asker, askJson, forget, question, report } from "./api";
import type { MetaAnswer, MomentsAnswer, TimelinesAnswer, TraceName, TracksAnswer, WaitsAnswer } from "./answers";
import { followTracks } from "./followTracks";
import { poll } from "./polling";
import { area, change, otherReach, restedSpan, say, selected, serverMeta, span, view } from "./state";
import { sharedWith } from "./spec";
import { shownOf } from "./tracks";
import { NO_OTHER } from "./url";

/** Milliseconds between two looks at what the server is still finding out. */
const AGAIN = 2000;

/** The server's traces. */
export const names = signal<readonly TraceName[]>([]);

/** Number of the other trace, or null where one trace is shown alone. Of two traces it is the second one unless the link says otherwise. */
export const other = computed<number | null>(() => {
  const { trace, other: asked } = view.value;
  const others = names.value.filter(({ n }) => n !== trace);
  if (asked >= 0) return others.some(({ n }) => n === asked) ? asked : null;
  return asked === NO_OTHER || names.value.length !== 2 || others.length !== 1 ? null : others[0]!.n;
});

export const otherMeta = signal<MetaAnswer | null>(null);
export const otherTimelines = signal<TimelinesAnswer | null>(null);
/** Whether the other trace has none of the timelines that the filter or the groups above take: it shows all then. */
export const lacksTimelines = signal(false);
export const otherWaits = signal<WaitsAnswer | null>(null);
/** Tracks of its window, and those of the whole trace, as the first trace has them. */
export const otherTracks = signal<TracksAnswer | null>(null);
export const otherWholeTracks = signal<TracksAnswer | null>(null);
/** Counts what has become known about the other trace, so that its pictures are asked for again. */
export const otherKnown = signal(0);

const asked = computed(() => view.value.align);
const wish = computed<Wish>(() => ({ by: asked.value, nth: view.value.nth, isStretched: view.value.stretch }));
/** What both traces are laid by; null until that has been answered. */
const moments = signal<{ of: string; above: Moments | null; below: Moments | null } | null>(null);

const sides = computed<[above: Side, below: Side]>(() => {
  const [first, second] = [serverMeta.value, otherMeta.value];
  const isSame = first?.name === second?.name;
  const side = (about: MetaAnswer | null, place: string, own: Moments | null): Side =>
    ({ name: !about || isSame ? `the trace ${place}` : about.name, t0: about?.t0 ?? 0, t1: about?.t1 ?? 1, moments: own });
  const known = moments.value?.of === momentsKey.value ? moments.value : null;
  return [side(first, "above", known?.above ?? null), side(second, "below", known?.below ?? null)];
});

/** How the other trace is laid below the first one in the window. */
export const alignment = computed(() => align(wish.value, span.value, ...sides.value));

/** What the rulers of both say where times are not equally long in them. */
export const scaleAbove = computed(() => scaleWords(alignment.value, "above"));
export const scaleBelow = computed(() => scaleWords(alignment.value, "below"));

const askedTimelines = computed(() => view.value.timelines);
/** The text of the timelines of the other trace. */
const otherSpec = computed(() => {
  const maps = (about: MetaAnswer | null) => (about?.maps ?? []).map(({ name }) => name);
  return sharedWith(askedTimelines.value, maps(serverMeta.value), maps(otherMeta.value));
});

const askedTracks = computed(() => view.value.tracks);
/** Tracks of the other trace that are shown, in their order. */
export const otherShownTracks = computed(() => shownOf(askedTracks.value, otherMeta.value?.tracks ?? []));
/** The window of the last rest as the other trace has it. */
const otherRestedSpan = computed(() => {
  const { t0, t1 } = restedSpan.value;
  const laid = align(wish.value, restedSpan.value, ...sides.value);
  return { t0: under(laid, t0), t1: under(laid, t1) };
});

/** Names of states that both traces have, in order. */
export const commonNames = computed<readonly string[]>(() => {
  const states = (about: MetaAnswer | null) => (about?.categories ?? []).filter(({ topology }) => topology === "state").map(({ name }) => name);
  const below = new Set(states(otherMeta.value));
  return [...new Set(states(serverMeta.value))].filter((name) => below.has(name)).sort();
});

/** Part of the window before the begin of what is brought into it. */
const BEFORE = 0.1;

/** Lays the other trace in another way, and says how. What is chosen by its number comes into the window. */
export function layBy(by: AlignedBy, nth = 0): void {
  const { t0, t1 } = span.peek();
  const begin = by === view.peek().align && nth > 0 ? sides.peek()[0].moments?.t0[nth - 1] : undefined;
  const from = begin === undefined || (begin >= t0 && begin < t1) ? t0 : begin - BEFORE * (t1 - t0);
  change({ align: by, nth, ...(from === t0 ? {} : { t0: from, t1: from + t1 - t0 }) });
  // What has to be asked for first is said when it has come.
  if (by === "" || moments.peek()) say(alignment.peek().words);
}

/** Lays the other trace by its begin, by phases, by the calls of what is selected, and by its begin again. */
export function cycleAlignment(): void {
  if (other.peek() === null) return say("there is no trace to be compared with");
  const { align: by } = view.peek();
  // Names that the reader gave are not those of the traces.
  const kind = selected.peek().at(-1)?.kind;
  const name = kind === undefined ? undefined : serverMeta.peek()?.categories[kind]?.name;
  const isCommon = name !== undefined && commonNames.peek().includes(name);
  layBy(by === "" ? "phases" : by === "phases" && isCommon ? `name:${name}` : "");
}

/** Which traces and what of them is asked for; empty if nothing is. */
const momentsKey = computed(() => {
  const [first, second] = [serverMeta.value, otherMeta.value];
  return asked.value === "" || other.value === null || !first || !second ? "" : `${view.value.trace}/${other.value}/${asked.value}`;
});

/** Asks for the other trace whenever it is another one, and for what it is laid by. */
export function loadOther(): void {
  effect(() => {
    const number = other.value;
    untracked(() => {
      otherMeta.value = null;
      otherTimelines.value = null;
      otherWaits.value = null;
      otherTracks.value = null;
      otherWholeTracks.value = null;
      const own = ++loaded;
      if (number !== null) void load(number, () => own === loaded);
    });
  });
  const timelines = new Asker<TimelinesAnswer>();
  effect(() => {
    const [number, about, spec] = [other.value, otherMeta.value, otherSpec.value];
    untracked(() => {
      timelines.stop();
      lacksTimelines.value = false;
      if (number !== null && about && otherTimelines.peek()?.spec !== spec) void showTimelines(timelines, number, spec);
    });
  });
  effect(() => {
    const key = momentsKey.value;
    untracked(() => {
      moments.value = null;
      if (key !== "") void loadMoments(key);
    });
  });
  followTracks(() => {
    const [trace, whole] = [other.value, otherMeta.value];
    return trace === null || !whole ? null : {
      trace, ...otherRestedSpan.value, shown: otherShownTracks.value, width: area.value.width, known: otherWaits.value?.state, whole,
    };
  }, otherTracks, otherWholeTracks);
  effect(() => {
    const [about, both] = [otherMeta.value, sides.value];
    const next = about && reach(wish.value, ...both);
    untracked(() => {
      const last = otherReach.peek();
      if (last?.t0 !== next?.t0 || last?.t1 !== next?.t1) otherReach.value = next;
    });
  });
}

/** Counts how often another trace was loaded. */
let loaded = 0;

/** Asks for the other trace, until the index and the waits of it are there. */
async function load(number: number, isWanted: () => boolean): Promise<void> {
  let isBuilding = false;
  await poll(async () => {
    const [meta, timelines] = await Promise.all([
      askJson<MetaAnswer>(number, "meta"), askJson<TimelinesAnswer>(number, question("timelines")),
    ]);
    if (!isWanted()) return false;
    otherTimelines.value = timelines;
    otherMeta.value = meta;
    isBuilding = meta.index.state === "building";
    return false;
  }, { every: AGAIN, isWanted });
  if (!isWanted() || !otherMeta.peek()) return;
  await poll(async () => {
    const [meta, waits] = await Promise.all([askJson<MetaAnswer>(number, "meta"), askJson<WaitsAnswer>(number, "waits")]);
    if (!isWanted()) return false;
    const wasBuilding = isBuilding;
    isBuilding = meta.index.state === "building";
    // What came before knew less.
    if (waits.state === "known") forget();
    otherWaits.value = waits;
    if (waits.state === "known" || wasBuilding !== isBuilding) otherKnown.value++;
    return waits.state === "pending" || isBuilding;
  }, { every: AGAIN, isWanted });
}

/** Shows these timelines of the other trace, or all where it has none of them. */
async function showTimelines(asker: Asker<TimelinesAnswer>, number: number, spec: string): Promise<void> {
  const isAsked = () => other.peek() === number && otherSpec.peek() === spec;
  let isRefused = false;
  const found = await asker.ask(number, question("timelines", { timelines: spec }), (error) => {
    if (error instanceof ApiError && error.status === 400) isRefused = true;
    else report(error);
  });
  if (found && isAsked()) otherTimelines.value = found;
  if (!isRefused || !isAsked()) return;
  lacksTimelines.value = true;
  const all = await asker.ask(number, question("timelines"));
  if (all && isAsked()) otherTimelines.value = all;
}

/** What a trace is laid by. One that lacks the name is not asked. */
async function momentsOf(trace: number, about: MetaAnswer | null, by: AlignedBy): Promise<Moments> {
  const name = nameIn(by);
  const has = name === null || about?.categories.some((one) => one.topology === "state" && one.name === name);
  return has ? askJson<MomentsAnswer>(trace, question("moments", { name })) : { state: "absent", rank: null, each: 0, t0: [], t1: [] };
}

/** Asks what both traces are laid by, again while they are being read. */
async function loadMoments(of: string): Promise<void> {
  const [number, by] = [other.peek(), view.peek().align];
  if (number === null) return;
  const isWanted = () => momentsKey.peek() === of;
  await poll(async () => {
    const [above, below] = await Promise.all([momentsOf(view.peek().trace, serverMeta.peek(), by), momentsOf(number, otherMeta.peek(), by)]);
    if (!isWanted()) return false;
    moments.value = { of, above, below };
    const isPending = [above, below].some(({ state }) => state === "pending");
    if (!isPending) say(alignment.peek().words);
    return isPending;
  }, { every: AGAIN, isWanted });
}
