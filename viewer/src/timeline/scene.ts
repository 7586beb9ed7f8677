// Draws the timeline: pictures of cells and states as they are or scaled, and on them everything with letters and lines. All
// in one canvas: each further one would be laid over the page at every frame, which costs more than drawing it.

import { axis, duration, instant } from "../axis";
import type { DrawableDetail, PathAnswer } from "../answers";
import { css, mix } from "../color";
import { heightOf, seen, xOf, yOf, pinnedHeight, type Extent, type View } from "../geometry";
import { box } from "../painter";
import type { Palette } from "../palette";
import type { FrameEvents, Frame } from "../frame";
import { drawArrows, drawChosenArrow } from "./arrows";
import { drawFlags, type Flag } from "./flags";
import { drawLetters, textWidth } from "./letters";
import { drawsArrows } from "./note";
import { drawPath } from "./path";
import type { Picture, Pictures } from "./pictures";
import { blocked, type Positions } from "./positions";

/** Time on timelines [y0, y1). */
interface Stretch {
  t0: number;
  t1: number;
  y0: number;
  y1: number;
}

/** Everything that is drawn above the pictures. */
export interface Marks {
  hover: DrawableDetail | null;
  selected: readonly DrawableDetail[];
  pins: readonly DrawableDetail[];
  cursor: { timeline: number; t: number } | null;
  range: Stretch | null;
  measure: { t0: number; t1: number } | null;
  /** Time below the pointer. */
  pointer: number | null;
  /** Names of the kinds. */
  names: readonly string[];
  path: PathAnswer | null;
  flags: readonly Flag[];
  merged: readonly boolean[];
  /** What the time axis says beside its unit. */
  scale: string;
}

const FONT = "11px system-ui, sans-serif";

export class Scene {
  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly ruler: HTMLCanvasElement,
  ) {}

  /** Fits the canvases to the page. */
  resize(width: number, height: number, rulerHeight: number, ratio: number): void {
    for (const [canvas, tall] of [[this.canvas, height], [this.ruler, rulerHeight]] as const) {
      const [w, h] = [Math.round(width * ratio), Math.round(tall * ratio)];
      if (canvas.width === w && canvas.height === h) continue;
      canvas.width = w;
      canvas.height = h;
    }
  }

  /** In memory of the page, where pictures are: without a graphics card that is where it is drawn. */
  private context(): CanvasRenderingContext2D | null {
    return this.canvas.getContext("2d", { willReadFrequently: true, alpha: false });
  }

  /** Pictures, coarse ones first. */
  drawPictures(list: readonly Picture[], pictures: Pictures, view: View, extent: Extent, palette: Palette, where: Positions, exact: boolean): void {
    const context = this.context();
    if (!context) return;
    const ratio = this.canvas.width / Math.max(1, extent.width);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = css(palette.theme.ground);
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.imageSmoothingEnabled = false;
    const split = pinnedHeight(view, extent);
    const [first, last] = seen(view, extent);
    if (extent.pinned > 0) this.drawBand(context, list, pictures, view, extent, where, 0, extent.pinned, 0, split, exact);
    this.drawBand(context, list, pictures, view, extent, where, first, last, split, extent.height, exact);
  }

  private drawBand(
    context: CanvasRenderingContext2D, list: readonly Picture[], pictures: Pictures, view: View, extent: Extent,
    where: Positions, first: number, last: number, top: number, bottom: number, exact: boolean,
  ): void {
    if (last <= first || bottom <= top) return;
    context.save();
    context.beginPath();
    context.rect(0, top, extent.width, bottom - top);
    context.clip();
    for (const picture of list) {
      const { frame, want } = picture;
      // Of pinned timelines there is a picture as high as they are, unless it has not come yet.
      const size = want.y1 <= extent.pinned ? heightOf(0, view, extent) : view.timelineHeight * want.block;
      const canvas = pictures.paint(picture, Math.max(size, want.block > 1 ? 1 : 0.25), exact && isCurrent(picture, pictures));
      if (!canvas) continue;
      // The part of the picture that is seen: timelines of the page to timelines of the picture.
      const [from, to] = [blocked(first, want.block, where), blocked(last, want.block, where)];
      const [low, high] = [Math.max(from, frame.y0), Math.min(to, frame.y0 + frame.timelines)];
      const [early, late] = [Math.max(view.t0, frame.t0), Math.min(view.t1, frame.t1)];
      if (high <= low || late <= early || to <= from) continue;
      const perTimeline = canvas.height / frame.timelines;
      const perTime = canvas.width / (frame.t1 - frame.t0);
      const yFirst = yOf(first, view, extent);
      const yPer = (yOf(last - 1, view, extent) + heightOf(last - 1, view, extent) - yFirst) / (to - from);
      context.drawImage(
        canvas,
        (early - frame.t0) * perTime, (low - frame.y0) * perTimeline, (late - early) * perTime, (high - low) * perTimeline,
        xOf(early, view, extent), yFirst + (low - from) * yPer,
        ((late - early) / (view.t1 - view.t0)) * extent.width, (high - low) * yPer,
      );
    }
    context.restore();
  }

  /** Letters, arrows, marks, on the pictures. */
  drawMarks(shown: readonly Picture[], view: View, extent: Extent, palette: Palette, where: Positions, marks: Marks): void {
    const context = this.context();
    if (!context) return;
    this.grid(context, view, extent, palette);
    const split = pinnedHeight(view, extent);
    if (marks.range) this.rangeArea(context, marks.range, view, extent, palette);
    for (const picture of shown) {
      this.banded(context, extent, split, picture, () => {
        if (picture.close) drawLetters(context, picture.frame, view, extent, palette, marks.merged, marks.names);
        if (picture.want.block === 1 && heightOf(picture.want.y0, view, extent) >= 4) {
          if (picture.frame.events) this.events(context, picture.frame, picture.frame.events, view, extent, palette);
        }
      });
    }
    this.chosen(context, view, extent, palette, marks);
    for (const picture of shown) {
      if (picture.frame.arrows && drawsArrows(picture)) drawArrows(context, picture, picture.frame.arrows, view, extent, where, palette, marks.merged);
    }
    if (marks.path) drawPath(context, marks.path, view, extent, palette);
    drawFlags(context, marks.flags, view, extent, palette);
    for (const detail of marks.selected) if (detail.topology === "arrow") drawChosenArrow(context, detail, view, extent, palette);
    this.stretches(context, view, extent, palette, marks);
    if (split > 0) {
      context.fillStyle = css(palette.theme.faint);
      context.fillRect(0, split - 1, extent.width, 1);
    }
  }

  /** Draws within the band that a picture belongs to: pinned timelines are never drawn over by others. */
  private banded(context: CanvasRenderingContext2D, extent: Extent, split: number, picture: Picture, draw: () => void): void {
    const isPinned = picture.want.y1 <= extent.pinned;
    const both = !isPinned && picture.want.y0 < extent.pinned;
    context.save();
    context.beginPath();
    if (!both) context.rect(0, isPinned ? 0 : split, extent.width, isPinned ? split : extent.height - split);
    else context.rect(0, 0, extent.width, extent.height);
    context.clip();
    draw();
    context.restore();
  }

  private grid(context: CanvasRenderingContext2D, view: View, extent: Extent, palette: Palette): void {
    context.fillStyle = css(palette.theme.text);
    context.globalAlpha = 0.09;
    for (const tick of axis(view.t0, view.t1, Math.max(2, Math.floor(extent.width / 110))).ticks) {
      if (tick.major) context.fillRect(Math.round(xOf(tick.time, view, extent)), 0, 1, extent.height);
    }
    context.globalAlpha = 1;
  }

  /** A pin on the timeline: round head, on a stalk if there is room. */
  private events(context: CanvasRenderingContext2D, frame: Frame, events: FrameEvents, view: View, extent: Extent, palette: Palette): void {
    const perSecond = extent.width / (view.t1 - view.t0);
    const byKind = new Map<number, Path2D>();
    events.time.forEach((time, nth) => {
      const timeline = events.timeline[nth] ?? 0;
      const x = (frame.t0 - view.t0 + time) * perSecond;
      const y = yOf(timeline, view, extent);
      const high = heightOf(timeline, view, extent);
      if (x < -9 || x > extent.width + 9 || y > extent.height || y + high < 0) return;
      const radius = Math.min(3.5, Math.max(1.5, high / 6));
      const kind = events.kind[nth] ?? 0;
      let path = byKind.get(kind);
      if (!path) byKind.set(kind, (path = new Path2D()));
      const bottom = y + high * 0.9;
      const head = y + radius + high * 0.08;
      path.moveTo(x + radius, head);
      path.arc(x, head, radius, 0, 7);
      path.moveTo(x, head + radius);
      path.lineTo(x, bottom);
    });
    for (const [kind, path] of byKind) {
      context.strokeStyle = css(palette.theme.ground);
      context.lineWidth = 3;
      context.stroke(path);
      context.strokeStyle = context.fillStyle = css(palette.line[kind] ?? palette.theme.text);
      context.lineWidth = 1.2;
      context.stroke(path);
      context.fill(path);
    }
  }

  /** Outlines of what is selected, pinned or under the pointer; the timeline of the keyboard. */
  private chosen(context: CanvasRenderingContext2D, view: View, extent: Extent, palette: Palette, marks: Marks): void {
    const { theme } = palette;
    if (marks.cursor && marks.cursor.timeline < extent.timelines) {
      const y = yOf(marks.cursor.timeline, view, extent);
      const high = Math.max(2, heightOf(marks.cursor.timeline, view, extent));
      context.fillStyle = css(theme.accent);
      context.globalAlpha = 0.06;
      context.fillRect(0, y, extent.width, high);
      context.globalAlpha = 0.5;
      context.fillRect(0, y - 0.5, extent.width, 1);
      context.fillRect(0, y + high - 0.5, extent.width, 1);
      context.globalAlpha = 1;
      context.fillRect(0, Math.round(y), 3, high);
      const x = xOf(marks.cursor.t, view, extent);
      if (x >= 0 && x <= extent.width) context.fillRect(Math.round(x) - 1, y, 2, high);
    }
    const outline = (detail: DrawableDetail, color: string, width: number) => {
      if (detail.timeline < 0 || detail.timeline >= extent.timelines) return;
      const y = yOf(detail.timeline, view, extent);
      const high = heightOf(detail.timeline, view, extent);
      if (y > extent.height || y + high < 0) return;
      if (detail.topology === "arrow") return;
      const [from, to] = box(0, Math.max(3, Math.round(high)), detail.topology === "state" ? detail.depth : 0);
      const x0 = Math.max(-9, xOf(detail.t0, view, extent));
      const x1 = Math.min(extent.width + 9, xOf(detail.topology === "state" ? detail.t1 : detail.t0, view, extent));
      if (x1 < -8 || x0 > extent.width + 8) return;
      const wide = Math.max(3, x1 - x0);
      const left = x1 - x0 < 3 ? (x0 + x1) / 2 - 1.5 : x0;
      context.lineJoin = "miter";
      context.strokeStyle = css(theme.ground);
      context.lineWidth = width + 2;
      context.strokeRect(left, y + from, wide, to - from);
      context.strokeStyle = color;
      context.lineWidth = width;
      context.strokeRect(left, y + from, wide, to - from);
    };
    for (const pin of marks.pins) {
      outline(pin, css(theme.hit), 1.5);
      const x = xOf(pin.t0, view, extent);
      const y = yOf(pin.timeline, view, extent);
      if (pin.timeline < 0 || x < 0 || x > extent.width) continue;
      context.fillStyle = css(theme.hit);
      context.beginPath();
      context.moveTo(x, y + 1);
      context.lineTo(x - 4, y - 6);
      context.lineTo(x + 4, y - 6);
      context.fill();
    }
    if (marks.hover) outline(marks.hover, css(mix(theme.text, theme.ground, 0.2)), 1);
    for (const detail of marks.selected) outline(detail, css(theme.accent), 2.5);
  }

  private rangeArea(context: CanvasRenderingContext2D, range: Stretch, view: View, extent: Extent, palette: Palette): void {
    const [left, top, right, bottom] = rangeBox(range, view, extent);
    context.fillStyle = css(palette.theme.accent);
    context.globalAlpha = 0.16;
    context.fillRect(left, top, right - left, bottom - top);
    context.globalAlpha = 1;
  }

  private stretches(context: CanvasRenderingContext2D, view: View, extent: Extent, palette: Palette, marks: Marks): void {
    const { theme } = palette;
    const { range, measure } = marks;
    const accent = css(theme.accent);
    if (range) {
      const [left, top, right, bottom] = rangeBox(range, view, extent);
      context.strokeStyle = accent;
      context.lineWidth = 1.5;
      context.strokeRect(left, top, right - left, bottom - top);
      this.spanLabel(context, Math.abs(range.t1 - range.t0), left, right, Math.min(Math.max(top + 12, 12), extent.height - 12), extent, palette);
    }
    if (measure) {
      const [x0, x1] = [xOf(Math.min(measure.t0, measure.t1), view, extent), xOf(Math.max(measure.t0, measure.t1), view, extent)];
      context.strokeStyle = accent;
      context.lineWidth = 1;
      context.setLineDash([4, 3]);
      context.beginPath();
      for (const x of [x0, x1]) {
        context.moveTo(x, 0);
        context.lineTo(x, extent.height);
      }
      context.stroke();
      context.setLineDash([]);
      this.spanLabel(context, Math.abs(measure.t1 - measure.t0), x0, x1, extent.height / 2, extent, palette);
    }
    if (marks.pointer !== null) {
      const x = Math.round(xOf(marks.pointer, view, extent));
      context.fillStyle = css(theme.text);
      context.globalAlpha = 0.35;
      context.fillRect(x, 0, 1, extent.height);
      context.globalAlpha = 1;
    }
  }

  /** How long a stretch is, in its middle, between two arrow heads if there is room. */
  private spanLabel(context: CanvasRenderingContext2D, seconds: number, x0: number, x1: number, y: number, extent: Extent, palette: Palette): void {
    const text = duration(seconds);
    context.font = `600 ${FONT}`;
    context.textBaseline = "middle";
    const width = context.measureText(text).width + 10;
    const x = Math.min(extent.width - width - 2, Math.max(2, (x0 + x1) / 2 - width / 2));
    const accent = css(palette.theme.accent);
    if (x1 - x0 > width + 24) {
      const path = new Path2D();
      path.moveTo(x0 + 2, y);
      path.lineTo(x - 3, y);
      path.moveTo(x + width + 3, y);
      path.lineTo(x1 - 2, y);
      for (const [tip, way] of [[x0 + 1, 1], [x1 - 1, -1]] as const) {
        path.moveTo(tip + way * 6, y - 4);
        path.lineTo(tip, y);
        path.lineTo(tip + way * 6, y + 4);
      }
      context.strokeStyle = accent;
      context.lineWidth = 1.5;
      context.stroke(path);
    }
    context.fillStyle = accent;
    context.beginPath();
    context.roundRect(x, y - 9, width, 18, 4);
    context.fill();
    context.fillStyle = css(palette.theme.ground);
    context.fillText(text, x + 5, y + 0.5);
  }

  /** The time below the pointer, and where it is written. */
  private tag(context: CanvasRenderingContext2D, view: View, extent: Extent, pointer: number | null) {
    if (pointer === null) return null;
    const text = instant(pointer, view.t1 - view.t0);
    const width = context.measureText(text).width + 10;
    const x = xOf(pointer, view, extent);
    return { text, width, x, left: Math.min(extent.width - width, Math.max(0, x - width / 2)) };
  }

  /** The time axis above the timelines. */
  drawRuler(view: View, extent: Extent, palette: Palette, marks: Marks, height: number): void {
    const context = this.ruler.getContext("2d", { alpha: false });
    if (!context) return;
    const ratio = this.ruler.width / Math.max(1, extent.width);
    const { theme } = palette;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = css(theme.ground);
    context.fillRect(0, 0, extent.width, height);
    context.font = FONT;
    context.textBaseline = "alphabetic";
    const { ticks, unit, origin } = axis(view.t0, view.t1, Math.max(2, Math.floor(extent.width / 110)));
    if (marks.range) {
      const [x0, x1] = [xOf(marks.range.t0, view, extent), xOf(marks.range.t1, view, extent)];
      context.fillStyle = css(mix(theme.ground, theme.accent, 0.3));
      context.fillRect(Math.min(x0, x1), height - 5, Math.max(1, Math.abs(x1 - x0)), 5);
    }
    const said = `${marks.scale}${marks.scale === "" ? "" : "   "}${origin ? `${origin.text} +  (${unit})` : unit}`;
    if (this.ruler.title !== marks.scale) this.ruler.title = marks.scale;
    const saidWidth = context.measureText(said).width + 14;
    const tag = this.tag(context, view, extent, marks.pointer);
    for (const { time, label, major } of ticks) {
      const x = Math.round(xOf(time, view, extent));
      context.fillStyle = css(major ? theme.faint : theme.grid);
      context.fillRect(x, height - (major ? 8 : 4), 1, major ? 8 : 4);
      if (!major || x > extent.width - saidWidth - 20) continue;
      context.fillStyle = css(theme.text);
      const width = textWidth(context, label);
      if (tag && x + width / 2 > tag.left - 4 && x - width / 2 < tag.left + tag.width + 4) continue;
      context.fillText(label, Math.max(1, x - width / 2), height - 11);
    }
    context.fillStyle = css(theme.faint);
    context.fillText(said, extent.width - saidWidth + 8, height - 11);
    context.fillStyle = css(theme.grid);
    context.fillRect(0, height - 1, extent.width, 1);
    if (!tag) return;
    const { text, left, width, x } = tag;
    context.fillStyle = css(theme.text);
    context.beginPath();
    context.roundRect(left, 4, width, 18, 4);
    context.fill();
    context.fillRect(Math.round(x), 20, 1, height - 20);
    context.fillStyle = css(theme.ground);
    context.fillText(text, left + 5, 17);
  }
}

function isCurrent(picture: Picture, pictures: Pictures): boolean {
  return picture === pictures.shown.get("main") || picture === pictures.shown.get("pinned");
}

function rangeBox(range: Stretch, view: View, extent: Extent): [number, number, number, number] {
  const [x0, x1] = [xOf(range.t0, view, extent), xOf(range.t1, view, extent)];
  const top = Math.max(-2, yOf(range.y0, view, extent));
  const last = Math.max(range.y0, range.y1 - 1);
  const bottom = Math.min(extent.height + 2, yOf(last, view, extent) + heightOf(last, view, extent));
  return [Math.max(-2, Math.min(x0, x1)), top, Math.min(extent.width + 2, Math.max(x0, x1)), bottom];
}
