// Draws timelines below those of the page: another trace, or one rank in full. They are made of the same pictures, and follow the window of the page.

import { effect, untracked } from "@preact/signals";
import type { TimelinesAnswer } from "../answers";
import type { Extent, View as Window } from "../geometry";
import type { Palette } from "../palette";
import { isMoving, view } from "../state";
import { groupOf, Pictures, type Picture, type Want } from "./pictures";
import { positions, type Positions } from "./positions";
import { Scene, type Marks } from "./scene";

/** Pixels of the time axis. */
export const LOWER_RULER = 24;
/** Pictures are asked for at every so many frames of a movement. */
const EVERY = 4;
/** Drawables that are sent one by one. */
export const MOST_STATES = 50_000;

/** What lower timelines are about. All but `want` and `arrived` may read signals: what is drawn follows them. */
export interface Lower {
  extent(): Extent;
  window(): Window;
  layout(): TimelinesAnswer | null;
  palette(): Palette;
  /** Names of the kinds. */
  names(): readonly string[];
  marks(): Partial<Marks>;
  /** What makes all pictures that are kept old. */
  version(): unknown;
  /** The picture to ask for, null where there is none yet. */
  want(extent: Extent, window: Window, where: Positions): Want | null;
  /** Whether a picture is of the timelines that stand beside it: one of other timelines, which was drawn before, would be taken for these. */
  isOf(want: Want): boolean;
  /** Looks at a picture that has come. */
  arrived(picture: Picture): void;
}

const NO_MARKS: Marks = {
  hover: null, selected: [], pins: [], cursor: null, range: null, measure: null, pointer: null, path: null, flags: [], names: [], merged: [], scale: "",
};

export class LowerStage {
  private readonly scene: Scene;
  private readonly pictures: Pictures;
  private readonly stops: (() => void)[] = [];
  private where: Positions = positions([], 0);
  private merged: boolean[] = [];
  private ratio = 1;
  private frame = 0;
  private moved = 0;

  constructor(private readonly canvas: HTMLCanvasElement, ruler: HTMLCanvasElement, private readonly of: Lower) {
    this.scene = new Scene(canvas, ruler);
    this.pictures = new Pictures(
      () => ({ palette: of.palette(), unit: this.ratio, mode: view.peek().mode, merged: this.merged }),
      () => {
        const main = this.pictures.shown.get("main");
        if (main) of.arrived(main);
        this.dirty();
      },
    );
    this.stops.push(
      effect(() => {
        const timelines = of.layout();
        this.where = positions(timelines?.open ?? [], 0);
        this.merged = (timelines?.group ?? []).map((isGroup, timeline) => isGroup && !(timelines?.open[timeline] ?? false));
        this.dirty();
      }),
      effect(() => {
        void of.version();
        this.pictures.forget();
        untracked(() => this.ask());
      }),
      effect(() => {
        void [view.value, of.window(), of.extent(), of.layout(), isMoving.value];
        untracked(() => this.ask());
        this.dirty();
      }),
      effect(() => {
        void [of.palette(), of.names(), of.marks()];
        this.dirty();
      }),
    );
  }

  stop(): void {
    for (const stop of this.stops) stop();
    cancelAnimationFrame(this.frame);
    this.pictures.forget();
  }

  /** Fits the canvases to the room there is. */
  resize(width: number, height: number): void {
    this.ratio = Math.min(3, Math.max(1, window.devicePixelRatio || 1));
    this.scene.resize(width, height, LOWER_RULER, this.ratio);
    this.dirty();
  }

  private dirty(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private ask(): void {
    const all = this.of.extent();
    if (all.timelines === 0 || all.width < 1 || all.height < 1) return;
    if (isMoving.peek() && ++this.moved % EVERY !== 1) return;
    const want = this.of.want(all, this.of.window(), this.where);
    if (want) this.pictures.want("main", want);
  }

  private draw(): void {
    this.frame = 0;
    const [all, shown] = [this.of.extent(), this.of.window()];
    if (all.width < 1 || all.height < 1) return;
    const last = this.pictures.shown.get("main");
    const main = last && this.of.isOf(last.want) ? last : undefined;
    const look = this.of.palette();
    const list = main ? [...this.pictures.backdrop(groupOf(main.want)).filter((picture) => picture !== main), main] : [];
    this.scene.drawPictures(list, this.pictures, shown, all, look, this.where, !isMoving.peek());
    const marks: Marks = { ...NO_MARKS, ...this.of.marks(), names: this.of.names(), merged: this.merged };
    this.scene.drawMarks(main ? [main] : [], shown, all, look, this.where, marks);
    this.scene.drawRuler(shown, all, look, marks, LOWER_RULER);
    // For whoever drives the page.
    const said = main && this.pictures.settled("main") && main.frame.t0 === shown.t0 ? "yes" : "no";
    if (this.canvas.dataset["settled"] !== said) this.canvas.dataset["settled"] = said;
  }
}
