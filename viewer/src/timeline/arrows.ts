// Messages as lines with heads: all of a picture, the selected one, and which one is under the pointer.

import type { DrawableDetail } from "../answers";
import { css } from "../color";
import { heightOf, xOf, yOf, type Extent, type View } from "../geometry";
import type { Palette } from "../palette";
import { BACKWARD, BUNDLE } from "../answers";
import type { FrameArrows } from "../frame";
import type { Picture } from "./pictures";
import { unblocked, type Positions } from "./positions";

/** Pixels of the bundle with most bytes. */
const WIDEST = 9;

/** Several messages that are drawn as one. */
export interface Bundle {
  topology: "bundle";
  kind: number;
  count: number;
  bytes: number;
  /** Seconds, and of all of them about: when they are sent and when they arrive. */
  sent: number;
  arrived: number;
  backward: boolean;
}

export function drawArrows(
  context: CanvasRenderingContext2D, { frame, want: { block } }: Picture, arrows: FrameArrows, view: View, extent: Extent, where: Positions,
  palette: Palette, merged: readonly boolean[],
): void {
  const perSecond = extent.width / (view.t1 - view.t0);
  const groups = new Map<string, { path: Path2D; heads: Path2D; kind: number; backward: boolean; width: number }>();
  const middle = middles(block, view, extent, where);
  const widthOf = widths(arrows);
  // Many of them are drawn fainter and with smaller heads, so that what is below can still be seen.
  const isCrowded = arrows.from.length > 80;
  const strength = arrows.from.length > 500 ? 0.4 : isCrowded ? 0.65 : 1;
  for (let nth = 0; nth < arrows.from.length; nth++) {
    const offset = frame.t0 - view.t0;
    const x0 = (offset + (arrows.from[nth] ?? 0)) * perSecond;
    const x1 = (offset + (arrows.to[nth] ?? 0)) * perSecond;
    const [y0, y1] = [middle(arrows.timelineFrom[nth] ?? 0), middle(arrows.timelineTo[nth] ?? 0)];
    if (isWithin(arrows, nth, block, merged)) continue;
    if (Math.max(x0, x1) < 0 || Math.min(x0, x1) > extent.width) continue;
    if (Math.max(y0, y1) < 0 || Math.min(y0, y1) > extent.height) continue;
    const flags = arrows.flags[nth] ?? 0;
    const kind = arrows.kind[nth] ?? 0;
    const backward = (flags & BACKWARD) !== 0;
    const width = widthOf(nth);
    const key = `${kind}/${backward}/${width}`;
    let group = groups.get(key);
    if (!group) groups.set(key, (group = { path: new Path2D(), heads: new Path2D(), kind, backward, width }));
    const [ax, ay, bx, by] = shortened(x0, y0, x1, y1, extent);
    group.path.moveTo(ax, ay);
    group.path.lineTo(bx, by);
    head(group.heads, x0, y0, x1, y1, (isCrowded ? 4 : 6) + width, extent);
  }
  for (const { path, heads, kind, backward, width } of groups.values()) {
    const color = css(backward ? palette.theme.alarm : (palette.line[kind] ?? palette.theme.text));
    context.lineJoin = "round";
    // A casing, so that the line is seen on states of its own colour.
    context.strokeStyle = css(palette.theme.ground);
    context.globalAlpha = isCrowded ? 0.3 : 0.8;
    context.lineWidth = width + 1.6;
    context.stroke(path);
    context.stroke(heads);
    context.globalAlpha = backward ? 1 : strength;
    context.strokeStyle = context.fillStyle = color;
    context.lineWidth = width;
    context.setLineDash(backward ? [6, 3] : []);
    context.stroke(path);
    context.setLineDash([]);
    context.fill(heads);
    context.globalAlpha = 1;
  }
}

/** The middle of a timeline of a picture. */
function middles(block: number, view: View, extent: Extent, where: Positions): (timeline: number) => number {
  return (timeline) => (block > 1 ? yOf(unblocked(timeline + 0.5, block, where), view, extent) : yOf(timeline, view, extent) + heightOf(timeline, view, extent) / 2);
}

/** Bundles are as wide as their bytes, or where there are none, their messages. */
function widths({ bytes, count }: FrameArrows): (nth: number) => number {
  const weights: ArrayLike<number> | null = bytes?.some((size) => size > 0) ? bytes : count;
  if (!weights) return () => 1;
  const most = Array.from(weights).reduce((all, one) => Math.max(all, one), 1);
  return (nth) => Math.round((1 + (WIDEST - 1) * Math.sqrt((weights[nth] ?? 0) / most)) * 2) / 2;
}

/** Whether an arrow stays within a timeline that stands for many lines: it would only cover it, and is not drawn. */
function isWithin({ timelineFrom, timelineTo }: FrameArrows, nth: number, block: number, merged: readonly boolean[]): boolean {
  return timelineFrom[nth] === timelineTo[nth] && (block > 1 || (merged[timelineFrom[nth] ?? 0] ?? true));
}

export function drawChosenArrow(context: CanvasRenderingContext2D, detail: DrawableDetail, view: View, extent: Extent, palette: Palette): void {
  if (!detail.to || detail.timeline < 0 || detail.to.timeline < 0) return;
  const middle = (timeline: number) => yOf(timeline, view, extent) + heightOf(timeline, view, extent) / 2;
  const [x0, x1] = [xOf(detail.t0, view, extent), xOf(detail.to.t, view, extent)];
  const [y0, y1] = [middle(detail.timeline), middle(detail.to.timeline)];
  const [path, heads] = [new Path2D(), new Path2D()];
  const [ax, ay, bx, by] = shortened(x0, y0, x1, y1, extent);
  path.moveTo(ax, ay);
  path.lineTo(bx, by);
  head(heads, x0, y0, x1, y1, 10, extent);
  context.strokeStyle = css(palette.theme.ground);
  context.lineWidth = 6;
  context.stroke(path);
  context.stroke(heads);
  context.strokeStyle = context.fillStyle = css(palette.theme.accent);
  context.lineWidth = 2.5;
  context.stroke(path);
  context.fill(heads);
}

/** A line cut off well outside the page, where canvases lose precision. */
function shortened(x0: number, y0: number, x1: number, y1: number, extent: Extent): [number, number, number, number] {
  const far = 4000;
  const cut = (x: number, y: number, ox: number, oy: number): [number, number] => {
    const bound = Math.max(-far, Math.min(x, extent.width + far));
    if (bound === x || ox === x) return [x, y];
    return [bound, y + ((oy - y) * (bound - x)) / (ox - x)];
  };
  return [...cut(x0, y0, x1, y1), ...cut(x1, y1, x0, y0)];
}

function head(path: Path2D, x0: number, y0: number, x1: number, y1: number, size: number, extent: Extent): void {
  if (x1 < -20 || x1 > extent.width + 20) return;
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 3) return;
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const long = Math.min(size, length * 0.7);
  const half = long * 0.38;
  path.moveTo(x1, y1);
  path.lineTo(x1 - ux * long - uy * half, y1 - uy * long + ux * half);
  path.lineTo(x1 - ux * long + uy * half, y1 - uy * long - ux * half);
  path.closePath();
}

/** How far a point is from a line. */
function distance(x: number, y: number, x0: number, y0: number, x1: number, y1: number): number {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const part = Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / Math.max(1e-9, dx * dx + dy * dy)));
  return Math.hypot(x0 + part * dx - x, y0 + part * dy - y);
}

/** The bundle of a picture that lies below a point. */
export function bundleAt(
  { frame: { arrows, t0 }, want: { block } }: Picture, x: number, y: number, view: View, extent: Extent, where: Positions,
  merged: readonly boolean[],
): Bundle | null {
  if (!arrows?.count) return null;
  const perSecond = extent.width / (view.t1 - view.t0);
  const [middle, widthOf] = [middles(block, view, extent, where), widths(arrows)];
  let best = Infinity;
  let found: Bundle | null = null;
  for (let nth = 0; nth < arrows.from.length; nth++) {
    const flags = arrows.flags[nth] ?? 0;
    if (!(flags & BUNDLE) || isWithin(arrows, nth, block, merged)) continue;
    const [sent, arrived] = [t0 + (arrows.from[nth] ?? 0), t0 + (arrows.to[nth] ?? 0)];
    const [x0, x1] = [(sent - view.t0) * perSecond, (arrived - view.t0) * perSecond];
    const far = distance(x, y, x0, middle(arrows.timelineFrom[nth] ?? 0), x1, middle(arrows.timelineTo[nth] ?? 0));
    if (far >= best || far > widthOf(nth) / 2 + 2) continue;
    const [kind, count, bytes] = [arrows.kind[nth] ?? 0, arrows.count[nth] ?? 0, arrows.bytes?.[nth] ?? 0];
    best = far;
    found = { topology: "bundle", kind, count, bytes, sent, arrived, backward: (flags & BACKWARD) !== 0 };
  }
  return found;
}

/** What of a picture's arrows and events lies within some pixels of a point: for the pointer. */
export function nearest(
  picture: Picture, x: number, y: number, view: View, extent: Extent,
): { timeline: number; t: number; topology: "arrow" | "event" } | null {
  const { frame } = picture;
  const perSecond = extent.width / (view.t1 - view.t0);
  const offset = frame.t0 - view.t0;
  if (picture.want.block > 1) return null;
  let best = 5;
  let found: ReturnType<typeof nearest> = null;
  const { events, arrows } = frame;
  if (events && heightOf(picture.want.y0, view, extent) >= 4) {
    events.time.forEach((time, nth) => {
      const timeline = events.timeline[nth] ?? 0;
      const top = yOf(timeline, view, extent);
      if (y < top || y > top + heightOf(timeline, view, extent) * 0.5) return;
      const far = Math.abs((offset + time) * perSecond - x);
      if (far < best) [best, found] = [far, { timeline, t: frame.t0 + time, topology: "event" }];
    });
  }
  if (arrows) {
    const middle = (timeline: number) => yOf(timeline, view, extent) + heightOf(timeline, view, extent) / 2;
    for (let nth = 0; nth < arrows.from.length; nth++) {
      if ((arrows.flags[nth] ?? 0) & BUNDLE) continue;
      const x0 = (offset + (arrows.from[nth] ?? 0)) * perSecond;
      const x1 = (offset + (arrows.to[nth] ?? 0)) * perSecond;
      if (Math.max(x0, x1) < x - 6 || Math.min(x0, x1) > x + 6) continue;
      const timeline = arrows.timelineFrom[nth] ?? 0;
      const [y0, y1] = [middle(timeline), middle(arrows.timelineTo[nth] ?? 0)];
      const far = distance(x, y, x0, y0, x1, y1);
      if (far < best) [best, found] = [far, { timeline, t: frame.t0 + (arrows.from[nth] ?? 0), topology: "arrow" }];
    }
  }
  return found;
}
