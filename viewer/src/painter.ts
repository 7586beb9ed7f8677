// Bytes of a frame and a palette to pixels: a pure function, so that a picture is the same everywhere, tests included.
// The painter knows neither canvas nor clock. Letters, arrows and marks are drawn over it by the browser.

import { HATCH, patterned, SHADES, type Palette } from "./palette";
import { pack, mix, unpack } from "./color";
import type { Frame, FrameWaits } from "./frame";

/** How coarse cells are drawn; `dominant` shows shares, too, where timelines are high enough and the frame has them. */
export type CellMode = "dominant" | "rare" | "heat" | "stack";

export interface Shot {
  /** Pixels of the target. */
  width: number;
  height: number;
  /** Pixels of a timeline of the frame, not necessarily a whole number. */
  timelineHeight: number;
  /** How many pixels of the target make one of the page. */
  unit: number;
  mode: CellMode;
  /** Timelines of the frame that stand for several lines: their states are no nest, so cells are drawn. */
  merged: (timeline: number) => boolean;
}

/** Share of the height of a timeline that its outermost states have, and of a state that those inside it have. */
const OUTER = 0.9;
const NESTED = 0.8;
/** Timelines of at least so many pixels of the page show states, outlines, stacked shares. */
const LEAST_STATES = 6;
export const LEAST_STACK = 24;
const LEAST_OUTLINE = 5;
const LEAST_WIDTH = 7;
/** Pixels of the page of the shortest wait that is hatched; shorter ones have the colour of the hatch. */
const LEAST_WAIT = 4;
/** The least part of a pixel that a state shorter than a pixel covers. */
const LEAST_COVER = 0.3;
/** Differences inside a timeline that are not hatched. */
const LEAST_SPREAD = 48;

/** First pixel of a timeline that is so many timelines below the first. */
function timelineTop(timeline: number, timelineHeight: number): number {
  return Math.round(timeline * timelineHeight);
}

/** The pixels [top, bottom) of the states at this depth in a timeline of pixels [top, bottom). */
export function box(top: number, bottom: number, depth: number): [number, number] {
  const whole = bottom - top;
  if (whole < 4) return [top, bottom];
  const height = Math.max(2, Math.round(whole * OUTER * NESTED ** depth));
  const from = top + Math.floor((whole - height) / 2);
  return [from, from + height];
}

/** Whether the frame's states are drawn in timelines of this height, or its cells. Shares and heat are told by cells only. */
export function showsStates(frame: Frame, timelineHeight: number, unit: number, mode: CellMode): boolean {
  return frame.states !== null && timelineHeight >= LEAST_STATES * unit && (mode === "dominant" || mode === "rare");
}

/** Paints a frame: every pixel of the target is written. */
export function paint(frame: Frame, palette: Palette, shot: Shot, target: Uint32Array): void {
  const [ground, empty] = [pack(palette.theme.ground), pack(palette.theme.timeline)];
  const close = showsStates(frame, shot.timelineHeight, shot.unit, shot.mode);
  const { width } = shot;
  // Each pixel is written once, states apart.
  let done = 0;
  for (let timeline = 0; timeline < frame.timelines; timeline++) {
    const top = timelineTop(timeline, shot.timelineHeight);
    const bottom = Math.min(timelineTop(timeline + 1, shot.timelineHeight), shot.height);
    if (top >= shot.height) break;
    const [from, to] = box(top, bottom, 0);
    target.fill(ground, done * width, from * width);
    if (!close || shot.merged(frame.y0 + timeline)) paintCells(frame, palette, shot, target, timeline, from, to);
    else target.fill(empty, from * width, to * width);
    done = to;
  }
  target.fill(ground, done * width, shot.height * width);
  if (close) paintStates(frame, palette, shot, target);
  const { hits } = frame.cells;
  if (hits) paintHits(hits, frame, palette, shot, target);
}

function paintCells(
  frame: Frame, palette: Palette, shot: Shot, target: Uint32Array, timeline: number, from: number, to: number,
): void {
  const { category, busy, deviation, events, share1 } = frame.cells;
  const { width, unit } = shot;
  if (to <= from) return;
  if (!category) {
    target.fill(pack(palette.theme.timeline), from * width, to * width);
    return;
  }
  const first = timeline * frame.columns;
  const table = shot.mode === "heat" ? palette.heat : palette.shades;
  const heat = shot.mode === "heat";
  const line = target.subarray(from * width, (from + 1) * width);
  const most = palette.fill.length;
  // The loop over all cells of a picture: indices are in bounds, so nothing is asked twice.
  for (let x = 0; x < width; x++) {
    const cell = first + (width === frame.columns ? x : column(x, width, frame.columns));
    const shade = busy ? (SHADE[busy[cell] as number] as number) : SHADES - 1;
    const kind = category[cell] as number;
    line[x] = table[heat ? shade : Math.min(kind, most) * SHADES + shade] as number;
  }
  for (let y = from + 1; y < to; y++) target.copyWithin(y * width, from * width, (from + 1) * width);
  if ((shot.mode === "stack" || shot.mode === "dominant") && share1 && to - from >= LEAST_STACK * OUTER * unit) {
    paintStacks(frame, palette, shot, target, first, from, to);
  }
  if (deviation && to - from >= 3) hatchSpread(deviation, frame, palette, shot, target, first, from, to);
  const small = to - from < 6 * unit;
  if (events && !small) mark(events, frame, shot, target, first, from, from + 2 * unit, pack(palette.theme.text));
}

function column(x: number, width: number, columns: number): number {
  return width === columns ? x : Math.floor((x * columns) / width);
}

/** The shade of a share × 255. */
export function shadeOf(share: number): number {
  return (share * (SHADES - 1) + 127) / 255 | 0;
}

const SHADE = Uint8Array.from({ length: 256 }, (_, share) => shadeOf(share));

/** Shares of the three largest categories, one on the other from the base of the timeline. */
function paintStacks(
  frame: Frame, palette: Palette, shot: Shot, target: Uint32Array, first: number, from: number, to: number,
): void {
  const { category, second, third, share1, share2, share3 } = frame.cells;
  const timeline = pack(palette.theme.timeline);
  const height = to - from;
  for (let x = 0; x < shot.width; x++) {
    const cell = first + column(x, shot.width, frame.columns);
    let sum = 0;
    let base = to;
    const parts = [[category, share1], [second, share2], [third, share3]] as const;
    for (const [kinds, shares] of parts) {
      const kind = kinds?.[cell] ?? 0;
      if (kind === 0) continue;
      sum = Math.min(255, sum + (shares?.[cell] ?? 0));
      const upper = to - Math.round((height * sum) / 255);
      const word = palette.shades[Math.min(kind, palette.fill.length) * SHADES + SHADES - 1] ?? timeline;
      for (let y = upper; y < base; y++) target[y * shot.width + x] = word;
      base = upper;
    }
    for (let y = from; y < base; y++) target[y * shot.width + x] = timeline;
  }
}

/** Where the lines of a timeline differ, it is hatched towards the theme's text, the more the more they do. */
function hatchSpread(
  deviation: Uint8Array, frame: Frame, palette: Palette, shot: Shot, target: Uint32Array, first: number, from: number, to: number,
): void {
  const text = palette.theme.text;
  for (let x = 0; x < shot.width; x++) {
    const differs = deviation[first + column(x, shot.width, frame.columns)] ?? 0;
    if (differs < LEAST_SPREAD) continue;
    for (let y = from; y < to; y++) {
      if (!patterned(2, x, y, shot.unit)) continue;
      const at = y * shot.width + x;
      target[at] = pack(mix(unpack(target[at] ?? 0), text, 0.15 + 0.35 * (differs / 255)));
    }
  }
}

/** Ticks of hits at the base of each timeline, wide enough to be seen and set off from states; low timelines have them in all of their height. */
function paintHits(hits: Uint8Array, frame: Frame, palette: Palette, shot: Shot, target: Uint32Array): void {
  const { width, unit } = shot;
  const side = Math.floor(unit);
  for (let timeline = 0; timeline < frame.timelines; timeline++) {
    const top = timelineTop(timeline, shot.timelineHeight);
    if (top >= shot.height) break;
    const [from, to] = box(top, Math.min(timelineTop(timeline + 1, shot.timelineHeight), shot.height), 0);
    const upper = hitTop(from, to, unit);
    for (const [word, reach] of [[pack(palette.theme.ground), 2 * side], [pack(palette.theme.hit), side]] as const) {
      for (let x = 0; x < width; x++) {
        if (!hits[timeline * frame.columns + column(x, width, frame.columns)]) continue;
        for (let y = upper; y < to; y++) target.fill(word, y * width + Math.max(0, x - reach), y * width + Math.min(width, x + reach + 1));
      }
    }
  }
}

/** The first pixel of the ticks in a timeline of pixels [from, to). */
function hitTop(from: number, to: number, unit: number): number {
  const whole = to - from;
  return whole < 6 * unit ? from : to - Math.max(Math.round(4 * unit), Math.round(whole * 0.3));
}

function mark(
  channel: Uint8Array, frame: Frame, shot: Shot, target: Uint32Array, first: number, from: number, to: number, word: number,
): void {
  for (let x = 0; x < shot.width; x++) {
    if (!channel[first + column(x, shot.width, frame.columns)]) continue;
    for (let y = from; y < to; y++) target[y * shot.width + x] = word;
  }
}

/** States by depth, so that inner ones lie on outer ones whatever their order in the frame. */
function paintStates(frame: Frame, palette: Palette, shot: Shot, target: Uint32Array): void {
  const states = frame.states;
  if (!states) return;
  const order = byDepth(states.depth);
  const first = frame.waits && firstWaits(frame.waits, states.depth.length);
  const scale = shot.width / (frame.t1 - frame.t0);
  for (const nth of order) {
    const timeline = (states.timeline[nth] ?? 0) - frame.y0;
    if (timeline < 0 || timeline >= frame.timelines || shot.merged(timeline + frame.y0)) continue;
    const top = timelineTop(timeline, shot.timelineHeight);
    const bottom = Math.min(timelineTop(timeline + 1, shot.timelineHeight), shot.height);
    const [from, to] = box(top, bottom, states.depth[nth] ?? 0);
    const start = states.start[nth] ?? 0;
    const x0 = start * scale;
    const x1 = (start + (states.duration[nth] ?? 0)) * scale;
    const wait = (first?.[nth] ?? -1) >= 0 ? { waits: frame.waits!, first: first![nth]!, scale } : null;
    paintState(palette, shot, target, states.kind[nth] ?? 0, x0, x1, from, Math.min(to, bottom), wait);
  }
}

/** By state, the number of its first wait, or −1. */
function firstWaits(waits: FrameWaits, states: number): Int32Array {
  const first = new Int32Array(states).fill(-1);
  for (let nth = waits.state.length - 1; nth >= 0; nth--) first[waits.state[nth]!] = nth;
  return first;
}

/** The waits of a state, and pixels per second. */
interface WaitsOfState {
  waits: FrameWaits;
  first: number;
  scale: number;
}

/** Positions of the states, those of the least depth first, else in the frame's order. */
function byDepth(depth: Uint16Array): Uint32Array {
  let deepest = 0;
  for (const value of depth) if (value > deepest) deepest = value;
  const begin = new Uint32Array(deepest + 2);
  for (const value of depth) begin[value + 1] = (begin[value + 1] ?? 0) + 1;
  for (let nth = 1; nth < begin.length; nth++) begin[nth] = (begin[nth] ?? 0) + (begin[nth - 1] ?? 0);
  const order = new Uint32Array(depth.length);
  depth.forEach((value, nth) => {
    const at = begin[value] ?? 0;
    order[at] = nth;
    begin[value] = at + 1;
  });
  return order;
}

function paintState(
  palette: Palette, shot: Shot, target: Uint32Array, kind: number, x0: number, x1: number, from: number, to: number,
  wait: WaitsOfState | null,
): void {
  const { width, unit } = shot;
  const fill = palette.fill[kind] ?? palette.theme.faint;
  const left = Math.max(0, Math.round(x0));
  const right = Math.min(width, Math.round(x1));
  if (right <= left) {
    thinState(shot, target, fill, x0, x1, from, to);
    return;
  }
  const word = pack(fill);
  for (let y = from; y < to; y++) target.fill(word, y * width + left, y * width + right);
  const pattern = palette.pattern[kind] ?? 0;
  const roomy = to - from >= LEAST_OUTLINE * unit;
  if (pattern && roomy && x1 - x0 >= 3 * unit) {
    const over = pack(mix(fill, palette.ink[kind] ?? 0, 0.45));
    for (let y = from; y < to; y++) {
      for (let x = left; x < right; x++) if (patterned(pattern, x, y, unit)) target[y * width + x] = over;
    }
  }
  if (wait && roomy) hatchWaits(wait, shot, target, [pack(palette.hatched[kind] ?? 0), pack(palette.hatch[kind] ?? 0)], left, right, from, to);
  // The outline tells neighbours of the same or of a similar colour apart.
  if (!roomy || x1 - x0 < LEAST_WIDTH * unit) return;
  const edge = pack(palette.edge[kind] ?? 0);
  const thick = Math.max(1, Math.round(unit));
  for (let y = from; y < to; y++) {
    if (x0 >= 0) target.fill(edge, y * width + left, y * width + Math.min(right, left + thick));
    if (Math.round(x1) <= width) target.fill(edge, y * width + Math.max(left, right - thick), y * width + right);
    if (y < from + thick || y >= to - thick) target.fill(edge, y * width + left, y * width + right);
  }
}

/** Hatches what a state of pixels [left, right) waits for; what is too short for a hatch has its colour. */
function hatchWaits(
  { waits, first, scale }: WaitsOfState, shot: Shot, target: Uint32Array, [area, lines]: readonly [number, number],
  left: number, right: number, from: number, to: number,
): void {
  const { width, unit } = shot;
  const state = waits.state[first];
  for (let nth = first; waits.state[nth] === state; nth++) {
    const [x0, x1] = [waits.begin[nth]! * scale, (waits.begin[nth]! + waits.duration[nth]!) * scale];
    const isHatched = x1 - x0 >= LEAST_WAIT * unit;
    const [early, late] = [Math.max(left, Math.round(x0)), Math.min(right, Math.round(x1))];
    for (let y = from; y < to; y++) {
      for (let x = early; x < late; x++) target[y * width + x] = !isHatched || patterned(HATCH, x, y, unit) ? lines : area;
    }
  }
}

/** A state that fills no pixel covers its part of one. */
function thinState(shot: Shot, target: Uint32Array, fill: number, x0: number, x1: number, from: number, to: number): void {
  const x = Math.floor((x0 + x1) / 2);
  if (x < 0 || x >= shot.width) return;
  const cover = Math.min(1, Math.max(LEAST_COVER, x1 - x0));
  for (let y = from; y < to; y++) {
    const at = y * shot.width + x;
    target[at] = pack(mix(unpack(target[at] ?? 0), fill, cover));
  }
}
