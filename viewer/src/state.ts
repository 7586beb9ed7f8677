// What the page shows, as signals. `view` is all that a link restores and is changed by `change` only, which keeps the
// address and the history of undo true; the rest is what the server said about it, or lives as long as a movement of the mouse.

import { batch, computed, effect, signal } from "@preact/signals";
import type { DrawableDetail, MetaAnswer, PathAnswer, TimelinesAnswer, TracksAnswer, TraceSummary, WaitsAnswer } from "./answers";
import { History } from "./history";
import { opensFiles } from "./own";
import { item } from "./spec";
import { shownOf } from "./tracks";
import { decode, encode, MOST_NAME, START, type View, withKinds } from "./url";

export * from "./url";

export const view = signal<View>(START);
/** The view as panels have it: that of the last rest. While something moves they are not rendered anew, and ask nothing. */
export const rested = signal<View>(START);
/** Whether something moves: who computes for panels then takes the time that pictures need. */
export const isMoving = signal(false);
/** Whether a range is being dragged: what stands above the picture must not grow then, as that would move the picture below the pointer. */
export const isSelecting = signal(false);

/** What the server says about the trace; null until it has answered. */
export const serverMeta = signal<MetaAnswer | null>(null);
/** Whether it is known which calls waited; null until the server has said so. */
export const waits = signal<WaitsAnswer | null>(null);
/** What the run was and what it lost; null until the server has said so. */
export const summary = signal<TraceSummary | null>(null);
/** What each rank did, by its number; empty until that is known, and of very many ranks. */
export const sharesOfRanks = computed(() => new Map((summary.value?.verdict?.ranks ?? []).map((shares) => [shares.rank, shares])));
/** Why there is no summary; empty if there is, or its answer is still to come. */
export const noSummary = signal("");
/** The critical path around the window, where it is drawn. */
export const path = signal<PathAnswer | null>(null);
/** The tracks of the window, and those of the whole trace, which are seen where these do not reach while something moves. */
export const tracks = signal<TracksAnswer | null>(null);
export const wholeTracks = signal<TracksAnswer | null>(null);
/** Time below the pointer. */
export const pointerTime = signal<number | null>(null);
/** The trace whose file has changed since it was opened, what happened to it, and why it could not be opened again, if that was tried; null if none has. */
export const gone = signal<{ trace: number; why: string; refusal: string } | null>(null);
/** Why the trace cannot be shown; empty if it can, or its answer is still to come. */
export const unavailable = signal("");
/** The timelines of the layout that `view.timelines` names; those of the last one until the next has come. */
export const serverTimelines = signal<TimelinesAnswer | null>(null);
const ownNames = computed(() => view.value.names);
const names = computed(() => new Map(ownNames.value));
/** The trace, with the names that the reader gave. */
export const meta = computed<MetaAnswer | null>(() => {
  const [server, own] = [serverMeta.value, names.value];
  if (!server || own.size === 0) return server;
  return { ...server, categories: server.categories.map((one, kind) => ({ ...one, name: own.get(String(kind)) ?? one.name })) };
});
/** The timelines, with the names that the reader gave. */
export const layout = computed<TimelinesAnswer | null>(() => {
  const [server, own] = [serverTimelines.value, names.value];
  if (!server || own.size === 0) return server;
  return { ...server, label: server.label.map((label, timeline) => own.get(timelineName(server, timeline)) ?? label) };
});

/** The timeline that is being given another name. */
export const renaming = signal<number | null>(null);

/** Why something is not done with a cluster, which no link can name. */
export const NOT_A_CLUSTER = "a cluster is found anew each time: it cannot be named, noted, pinned or hidden";

/** What a timeline's own name is kept under. */
export function timelineName(timelines: TimelinesAnswer, timeline: number): string {
  return `${Number(item(timelines.spec, "map") ?? 0)}.${timelines.key[timeline] ?? ""}`;
}

/** Gives a kind or a timeline another name; none gives back that of the trace. */
export function rename(of: string, name: string): void {
  const text = name.replace(/\s+/g, " ").trim().slice(0, MOST_NAME);
  const others = view.peek().names.filter(([other]) => other !== of);
  change({ names: text === "" ? others : [...others, [of, text]] });
}

/** Details of the selected drawables, in the order of `view.sel`; those not yet known are missing. */
export const selected = signal<readonly DrawableDetail[]>([]);
/** What lies under the pointer. */
export const hover = signal<DrawableDetail | null>(null);
/** Where the keyboard is in the timeline. */
export const cursor = signal<{ timeline: number; t: number } | null>(null);
/** A measured stretch that is no selection. */
export const measure = signal<{ t0: number; t1: number } | null>(null);
/** Hits of the search in the whole trace, for the ticks of the minimap: how many in each of equal parts. */
export const hitBins = signal<readonly number[]>([]);
/** The search that these are hits of: one that the server has understood. */
export const counted = signal("");
/** Size of the timeline's drawing area in pixels of the page; set by the timeline. */
export const area = signal({ width: 0, height: 0 });
/** What is said to those who do not see; set by `say`. */
export const said = signal("");
/** What went wrong last, shown until dismissed. */
export const trouble = signal("");
/** Whether the server does not know this browser: it was not given the token. */
export const isUnknownHere = signal(false);
/** How many requests are under way. */
export const busy = signal(0);
/** Dark or light, after the option and what the system prefers. */
const systemDark = signal(false);
export const isDark = computed(() => (view.value.theme === "auto" ? systemDark.value : view.value.theme === "dark"));
/** Whether the page is too narrow for the legend beside the timeline: it is a tab of the panels then. */
export const isNarrow = signal(false);
/** Whether that tab is shown in place of the panel of the view. */
export const legendTab = signal(false);
/** Whether the wheel zooms and Ctrl+wheel scrolls instead of the other way round. Kept in this browser. */
export const wheelZooms = signal(false);

/** From when to when there is something of the trace that is compared with this one, in times of this one; null if none is. */
export const otherReach = signal<{ t0: number; t1: number } | null>(null);
/** All that there is to be looked at: the trace, and what the other one has beside it. */
export const bounds = computed(() => {
  const [own, other] = [meta.value, otherReach.value];
  return own && { t0: Math.min(own.t0, other?.t0 ?? own.t0), t1: Math.max(own.t1, other?.t1 ?? own.t1) };
});

function spanOf({ t0, t1 }: View): { t0: number; t1: number } {
  if (!Number.isNaN(t0)) return { t0, t1 };
  const whole = bounds.value;
  return whole ? { t0: whole.t0, t1: whole.t1 } : { t0: 0, t1: 1 };
}

/** The window in seconds, never NaN. */
export const span = computed(() => spanOf(view.value));
/** The view of the last rest. */
export const restedSpan = computed(() => spanOf(rested.value));

const askedTracks = computed(() => view.value.tracks);
/** Tracks that are shown, in their order. */
export const shownTracks = computed(() => shownOf(askedTracks.value, serverMeta.value?.tracks ?? []));

/** Number of timelines in the layout. */
export const timelineCount = computed(() => layout.value?.count ?? 0);

/** How many timelines stand pinned above the others; `view.top` counts from the first that is not. */
export const pinnedTimelines = computed(() => layout.value?.pinned ?? 0);

/** What statistics, matrix and tables are about: the selected range, else window and all timelines. */
export const subject = computed(() => {
  const { range } = rested.value;
  // Until the timelines are known there is nothing to end at.
  if (range) return { ...range, y1: Math.min(range.y1, timelineCount.value || range.y1), isRange: true };
  return { ...restedSpan.value, y0: 0, y1: timelineCount.value, isRange: false };
});

const history = new History<View>();
/** Counts changes of the history, so that buttons follow. */
const historyChanges = signal(0);
export const canUndo = computed(() => historyChanges.value >= 0 && history.canUndo);
export const canRedo = computed(() => historyChanges.value >= 0 && history.canRedo);

/** The view that the latest step left, until the address of what came after it is written. */
let leftByStep: View | null = null;

/** What undo does not undo: how something looks, not where one is. */
const QUIET: ReadonlySet<string> = new Set<keyof View>(["panel", "align", "nth", "stretch", "palette", "path", "tracks", "own", "names", "theme", "query", "sums", "notes", "pins"]);

/** What moves the window. */
const MOVES: ReadonlySet<string> = new Set<keyof View>(["t0", "t1", "top", "height"]);
/** Milliseconds without a change after which a movement is at rest. */
const REST = 150;
let lastMove = 0;
let resting = 0;

/** Shows a view, in panels as well. */
export function show(next: View): void {
  window.clearTimeout(resting);
  batch(() => {
    view.value = next;
    rested.value = next;
    isMoving.value = false;
  });
}

/** Changes the view. Changes of the same `name` shortly one after the other are one step of undo. */
export function change(patch: Partial<View>, name = ""): void {
  if (patch.panel !== undefined) legendTab.value = false;
  const before = view.peek();
  const after = bounded({ ...before, ...patch });
  const differs = Object.keys(after).filter((key) => after[key as keyof View] !== before[key as keyof View]);
  if (differs.length === 0) return;
  if (differs.some((key) => !QUIET.has(key))) step(before, name);
  // A key that is held down moves, too.
  const isMove = differs.every((key) => MOVES.has(key));
  const last = lastMove;
  lastMove = isMove ? performance.now() : 0;
  if (isMove && lastMove - last < REST) slide(after);
  else show(after);
}

/** Changes the view while something is being dragged, without a step of undo; `settle` at the end. */
export function slide(patch: Partial<View>): void {
  isMoving.value = true;
  view.value = bounded({ ...view.peek(), ...patch });
  window.clearTimeout(resting);
  resting = window.setTimeout(() => show(view.peek()), REST);
}

/** Ends a movement that began at `from` and was shown by `slide`: one step of undo. */
export function settle(from: View): void {
  show(view.peek());
  if (view.peek() !== from) step(from, "");
}

/** Leaves `before` for something else: a step of undo, and one that the browser's Back goes back by. */
function step(before: View, name: string): void {
  // Of several steps shortly one after the other, the address has seen the first only.
  if (history.push(before, name, performance.now())) leftByStep ??= before;
  historyChanges.value++;
}

/** Forgets the steps that could be undone: they are about another file. */
export function forgetSteps(): void {
  history.clear();
  historyChanges.value++;
}

export function undo(): void {
  goTo(history.undo(view.peek()));
}

export function redo(): void {
  goTo(history.redo(view.peek()));
}

function goTo(found: View | null): void {
  if (!found) return;
  const now = view.peek();
  // Kinds, timelines and drawables of another trace have other numbers: what the reader made of them is of that trace.
  const { own, names, notes, pins } = found.trace === now.trace ? now : found;
  show({
    ...found, align: now.align, nth: now.nth, stretch: now.stretch, panel: now.panel, palette: now.palette, path: now.path, tracks: now.tracks, theme: now.theme, query: now.query, sums: now.sums,
    own, names, notes, pins,
  });
  historyChanges.value++;
}

/** Nothing below a nanosecond, nothing far outside the trace, timelines that exist. */
function bounded(next: View): View {
  const whole = bounds.peek();
  if (!whole || Number.isNaN(next.t0)) return next;
  const room = whole.t1 - whole.t0 || 1e-9;
  const least = Math.max(1e-9, Math.max(Math.abs(whole.t0), Math.abs(whole.t1)) * 1e-14);
  let [t0, t1] = [next.t0, next.t1];
  let length = Math.min(t1 - t0, room * 1.1);
  if (!(length >= least)) {
    const middle = (t0 + t1) / 2;
    length = least;
    t0 = middle - least / 2;
  }
  const margin = length * 0.05;
  t0 = Math.min(Math.max(t0, whole.t0 - margin), whole.t1 + margin - length);
  if (length > room) t0 = whole.t0 - (length - room) / 2;
  t1 = t0 + length;
  const same = t0 === next.t0 && t1 === next.t1;
  return same ? next : { ...next, t0, t1 };
}

/** Says something to those who do not see the picture. */
export function say(text: string): void {
  // The same words again are said again only if they differ.
  said.value = said.peek() === text ? `${text}\u00a0` : text;
}

function addressOf(fragment: string): string {
  return fragment === "#" ? location.pathname + location.search : fragment;
}

/** Ties the view to the address of the page, and the theme to what the system prefers. */
export function connect(): void {
  const asked = decode(location.hash);
  show(window.__kinds ? withKinds(asked, window.__kinds) : asked);
  let written = location.hash;
  let timer = 0;
  // Addresses that this page has written since it was opened, or since a link was followed, are marked by it.
  let visit = performance.timeOrigin;
  effect(() => {
    void view.value;
    window.clearTimeout(timer);
    // Browsers refuse more than a hundred changes in half a minute.
    timer = window.setTimeout(() => {
      const [text, left] = [`#${encode(view.peek())}`, leftByStep];
      leftByStep = null;
      if (text === location.hash || (text === "#" && location.hash === "")) return;
      if (left) window.history.replaceState(visit, "", addressOf(`#${encode(left)}`));
      written = text;
      window.history[left ? "pushState" : "replaceState"](visit, "", addressOf(text));
    }, 350);
  });
  window.addEventListener("hashchange", () => {
    if (location.hash === written) return;
    written = location.hash;
    const asked = decode(location.hash);
    const now = view.peek();
    history.push(now, "", performance.now());
    historyChanges.value++;
    legendTab.value = false;
    // A step back leaves what the reader has made since. A link that somebody has followed has its own.
    const isStep = window.history.state === visit && asked.trace === now.trace;
    if (!isStep) visit++;
    const made = isStep ? { notes: now.notes, pins: now.pins, names: now.names, own: now.own } : {};
    // A page that opens files counts them, and has the last one only.
    show({ ...asked, ...made, trace: opensFiles() ? now.trace : asked.trace });
  });
  // The same width as in style.css.
  const narrow = window.matchMedia("(max-width: 900px)");
  isNarrow.value = narrow.matches;
  narrow.addEventListener("change", () => (isNarrow.value = narrow.matches));
  const prefers = window.matchMedia("(prefers-color-scheme: dark)");
  systemDark.value = prefers.matches;
  prefers.addEventListener("change", () => (systemDark.value = prefers.matches));
  effect(() => {
    document.documentElement.dataset["theme"] = isDark.value ? "dark" : "light";
  });
  try {
    wheelZooms.value = localStorage.getItem("wheelZooms") === "yes";
    effect(() => localStorage.setItem("wheelZooms", wheelZooms.value ? "yes" : "no"));
  } catch {
    // A browser that keeps nothing: the option lives as long as the page.
  }
}
