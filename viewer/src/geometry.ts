// The window that is looked at, as numbers: time and timelines to pixels and back, zooming, panning, bounds. Pure.

/** What is looked at. Time in seconds; timelines as layout positions among those that are not pinned. */
export interface View {
  t0: number;
  t1: number;
  /** The first timeline below the pinned ones, not necessarily a whole number. */
  top: number;
  /** Pixels of the page. */
  timelineHeight: number;
}

/** What there is to be looked at, and how much room. */
export interface Extent {
  t0: number;
  t1: number;
  /** Timelines, the pinned ones among them. */
  timelines: number;
  pinned: number;
  /** Pixels of the page. */
  width: number;
  height: number;
}

/** Timelines are no higher than this unless that is asked for, however few they are. */
const HOME_TIMELINE_HEIGHT = 160;

/** Timelines may be made so high that one fills the page; where some are pinned, that all of these are seen and one below them. */
export function mostTimelineHeight(extent: Extent): number {
  if (extent.pinned === 0) return Math.max(64, extent.height);
  return Math.max(1, extent.height) / Math.min(extent.pinned + 1, Math.max(1, extent.timelines));
}

/** Timelines are at least so high when a trace is opened, if all fit. */
export const GOOD_TIMELINE_HEIGHT = 22;
/** Pinned timelines that are lower cannot be told from others. */
const LEAST_PINNED_HEIGHT = 8;

/** The height of timelines at which so many pinned ones can be seen: 0, at which all timelines fit, unless they would be next to nothing then. */
export function heightWithPinned(pinned: number, timelines: number, height: number): number {
  return pinned > 0 && height / Math.max(1, timelines) < LEAST_PINNED_HEIGHT ? GOOD_TIMELINE_HEIGHT : 0;
}

/** The shortest window: what a double tells apart at the trace's times, but no less than 10 ps. */
function leastSpan(extent: Extent): number {
  const largest = Math.max(Math.abs(extent.t0), Math.abs(extent.t1), 1e-9);
  return Math.max(1e-11, largest * 2 ** -44);
}

/** Zooming in time is done in such steps, so that windows come again. */
export const STEP = 2 ** 0.25;

/** The height that pinned timelines have at least, so that it is seen what they are pinned for: together no more than half of the page. */
function leastPinnedHeight({ pinned, height }: Extent): number {
  return Math.min(GOOD_TIMELINE_HEIGHT, height / 2 / Math.max(1, pinned));
}

/** Pixels of a timeline: pinned ones stay high however low the others are. */
export function heightOf(timeline: number, view: View, extent: Extent): number {
  return timeline < extent.pinned ? Math.max(view.timelineHeight, leastPinnedHeight(extent)) : view.timelineHeight;
}

/** Pixels of the pinned timelines. */
export function pinnedHeight(view: View, extent: Extent): number {
  return Math.min(extent.pinned * heightOf(0, view, extent), extent.height);
}

/** All of the trace. */
export function home(extent: Extent): View {
  const timelineHeight = Math.min(HOME_TIMELINE_HEIGHT, fittingHeight(extent));
  return { t0: extent.t0, t1: extent.t1, top: 0, timelineHeight };
}

/** Timeline height at which all timelines just fit. */
function fittingHeight({ pinned, ...extent }: Extent): number {
  const height = Math.max(1, extent.height);
  const equal = height / Math.max(1, extent.timelines);
  const least = pinned > 0 ? leastPinnedHeight({ ...extent, pinned }) : 0;
  return equal >= least ? equal : (height - pinned * least) / Math.max(1, extent.timelines - pinned);
}

/** Timelines are no lower than this height, at which all fit. */
function leastTimelineHeight(extent: Extent): number {
  return Math.min(12, fittingHeight(extent));
}

/** The nearest view that lies within the bounds. A little emptiness beside the trace is allowed, as margin of `slack` spans. */
export function clamp(view: View, extent: Extent, slack = 0): View {
  const whole = Math.max(extent.t1 - extent.t0, leastSpan(extent));
  const asked = view.t1 - view.t0;
  const span = Number.isFinite(asked) ? Math.min(whole, Math.max(leastSpan(extent), asked)) : whole;
  const free = span * slack;
  const middle = Number.isFinite(view.t0 + view.t1) ? (view.t0 + view.t1) / 2 : extent.t0;
  let t0 = asked === span ? view.t0 : middle - span / 2;
  t0 = Math.max(extent.t0 - free, Math.min(t0, extent.t0 + whole + free - span));
  const timelineHeight = Math.min(mostTimelineHeight(extent), Math.max(leastTimelineHeight(extent), view.timelineHeight || GOOD_TIMELINE_HEIGHT));
  const room = (extent.height - pinnedHeight({ ...view, timelineHeight }, extent)) / timelineHeight;
  const top = Math.max(0, Math.min(view.top || 0, extent.timelines - extent.pinned - room));
  return { t0, t1: t0 + span, top, timelineHeight };
}

export function timeAt(x: number, view: View, extent: Extent): number {
  return view.t0 + (x / Math.max(1, extent.width)) * (view.t1 - view.t0);
}

export function xOf(time: number, view: View, extent: Extent): number {
  return ((time - view.t0) / (view.t1 - view.t0)) * extent.width;
}

/** Upper edge of a timeline. */
export function yOf(timeline: number, view: View, extent: Extent): number {
  if (timeline < extent.pinned) return timeline * heightOf(timeline, view, extent);
  return pinnedHeight(view, extent) + (timeline - extent.pinned - view.top) * view.timelineHeight;
}

/** The timeline at a height, or −1 below the last. */
export function timelineAt(y: number, view: View, extent: Extent): number {
  const pinned = pinnedHeight(view, extent);
  const timeline = y < pinned ? Math.floor(y / heightOf(0, view, extent)) : extent.pinned + Math.floor(view.top + (y - pinned) / view.timelineHeight);
  return y < 0 || timeline < 0 || timeline >= extent.timelines ? -1 : timeline;
}

/** The timelines [first, last) that are seen below the pinned ones. */
export function seen(view: View, extent: Extent): [number, number] {
  const room = (extent.height - pinnedHeight(view, extent)) / view.timelineHeight;
  const first = extent.pinned + Math.floor(view.top);
  return [Math.min(first, extent.timelines), Math.min(extent.timelines, extent.pinned + Math.ceil(view.top + room))];
}

/** Zooms so that the time below `x` stays where it is; `factor` above 1 shows less. */
export function zoomTime(view: View, extent: Extent, factor: number, x: number): View {
  const whole = extent.t1 - extent.t0;
  const span = Math.min(whole, Math.max(leastSpan(extent), (view.t1 - view.t0) / factor));
  const part = x / Math.max(1, extent.width);
  const t0 = timeAt(x, view, extent) - part * span;
  return clamp({ ...view, t0, t1: t0 + span }, extent);
}

export function panTime(view: View, extent: Extent, pixels: number): View {
  const by = (pixels / Math.max(1, extent.width)) * (view.t1 - view.t0);
  return clamp({ ...view, t0: view.t0 + by, t1: view.t1 + by }, extent);
}

export function zoomTimelines(view: View, extent: Extent, factor: number, y: number): View {
  const before = pinnedHeight(view, extent);
  const below = view.top + Math.max(0, y - before) / view.timelineHeight;
  const timelineHeight = Math.min(mostTimelineHeight(extent), Math.max(leastTimelineHeight(extent), view.timelineHeight * factor));
  const after = pinnedHeight({ ...view, timelineHeight }, extent);
  return clamp({ ...view, timelineHeight, top: below - Math.max(0, y - after) / timelineHeight }, extent);
}

export function scrollTimelines(view: View, extent: Extent, pixels: number): View {
  return clamp({ ...view, top: view.top + pixels / view.timelineHeight }, extent);
}

/** A view in which this timeline is seen, with a margin of one timeline if there is room. */
export function reveal(view: View, extent: Extent, timeline: number): View {
  if (timeline < extent.pinned) return view;
  const at = timeline - extent.pinned;
  const room = (extent.height - pinnedHeight(view, extent)) / view.timelineHeight;
  const margin = room > 4 ? 1 : 0;
  if (at - margin < view.top) return clamp({ ...view, top: at - margin }, extent);
  if (at + 1 + margin > view.top + room) return clamp({ ...view, top: at + 1 + margin - room }, extent);
  return view;
}

/** How many neighbouring timelines are asked for as one, so that they are at least a pixel high: a power of two. */
export function blockOf(timelineHeight: number): number {
  let block = 1;
  while (block * timelineHeight < 0.999 && block < 1 << 20) block *= 2;
  return block;
}
