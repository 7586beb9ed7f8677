// What keys, buttons and the palette do to the view. Everything here works without a mouse; what the mouse does in the
// timeline beyond that stands there.

import { askJson, askShared, keepDetail, question, report } from "./api";
import type { DrawableDetail, FindingTarget, FollowAnswer } from "./answers";
import { fullLabel } from "./labels";
import {
  ALL_TIMELINES, ARROWS, area, bounds, change, cursor, encode, hover, layout, legendTab, measure, meta, NOT_A_CLUSTER, PANELS, pinnedTimelines, renaming, SHUT, timelineCount, say, selected, serverTimelines,
  shownTracks, span, trouble, view, waits, type PanelName, type View,
} from "./state";
import * as geometry from "./geometry";
import { leaveFull, showInFull } from "./full";
import { withoutGroup } from "./groups";
import { unknownHere } from "./own";
import { item, keysOf, withItem, withKey, withNode } from "./spec";
import { extent, now, shownTimelines } from "./timeline/now";
import { shownOf, titleOf } from "./tracks";
import { describe, labelOf } from "./words";

/** The time that zooming keeps in place: the cursor's if it can be seen, else the middle. */
function anchor(): number {
  const { t0, t1 } = span.peek();
  const at = cursor.peek()?.t;
  return at !== undefined && at >= t0 && at <= t1 ? at : (t0 + t1) / 2;
}

/** Makes the window `factor` times as long around `at`. */
export function zoom(factor: number, at = anchor()): void {
  const { t0, t1 } = span.peek();
  change({ t0: at - (at - t0) * factor, t1: at + (t1 - at) * factor }, "zoom");
}

/** Moves the window by a part of its length. */
export function pan(part: number): void {
  const { t0, t1 } = span.peek();
  const by = (t1 - t0) * part;
  change({ t0: t0 + by, t1: t1 + by }, "pan");
}

/** The whole trace and all timelines. */
export function wholeTrace(): void {
  const whole = bounds.peek();
  if (whole) change({ t0: whole.t0, t1: whole.t1, top: 0, height: 0 });
}

/** The window at the begin (-1) or the end (1) of the trace, as long as it is. */
export function toEnd(side: -1 | 1): void {
  const whole = bounds.peek();
  if (!whole) return;
  const { t0, t1 } = span.peek();
  const length = t1 - t0;
  if (side < 0) change({ t0: whole.t0, t1: whole.t0 + length }, "end");
  else change({ t0: whole.t1 - length, t1: whole.t1 }, "end");
}

/** Scrolls by timelines, and keeps the last one on the screen. */
export function scrollTimelines(by: number): void {
  const window = now.peek();
  const { top } = geometry.scrollTimelines(window, extent.peek(), by * window.timelineHeight);
  change({ top }, "timelines");
}

export function pageTimelines(pages: number): void {
  scrollTimelines(pages * Math.max(1, Math.floor(area.peek().height / now.peek().timelineHeight) - 1));
}

/** Makes timelines `factor` times as high; the one of the cursor stays where it is, else the one in the middle. */
export function zoomTimelines(factor: number): void {
  const [window, all] = [now.peek(), extent.peek()];
  const timeline = cursor.peek()?.timeline;
  const y = timeline === undefined ? all.height / 2 : geometry.yOf(timeline, window, all);
  const { top, timelineHeight: height } = geometry.zoomTimelines(window, all, factor, Math.min(Math.max(0, y), all.height));
  change({ height, top }, "timeline height");
}

/** Moves the cursor to another timeline, and scrolls it into view. */
export function moveCursor(timelines: number): void {
  const { y0 } = shownTimelines.peek();
  const from = cursor.peek() ?? { timeline: y0 - Math.sign(timelines), t: anchor() };
  putCursor(from.timeline + timelines, from.t);
}

/** Puts the cursor on a timeline and a time, scrolls there, and says what is there. */
export function putCursor(timeline: number, t: number): void {
  const at = Math.min(Math.max(0, timeline), Math.max(0, timelineCount.peek() - 1));
  cursor.value = { timeline: at, t };
  reveal(at, t, t);
  const { t0, t1 } = span.peek();
  const here = question("at", {
    t, timeline: at, timelines: view.peek().timelines, dt: (t1 - t0) / Math.max(1, area.peek().width) / 2, hide: view.peek().hide.join(","),
  });
  askJson<DrawableDetail | null>(view.peek().trace, here)
    .then((found) => say(found ? describe(found) : `${fullLabel(layout.peek(), at)}, nothing here`))
    .catch(report);
}

/** Scrolls until a timeline and a stretch of time can be seen, without changing the scale unless the stretch needs it. */
export function reveal(timeline: number, from: number, to: number): void {
  const patch: Partial<View> = {};
  const { top } = geometry.reveal(now.peek(), extent.peek(), timeline);
  if (top !== now.peek().top) patch.top = top;
  const { t0, t1 } = span.peek();
  const length = t1 - t0;
  if (from < t0 || to > t1) {
    const enough = Math.max(length, (to - from) * 1.25);
    const middle = (from + to) / 2;
    patch.t0 = middle - enough / 2;
    patch.t1 = middle + enough / 2;
  }
  if (Object.keys(patch).length > 0) change(patch, "reveal");
}

/** Selects one drawable (and what else is selected, if `adds`), and shows it. */
export function select(found: DrawableDetail | null, adds = false): void {
  if (!found) return;
  const others = adds ? view.peek().sel.filter((ref) => ref !== found.ref) : [];
  change({ sel: [...others, found.ref] }, "select");
  if (found.timeline >= 0) {
    cursor.value = { timeline: found.timeline, t: found.t0 };
    reveal(found.timeline, found.t0, Math.min(found.t1, found.t0 + (span.peek().t1 - span.peek().t0)));
  }
  say(describe(found));
}

/** The drawable that details are shown of. */
export function current(): DrawableDetail | null {
  return selected.peek().at(-1) ?? null;
}

async function get<T>(route: string, values: Record<string, string | number | null>): Promise<T | null> {
  const { trace, timelines } = view.peek();
  try {
    const found = await askShared<T | null>(trace, question(route, { ...values, timelines }));
    // What is in one trace is not in another one that is looked at meanwhile.
    return view.peek().trace === trace ? found : null;
  } catch (error) {
    if (view.peek().trace === trace) report(error);
    return null;
  }
}

/** One drawable: it is kept, so that selecting it asks nothing more. */
async function getDetail(route: string, values: Record<string, string | number | null>): Promise<DrawableDetail | null> {
  const { trace, timelines } = view.peek();
  const found = await get<DrawableDetail>(route, values);
  if (view.peek().trace === trace && view.peek().timelines === timelines) keepDetail(trace, timelines, found);
  return found;
}

/** The next (1) or previous (-1) state on the timeline of the selection or of the cursor. */
export async function nextOnTimeline(dir: 1 | -1): Promise<void> {
  const from = current();
  const at = cursor.peek() ?? { timeline: shownTimelines.peek().y0, t: span.peek().t0 };
  const found = await getDetail("next", from ? { ref: from.ref, dir } : { timeline: at.timeline, t: at.t, dir });
  if (found) select(found);
  else if (!from && layout.peek()?.open[at.timeline]) say("this is a heading: its timelines stand below it");
  else say(dir > 0 ? "no later state on this timeline" : "no earlier state on this timeline");
}

/** Along the arrow of the selection to the partner: back to the sender, or on to the receiver. */
export async function follow(dir: 1 | -1): Promise<void> {
  const from = current();
  if (!from) return say("nothing is selected");
  const { trace, timelines } = view.peek();
  const found = await get<FollowAnswer>("follow", { ref: from.ref, dir });
  for (const detail of [found?.partner ?? null, found?.arrows[0] ?? null]) keepDetail(trace, timelines, detail);
  if (found?.partner) return select(found.partner);
  const arrow = found?.arrows[0];
  if (arrow) return select(arrow);
  say(dir > 0 ? "no message leaves here" : from.class === "collective" ? "nobody came later, or nobody had to be waited for" : "no message arrives here");
}

/** Selects what a reference names. */
export async function selectRef(ref: string, adds = false): Promise<void> {
  select(await getDetail("ref", { ref }), adds);
}

/** Back along a wait: to what the rank that the selected call waited for was doing meanwhile, which may be a wait itself; else to its call. */
export async function toCause(): Promise<void> {
  const from = current();
  if (!from) return say("nothing is selected");
  const [wait] = from.waits;
  if (!wait) return say("this waited for nobody, as far as the trace tells");
  const cause = wait.doing?.ref ?? wait.call;
  if (cause === null) return say(`${labelOf(wait)} was computing, outside of all states`);
  await selectRef(cause);
}

/** The extent of the selected range, else of the selected drawables: in time, and in timelines where it has some. */
function selection(): { t0: number; t1: number; y0: number | null; y1: number | null } | null {
  const { range } = view.peek();
  if (range) return { ...range, y1: Math.min(range.y1, Math.max(1, timelineCount.peek())) };
  const all = selected.peek();
  if (all.length === 0) return null;
  const timelines = all.flatMap((one) => [one.timeline, one.to?.timeline ?? one.timeline]).filter((timeline) => timeline >= 0);
  return {
    t0: Math.min(...all.map((one) => Math.min(one.t0, one.t1))),
    t1: Math.max(...all.map((one) => Math.max(one.t0, one.t1))),
    y0: timelines.length > 0 ? Math.min(...timelines) : null,
    y1: timelines.length > 0 ? Math.max(...timelines) + 1 : null,
  };
}

/** The selection in the middle, at the same scale unless it is too long for it. */
export function showSelection(): void {
  const found = selection();
  if (!found) return say("nothing is selected");
  const { t0, t1 } = span.peek();
  const length = Math.max(t1 - t0, (found.t1 - found.t0) * 1.25);
  const middle = (found.t0 + found.t1) / 2;
  const onScreen = area.peek().height / now.peek().timelineHeight - pinnedTimelines.peek();
  const most = Math.max(0, timelineCount.peek() - pinnedTimelines.peek() - onScreen);
  const top = found.y0 === null ? view.peek().top : Math.min(most, Math.max(0, (found.y0 + found.y1!) / 2 - pinnedTimelines.peek() - onScreen / 2));
  change({ t0: middle - length / 2, t1: middle + length / 2, top });
}

/** The selection as the window; a selected range as the timelines, too. */
export function zoomToSelection(): void {
  const found = selection();
  if (!found) return say("nothing is selected");
  const { range } = view.peek();
  const margin = range ? 0 : (found.t1 - found.t0) * 0.1;
  const patch: Partial<View> = { t0: found.t0 - margin, t1: found.t1 + margin };
  if (range && (range.y0 > 0 || range.y1 < timelineCount.peek()) && range.y1 > range.y0) {
    patch.height = Math.min(geometry.mostTimelineHeight(extent.peek()), area.peek().height / (range.y1 - range.y0));
    patch.top = Math.max(0, range.y0 - pinnedTimelines.peek());
  }
  change({ ...patch, range: null });
}

export function cycleArrows(): void {
  const next = ARROWS[(ARROWS.indexOf(view.peek().arrows) + 1) % ARROWS.length]!;
  change({ arrows: next }, "arrows");
  say({ none: "no arrows", sel: "arrows of the selection", worst: "the worst arrows", all: "all arrows" }[next]);
}

/** Draws the critical path, or no longer. */
export function togglePath(): void {
  const isOn = !view.peek().path;
  change({ path: isOn });
  const state = waits.peek()?.state;
  say(!isOn ? "no critical path" : state === "known" ? "the critical path" : state === "unknown" ? `the critical path is ${unknownHere()}` : "the critical path, when the trace has been read");
}

/** Shows these tracks above the timelines. */
export function setTracks(tracks: readonly string[]): void {
  change({ tracks });
  say(tracks.length === 0 ? "no tracks" : `tracks: ${tracks.map((name) => titleOf(name)[0]).join(", ")}`);
}

/** Tracks: those shown at first, all, none. */
export function cycleTracks(): void {
  const all = meta.peek()?.tracks ?? [];
  if (all.length === 0) return say("the trace has nothing for tracks");
  const shown = shownTracks.peek().length;
  const first = shownOf(null, all);
  setTracks(shown === all.length ? [] : shown === 0 && first.length > 0 ? first : all);
}

/** Shows or hides kinds. */
export function setHidden(kinds: readonly number[], isHidden: boolean): void {
  const others = view.peek().hide.filter((kind) => !kinds.includes(kind));
  change({ hide: isHidden ? [...others, ...kinds].sort((a, b) => a - b) : others }, "hide");
}

export function hideCurrent(): void {
  const found = current() ?? hover.peek();
  if (!found) return say("nothing is selected");
  setHidden([found.kind], true);
  say(`${found.name} hidden`);
}

/** The timeline that keys are about: the cursor's, else that of the selection. */
function currentTimeline(): number | null {
  const timeline = cursor.peek()?.timeline ?? current()?.timeline ?? -1;
  return timeline >= 0 && timeline < timelineCount.peek() ? timeline : null;
}

/** Keeps a timeline on top, or no longer. */
export function pinTimeline(timeline = currentTimeline()): void {
  const timelines = layout.peek();
  const key = timeline === null ? undefined : timelines?.key[timeline];
  if (timeline === null || !timelines || key === undefined) return say("no timeline is chosen");
  if (key === "") return say(NOT_A_CLUSTER);
  const isPinned = timeline < timelines.pinned;
  setTimelines(withKey(view.peek().timelines, "pin", key, !isPinned));
  say(`${fullLabel(timelines, timeline)} ${isPinned ? "no longer pinned" : "pinned"}`);
}

export function hideTimeline(timeline = currentTimeline()): void {
  const timelines = layout.peek();
  const key = timeline === null ? undefined : timelines?.key[timeline];
  if (timeline === null || key === undefined) return say("no timeline is chosen");
  if (key === "") return say(NOT_A_CLUSTER);
  setTimelines(withKey(view.peek().timelines, "hide", key, true));
  say(`${fullLabel(timelines, timeline)} hidden`);
}

/** Lets another name be written for a timeline. */
export function renameTimeline(timeline = currentTimeline()): void {
  if (timeline === null) return say("no timeline is chosen");
  if (layout.peek()?.key[timeline] === "") return say(NOT_A_CLUSTER);
  reveal(timeline, span.peek().t0, span.peek().t1);
  renaming.value = timeline;
}

/** Shows a timeline in full, or no longer. */
export function toggleFull(timeline = currentTimeline()): void {
  const { full } = view.peek();
  const key = timeline === null ? undefined : layout.peek()?.key[timeline];
  if (full !== "" && (key === undefined || key === full)) return leaveFull();
  if (timeline === null) return say("no timeline is chosen");
  showInFull(timeline);
}

/** Opens or shuts the tree node of a timeline. */
export function openTimeline(isOpen: boolean, timeline = currentTimeline()): void {
  const timelines = layout.peek();
  if (!timelines || timeline === null) return say("no timeline is chosen");
  // A leaf is shut by shutting the node it is in.
  let at = timeline;
  if (!timelines.group[at] && !isOpen) {
    while (at > 0 && !(timelines.group[at] && timelines.depth[at]! < timelines.depth[timeline]!)) at--;
  }
  const key = timelines.key[at];
  const ungrouped = withoutGroup(view.peek().timelines, serverTimelines.peek()?.label[at] ?? "");
  if (isOpen && ungrouped !== view.peek().timelines && key?.startsWith("n") === false) return setTimelines(ungrouped);
  if (!timelines.group[at] || key === undefined) return say("this timeline has no others in it");
  setTimelines(withNode(view.peek().timelines, key, isOpen));
}

/** The selected range on all timelines, also on those of a layout that is not known yet. */
function onAllTimelines(): View["range"] {
  const { range } = view.peek();
  return range && { ...range, y0: 0, y1: ALL_TIMELINES };
}

/** The text of other timelines; nothing is in full any more where they are those of another line map, whose keys mean other lines. */
function otherTimelines(timelines: string): Partial<View> {
  const mapOf = (spec: string) => item(spec, "map") ?? "0";
  return mapOf(timelines) === mapOf(view.peek().timelines) ? { timelines } : { timelines, full: "" };
}

/** Other timelines. What is meant by positions means something else then, and goes: the selected range is one of all timelines. */
export function setTimelines(timelines: string, patch: Partial<View> = {}): void {
  change({ ...otherTimelines(timelines), range: onAllTimelines(), ...patch });
}

/** Timelines of the next of the file's line maps. */
export function nextMap(): void {
  const maps = meta.peek()?.maps ?? [];
  if (maps.length < 2) return say("the trace has one way to name its timelines");
  const next = (Number(item(view.peek().timelines, "map") ?? 0) + 1) % maps.length;
  setTimelines(next === 0 ? "" : `map:${next}`, { top: 0, height: 0 });
  say(`timelines by ${maps[next]?.name ?? ""}`);
}

/** Folds the tree of labels one level higher; after the highest, all of it is open. */
export function group(): void {
  const spec = view.peek().timelines;
  const columns = meta.peek()?.maps[Number(item(spec, "map") ?? 0)]?.columns.length ?? 1;
  const bare = withItem(withItem(spec, "shut", null), "open", null);
  const folded = item(spec, "fold");
  const next = folded === null ? columns - 2 : Number(folded) - 1;
  if (columns < 2) return say("timelines of this kind have no groups");
  setTimelines(withItem(bare, "fold", next < 0 ? null : String(next)), { top: 0, height: 0 });
}

export function showPanel(panel: PanelName): void {
  change({ panel });
}

/** Opens a panel, or puts it aside if it is open. */
function togglePanel(panel: PanelName): void {
  const isOpen = view.peek().panel === panel && !legendTab.peek();
  change({ panel: isOpen ? SHUT : panel });
}

export function nthPanel(nth: number): void {
  const panel = PANELS[nth];
  if (!panel) return;
  togglePanel(panel);
  document.getElementById(`tab-${panel}`)?.focus();
}

/** Keeps the selected drawables on the list of pins. */
export function pinSelection(): void {
  const { pins, sel } = view.peek();
  if (sel.length === 0) return say("nothing is selected");
  change({ pins: [...pins.filter((ref) => !sel.includes(ref)), ...sel], panel: "pins" });
  say("kept under Pins");
}

/** Takes away one thing after the other: what is said, what is measured, the range, the selection. */
export function cancel(): void {
  if (trouble.peek() !== "") trouble.value = "";
  else if (measure.peek()) measure.value = null;
  else if (view.peek().range) change({ range: null });
  else if (view.peek().sel.length > 0) change({ sel: [] });
  else if (view.peek().full !== "") leaveFull();
  else cursor.value = null;
}

/** Enter: zooms to the range, else selects what is under the cursor. */
export async function enter(): Promise<void> {
  if (view.peek().range) return zoomToSelection();
  const at = cursor.peek();
  if (!at) return zoomToSelection();
  const { t0, t1 } = span.peek();
  const dt = (t1 - t0) / Math.max(1, area.peek().width) / 2;
  const found = await getDetail("at", { t: at.t, timeline: at.timeline, dt, hide: view.peek().hide.join(",") });
  if (!found) return say("nothing here");
  if (found.ref === view.peek().sel.at(-1)) zoomToSelection();
  else select(found);
}

/** All timelines of the window as the selected range. */
export function selectWindow(): void {
  change({ range: { ...span.peek(), y0: 0, y1: Math.max(1, timelineCount.peek()) } });
  say("the window is selected");
}

/** Puts the address of the view into the clipboard. */
export async function copyLink(): Promise<void> {
  const link = `${location.href.split("#")[0] ?? ""}#${encode(view.peek())}`;
  try {
    await navigator.clipboard.writeText(link);
    say("link copied");
  } catch {
    trouble.value = `This browser does not let pages copy. The link: ${link}`;
  }
}

/**
 * What a finding leads to; one of the selected range leaves that selected, on all timelines. A search for what it is made of makes the next and the
 * previous of these the hits that keys go to.
 */
export async function goTo(target: FindingTarget, { keepsRange = false, query = "" } = {}): Promise<void> {
  const patch: Partial<View> = {};
  if (target.timelines !== undefined && target.timelines !== null) Object.assign(patch, { ...otherTimelines(target.timelines), top: 0, height: geometry.heightWithPinned(keysOf(item(target.timelines, "pin")).length, timelineCount.peek(), area.peek().height) });
  if (typeof target.t0 === "number" && typeof target.t1 === "number" && target.t0 < target.t1) {
    patch.t0 = target.t0;
    patch.t1 = target.t1;
  }
  if (target.sel) patch.sel = [target.sel];
  if (query !== "") patch.query = query;
  const panel = PANELS.find((one) => one === target.panel);
  if (panel) patch.panel = panel;
  change({ range: keepsRange ? onAllTimelines() : null, ...patch });
  if (!target.sel) return;
  const found = await getDetail("ref", { ref: target.sel });
  if (found && found.timeline >= 0) {
    cursor.value = { timeline: found.timeline, t: found.t0 };
    reveal(found.timeline, found.t0, found.t1);
    say(describe(found));
  }
}
