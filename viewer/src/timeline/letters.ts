// Names in the boxes of states: where there is room, beside what is inside them.

import { css } from "../color";
import { heightOf, yOf, type Extent, type View } from "../geometry";
import { box } from "../painter";
import type { Palette } from "../palette";
import type { Frame, FrameStates } from "../frame";

const FONT = "11px system-ui, sans-serif";
/** Timelines in which letters can be read, and how many there are of them at most. */
const LEAST_LETTERS = 11;
const MOST_LETTERS = 1500;
/** Pixels of a state in which at least a few letters have room. */
const LEAST_WIDTH = 24;
/** Pixels that a name leaves to the hatch of a wait. */
const HATCH = 14;

/** Stretches of a picture's states that have room for letters, found once per picture. */
const known = new WeakMap<Frame, Lettered[]>();
const widths = new Map<string, number>();

/** Pixels of a text in the context's font, which is always the same. */
export function textWidth(context: CanvasRenderingContext2D, text: string): number {
  let width = widths.get(text);
  if (width === undefined) {
    if (widths.size > 5000) widths.clear();
    width = context.measureText(text).width;
    widths.set(text, width);
  }
  return width;
}

export function drawLetters(context: CanvasRenderingContext2D, frame: Frame, view: View, extent: Extent, palette: Palette, merged: readonly boolean[], names: readonly string[]): void {
  const { states } = frame;
  if (!states || Math.max(view.timelineHeight, heightOf(0, view, extent)) < LEAST_LETTERS) return;
  context.font = FONT;
  context.textBaseline = "middle";
  let found = known.get(frame);
  if (!found) known.set(frame, (found = lettered(states, ((frame.t1 - frame.t0) / Math.max(1, frame.columns)) * (LEAST_WIDTH / 2))));
  const perSecond = extent.width / (view.t1 - view.t0);
  let drawn = 0;
  for (const { nth, inner0, inner1 } of found) {
    if (drawn >= MOST_LETTERS) break;
    const length = (states.duration[nth] ?? 0) * perSecond;
    if (length < LEAST_WIDTH) break;
    const timeline = states.timeline[nth] ?? 0;
    if (merged[timeline] ?? true) continue;
    const top = yOf(timeline, view, extent);
    const high = heightOf(timeline, view, extent);
    if (top > extent.height || top + high < 0) continue;
    const [from, to] = box(0, Math.round(high), states.depth[nth] ?? 0);
    if (to - from < LEAST_LETTERS) continue;
    const at = (time: number) => Math.min(extent.width, Math.max(0, (frame.t0 - view.t0 + time) * perSecond));
    // Before what is inside it or behind that, where there is more room.
    const [x0, x1] = [at(states.start[nth] ?? 0), at((states.start[nth] ?? 0) + (states.duration[nth] ?? 0))];
    const [before, behind] = [Math.min(at(inner0), x1), Math.max(at(inner1), x0)];
    const isBefore = before - x0 >= (x1 - behind) * 0.6 || before - x0 > 90;
    const left = isBefore ? x0 : behind;
    const waits = isWaiting(frame, nth);
    const room = (isBefore ? before : x1) - left - 8 - (waits ? HATCH : 0);
    if (room < LEAST_WIDTH - 8) continue;
    const kind = states.kind[nth] ?? 0;
    const text = fitted(context, names[kind] ?? "", room);
    if (text === "") continue;
    drawn++;
    const y = top + (from + to) / 2;
    if (palette.pattern[kind] || waits) {
      context.fillStyle = css(palette.fill[kind] ?? 0);
      context.fillRect(left + 2, y - 6.5, textWidth(context, text) + 4, 13);
    }
    context.fillStyle = css(palette.ink[kind] ?? 0);
    context.fillText(text, left + 4, y + 0.5);
  }
}

const waiting = new WeakMap<Frame, Set<number>>();

/** Whether a state of a frame waits, so that there may be a hatch below its name. */
function isWaiting(frame: Frame, state: number): boolean {
  if (!frame.waits) return false;
  let found = waiting.get(frame);
  if (!found) waiting.set(frame, (found = new Set(frame.waits.state)));
  return found.has(state);
}

/** As much of a name as there is room for: without its prefix before it is cut. */
function fitted(context: CanvasRenderingContext2D, name: string, room: number): string {
  const short = name.length > 200 ? name.slice(0, 200) : name;
  if (textWidth(context, short) <= room) return short;
  const bare = short.replace(/^P?MPI_(File_)?/, "");
  const width = textWidth(context, bare);
  if (width <= room) return bare;
  const letters = Math.floor((bare.length * (room - 7)) / width);
  return letters >= 2 ? `${bare.slice(0, letters)}…` : "";
}

/** A state with room for letters, and the stretch from its first inner state to the end of its last one (else its end). */
interface Lettered {
  nth: number;
  inner0: number;
  inner1: number;
}

/** FrameStates of at least this length, the longest first: where there are too many, those have letters. */
function lettered(states: FrameStates, least: number): Lettered[] {
  const long: Lettered[] = [];
  /** By timeline, what is open at each depth. */
  const open = new Map<number, (Lettered | null)[]>();
  states.start.forEach((start, nth) => {
    const timeline = states.timeline[nth] ?? 0;
    const depth = states.depth[nth] ?? 0;
    const length = states.duration[nth] ?? 0;
    let stack = open.get(timeline);
    if (!stack) open.set(timeline, (stack = []));
    const outer = depth > 0 ? stack[depth - 1] : null;
    if (outer) {
      outer.inner0 = Math.min(outer.inner0, start);
      outer.inner1 = outer.inner1 === Infinity ? start + length : Math.max(outer.inner1, start + length);
    }
    const own = length >= least ? { nth, inner0: Infinity, inner1: Infinity } : null;
    if (own) long.push(own);
    stack[depth] = own;
    stack.length = depth + 1;
  });
  return long.sort((a, b) => (states.duration[b.nth] ?? 0) - (states.duration[a.nth] ?? 0));
}
