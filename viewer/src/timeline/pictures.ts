// Asks for pictures of windows, keeps them, paints them once each. What was painted last is shown scaled until what was asked
// for has come, so there is never an empty area: behind it lies the whole trace, coarse.

import { ask, isAbort, question, report, sayAgain } from "../api";
import { paint, showsStates, type CellMode, type Shot } from "../painter";
import type { Palette } from "../palette";
import { mayPass, pauseAfter } from "../polling";
import { COARSE, FROM_INDEX } from "../answers";
import { decode, type Frame } from "../frame";

/** What is asked for. Timelines are layout positions of `timelines`; with `block` above 1 those of the layout of blocks. */
export interface Want {
  trace: number;
  t0: number;
  t1: number;
  width: number;
  y0: number;
  y1: number;
  timelines: string;
  block: number;
  hide: string;
  /** As the page has it, and as the server is asked. */
  look: string;
  mode: string;
  arrows: string;
  most: number;
  /** The search whose hits are marked. */
  query: string;
}

/** How something is painted. */
export interface Style {
  palette: Palette;
  unit: number;
  mode: CellMode;
  /** By layout position: whether a timeline has several lines. */
  merged: readonly boolean[];
}

/** A frame and what is painted of it. */
export interface Picture {
  want: Want;
  frame: Frame;
  canvas: HTMLCanvasElement | null;
  /** Page pixels of a timeline of the frame that the canvas was painted for, and in which style. */
  timelineHeight: number;
  style: Style | null;
  /** Whether the states themselves are painted, not cells. */
  close: boolean;
}

export type Slot = "main" | "pinned" | "home" | "around";

/** Bytes of frames that are kept. */
const MOST_BYTES = 160 << 20;
/** Windows that are kept. */
const MOST_FRAMES = 40;
/** Painted pictures that are kept. */
const MOST_PAINTED = 8;
/** Pixels of the page that a picture has in height if it is only scaled. */
const MOST_HEIGHT = 2000;
/** Milliseconds: with a longer way to the server a request is not given up for a newer one. */
const SLOW_LINK = 20;

interface Flight {
  key: string;
  stop: AbortController;
  next: Want | null;
}

/** All but the window: pictures of the same group may be shown one upon the other. */
export function groupOf(want: Want): string {
  return [want.trace, want.timelines, want.hide, want.look].join("\n");
}

function keyOf(want: Want): string {
  const { trace, timelines, block, t0, t1, y0, y1, width, hide, mode, arrows, most, query } = want;
  const spec = block > 1 ? [timelines, `block:${block}`].filter((item) => item !== "").join(";") : timelines;
  return `${trace}/${question("picture", { t0, t1, w: width, y0, y1, timelines: spec, hide, mode, arrows, max: most, q: query })}`;
}

export class Pictures {
  private readonly kept = new Map<string, Picture>();
  private readonly painted: Picture[] = [];
  private readonly flights = new Map<Slot, Flight>();
  /** What was asked for last, by slot. */
  private readonly last = new Map<Slot, string>();
  /** Pictures in a row that did not come. */
  private failures = 0;
  /** Pixels on their way into a canvas: used anew each time, for fresh memory is slow to touch. */
  private scratch = new ArrayBuffer(0);
  private again = 0;
  private sequence = 0;
  /** Pictures by slot, as last asked for and come. */
  readonly shown = new Map<Slot, Picture>();
  private isFar = false;

  constructor(
    private readonly style: () => Style,
    private readonly arrived: (slot: Slot) => void,
  ) {}

  /** Measures the way to the server by its smallest answer; the quickest of some tells. */
  async measure(ping: () => Promise<unknown>): Promise<void> {
    let best = Infinity;
    for (let nth = 0; nth < 4 && best > SLOW_LINK; nth++) {
      const asked = performance.now();
      await ping();
      best = Math.min(best, performance.now() - asked);
      await new Promise((done) => window.setTimeout(done, 200));
    }
    this.isFar = best > SLOW_LINK;
  }

  /** Whether the slot shows what was asked for last. */
  settled(slot: Slot): boolean {
    return !this.flights.has(slot);
  }

  /** Shows this window in a slot as soon as it is there. */
  want(slot: Slot, want: Want): void {
    const key = keyOf(want);
    this.last.set(slot, key);
    const known = this.kept.get(key);
    const flight = this.flights.get(slot);
    if (known) {
      flight?.stop.abort();
      this.flights.delete(slot);
      this.kept.delete(key);
      this.kept.set(key, known);
      if (this.shown.get(slot) !== known) this.show(slot, known);
      return;
    }
    if (flight?.key === key) return;
    if (flight && this.isFar) {
      flight.next = want;
      return;
    }
    flight?.stop.abort();
    void this.fetch(slot, want, key);
  }

  private show(slot: Slot, picture: Picture): void {
    this.shown.set(slot, picture);
    this.arrived(slot);
  }

  private async fetch(slot: Slot, want: Want, key: string): Promise<void> {
    const flight: Flight = { key, stop: new AbortController(), next: null };
    this.flights.set(slot, flight);
    try {
      const seq = (this.sequence = (this.sequence + 1) >>> 0);
      const buffer = await ask(want.trace, `${key.slice(key.indexOf("/") + 1)}&seq=${seq}`, flight.stop.signal);
      this.failures = 0;
      if (this.flights.get(slot) !== flight) return;
      const picture: Picture = { want, frame: decode(buffer), canvas: null, timelineHeight: 0, style: null, close: false };
      this.flights.delete(slot);
      // What the index tells does not become finer by asking again.
      if (picture.frame.flags & COARSE && !(picture.frame.flags & FROM_INDEX)) this.retry(slot, want, key);
      else this.keep(key, picture, buffer.byteLength);
      this.show(slot, picture);
    } catch (error) {
      if (this.flights.get(slot) === flight) this.flights.delete(slot);
      if (!isAbort(error)) {
        if (mayPass(error)) this.askAgain(slot, want, key, error);
        else report(error);
        this.arrived(slot);
      }
    }
    // One that was given up has been followed by another already.
    if (flight.next && !flight.stop.signal.aborted) this.want(slot, flight.next);
  }

  /** What nobody answered is asked for again after a pause, if nothing else is wanted by then. */
  private askAgain(slot: Slot, want: Want, key: string, error: unknown): void {
    const pause = pauseAfter(++this.failures);
    sayAgain(error, pause);
    window.setTimeout(() => {
      if (this.last.get(slot) === key && !this.flights.has(slot)) void this.fetch(slot, want, key);
    }, pause);
  }

  /** What the server could only say coarsely is asked for again a little later. */
  private retry(slot: Slot, want: Want, key: string): void {
    if (slot !== "main") return;
    window.clearTimeout(this.again);
    this.again = window.setTimeout(() => {
      const shown = this.shown.get(slot);
      if (shown && keyOf(shown.want) === key && !this.flights.has(slot)) void this.fetch(slot, want, key);
    }, 800);
  }

  private keep(key: string, picture: Picture, size: number): void {
    this.kept.set(key, picture);
    let total = size;
    for (const other of this.kept.values()) total += sizeOf(other.frame);
    for (const [old, other] of this.kept) {
      if (this.kept.size <= MOST_FRAMES && total <= MOST_BYTES) break;
      if (other === picture) continue;
      total -= sizeOf(other.frame);
      this.kept.delete(old);
    }
  }

  /** Gives up what was asked for a slot. */
  drop(slot: Slot): void {
    this.flights.get(slot)?.stop.abort();
    this.flights.delete(slot);
    this.last.delete(slot);
  }

  /** Forgets everything: another trace, or an index that knows better. */
  forget(): void {
    for (const flight of this.flights.values()) flight.stop.abort();
    this.flights.clear();
    this.last.clear();
    this.kept.clear();
  }

  /** The picture with its canvas, painted for timelines of this height unless it is only to be scaled. */
  paint(picture: Picture, timelineHeight: number, exact: boolean): HTMLCanvasElement | null {
    const style = this.style();
    const same = picture.style !== null && sameStyle(picture.style, style);
    if (picture.canvas && same && (!exact || Math.abs(picture.timelineHeight - timelineHeight) < 1e-6)) return picture.canvas;
    const { frame } = picture;
    // What is only seen behind others and scaled has no more pixels than the screen.
    if (!exact) timelineHeight = Math.min(timelineHeight, Math.max(1, MOST_HEIGHT / Math.max(1, frame.timelines)));
    const close = showsStates(frame, timelineHeight * style.unit, style.unit, style.mode);
    // Cells have the page's pixels and are scaled without smoothing; states are painted with the screen's.
    const unit = close ? style.unit : 1;
    const width = Math.max(1, Math.round(frame.columns * unit));
    const height = Math.max(1, Math.round(frame.timelines * timelineHeight * unit));
    if (frame.columns === 0 || frame.timelines === 0 || width * height > 64e6) return null;
    const canvas = picture.canvas ?? document.createElement("canvas");
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const context = canvas.getContext("2d", { willReadFrequently: true, alpha: false });
    if (!context) return null;
    const size = width * height * 4;
    if (this.scratch.byteLength < size) this.scratch = new ArrayBuffer(Math.ceil(size * 1.2));
    const image = new ImageData(new Uint8ClampedArray(this.scratch, 0, size), width, height);
    const shot: Shot = {
      width, height, unit, mode: style.mode, timelineHeight: timelineHeight * unit,
      merged: (timeline) => picture.want.block > 1 || (style.merged[timeline] ?? true),
    };
    paint(frame, style.palette, shot, new Uint32Array(this.scratch, 0, width * height));
    context.putImageData(image, 0, 0);
    picture.canvas = canvas;
    picture.timelineHeight = timelineHeight;
    picture.style = style;
    picture.close = close;
    const at = this.painted.indexOf(picture);
    if (at >= 0) this.painted.splice(at, 1);
    this.painted.push(picture);
    while (this.painted.length > MOST_PAINTED) {
      const oldest = this.painted.find((other) => ![...this.shown.values()].includes(other));
      if (!oldest) break;
      oldest.canvas = null;
      this.painted.splice(this.painted.indexOf(oldest), 1);
    }
    return canvas;
  }

  /** Painted pictures of a group, coarse ones first. */
  backdrop(group: string): Picture[] {
    const usable = this.painted.filter((picture) => picture.canvas && groupOf(picture.want) === group);
    for (const slot of ["home", "around"] as const) {
      const extra = this.shown.get(slot);
      if (extra && groupOf(extra.want) === group && !usable.includes(extra)) usable.push(extra);
    }
    return usable.sort((a, b) => b.want.t1 - b.want.t0 - (a.want.t1 - a.want.t0) || b.want.block - a.want.block);
  }
}

function sameStyle(a: Style, b: Style): boolean {
  return a.palette === b.palette && a.unit === b.unit && a.mode === b.mode && a.merged === b.merged;
}

function sizeOf(frame: Frame): number {
  const cells = frame.columns * frame.timelines * 3;
  return cells + 16 * (frame.states?.start.length ?? 0) + 20 * (frame.arrows?.from.length ?? 0);
}
