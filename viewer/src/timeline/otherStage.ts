// Draws the timelines of the other trace: the window of the first one, counted from the begin of each, so that times are equally long.

import { effect, signal, untracked } from "@preact/signals";
import { otherKnown, otherMeta, otherTimelines } from "../compare";
import { blockOf, clamp, seen, type Extent, type View as Window } from "../geometry";
import { palette, type Palette } from "../palette";
import { isDark, isMoving, meta, numbersText, view } from "../state";
import { now } from "./now";
import { groupOf, Pictures, type Want } from "./pictures";
import { positions, type Positions } from "./positions";
import { Scene, type Marks } from "./scene";
import { colors } from "./stage";

/** Pixels of the time axis. */
export const OTHER_RULER = 24;
/** Pictures are asked for at every so many frames of a movement. */
const EVERY = 4;
/** Drawables that are sent one by one. */
const MOST = 50_000;

/** Size of the drawing area. */
export const otherArea = signal({ width: 0, height: 0 });

/** What there is of the other trace, and the room for it. */
export function otherExtent(): Extent {
  const about = otherMeta.value;
  return { t0: about?.t0 ?? 0, t1: about?.t1 ?? 1, timelines: otherTimelines.value?.count ?? 0, pinned: 0, ...otherArea.value };
}

/** The window of the other trace: as long and as high as that of the first. */
export function otherWindow(): Window {
  const { t0, t1, top, timelineHeight } = now.value;
  const shift = (otherMeta.value?.t0 ?? 0) - (meta.value?.t0 ?? 0);
  const scrolled = clamp({ t0, t1, top, timelineHeight }, otherExtent());
  return { ...scrolled, t0: t0 + shift, t1: t1 + shift };
}

export class OtherStage {
  private readonly scene: Scene;
  private readonly pictures: Pictures;
  private readonly stops: (() => void)[] = [];
  private look: Palette = colors.peek();
  private where: Positions = positions([], 0);
  private merged: boolean[] = [];
  private ratio = 1;
  private frame = 0;
  private moved = 0;

  constructor(private readonly canvas: HTMLCanvasElement, ruler: HTMLCanvasElement, private readonly trace: number) {
    this.scene = new Scene(canvas, ruler);
    this.pictures = new Pictures(
      () => ({ palette: this.look, unit: this.ratio, mode: view.peek().mode, merged: this.merged }),
      () => this.dirty(),
    );
    this.stops.push(
      effect(() => {
        const [about, first] = [otherMeta.value, colors.value];
        // States of the same name have the same colour.
        const known = new Map((meta.value?.categories ?? []).map(({ name }, kind) => [name, first.fill[kind] ?? 0]));
        const own = new Map((about?.categories ?? []).flatMap(({ name, topology }, kind) =>
          (topology === "state" && known.has(name) ? [[kind, known.get(name)!] as const] : [])));
        this.look = palette(about?.categories ?? [], view.value.palette, isDark.value ? "dark" : "light", false, own);
        this.dirty();
      }),
      effect(() => {
        const timelines = otherTimelines.value;
        this.where = positions(timelines?.open ?? [], 0);
        this.merged = (timelines?.group ?? []).map((isGroup, timeline) => isGroup && !(timelines?.open[timeline] ?? false));
        this.dirty();
      }),
      effect(() => {
        void otherKnown.value;
        this.pictures.forget();
        untracked(() => this.ask());
      }),
      effect(() => {
        void [now.value, view.value, otherMeta.value, otherTimelines.value, otherArea.value, isMoving.value];
        untracked(() => this.ask());
        this.dirty();
      }),
    );
  }

  stop(): void {
    for (const stop of this.stops) stop();
    cancelAnimationFrame(this.frame);
    this.pictures.forget();
  }

  resize(width: number, height: number): void {
    this.ratio = Math.min(3, Math.max(1, window.devicePixelRatio || 1));
    this.scene.resize(width, height, OTHER_RULER, this.ratio);
    if (otherArea.peek().width !== width || otherArea.peek().height !== height) otherArea.value = { width, height };
    this.dirty();
  }

  private dirty(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  /** Kinds of the other trace that have the name of one of these of the first. */
  private same(kinds: readonly number[]): number[] {
    const wanted = new Set(kinds.map((kind) => meta.peek()?.categories[kind]?.name));
    return (otherMeta.peek()?.categories ?? []).flatMap(({ name }, kind) => (wanted.has(name) ? [kind] : []));
  }

  private ask(): void {
    const [all, shown] = [otherExtent(), otherWindow()];
    if (!otherMeta.peek() || all.timelines === 0 || all.width < 1 || all.height < 1) return;
    if (isMoving.peek() && ++this.moved % EVERY !== 1) return;
    const block = blockOf(shown.timelineHeight);
    const [first, last] = seen(shown, all);
    const inBlocks = (timeline: number) => (this.where.leaf[Math.min(timeline, this.where.leaf.length - 1)] ?? 0) / block;
    const { mode, heat, hide, arrows } = view.peek();
    const heated = mode === "heat" ? `heat:${this.same([heat])[0] ?? 0}` : mode;
    const want: Want = {
      trace: this.trace, timelines: "", block, t0: shown.t0, t1: shown.t1, width: Math.round(all.width),
      y0: block > 1 ? Math.floor(inBlocks(first)) : first, y1: block > 1 ? Math.ceil(inBlocks(last)) : last,
      hide: numbersText(this.same(hide)), look: heated, mode: heated, arrows: arrows === "sel" ? "none" : arrows, most: MOST, query: "",
    };
    this.pictures.want("main", want);
  }

  private draw(): void {
    this.frame = 0;
    const [all, shown] = [otherExtent(), otherWindow()];
    if (all.width < 1 || all.height < 1) return;
    const main = this.pictures.shown.get("main");
    const list = main ? [...this.pictures.backdrop(groupOf(main.want)).filter((picture) => picture !== main), main] : [];
    this.scene.drawPictures(list, this.pictures, shown, all, this.look, this.where, !isMoving.peek());
    const marks: Marks = {
      hover: null, selected: [], pins: [], cursor: null, range: null, measure: null, pointer: null, path: null, flags: [],
      names: (otherMeta.peek()?.categories ?? []).map(({ name }) => name), merged: this.merged,
    };
    this.scene.drawMarks(main ? [main] : [], shown, all, this.look, this.where, marks);
    this.scene.drawRuler(shown, all, this.look, marks, OTHER_RULER);
    // For whoever drives the page.
    const said = main && this.pictures.settled("main") && main.frame.t0 === shown.t0 ? "yes" : "no";
    if (this.canvas.dataset["settled"] !== said) this.canvas.dataset["settled"] = said;
  }
}
