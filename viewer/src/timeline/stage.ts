// What is drawn of the page and what the pointer does to it, kept out of the components: nothing is rendered anew while
// something moves. Drawn at most once per frame of the screen, and only when something has changed.

import { computed, effect, signal, untracked } from "@preact/signals";
import { askReference, askShared, isAbort, keepDetail, question, report, traceNames } from "../api";
import type { DrawableDetail } from "../answers";
import { Gesture, wheel, type Command, type Pointer } from "../gesture";
import { parse } from "../color";
import { scaleAbove } from "../compare";
import { blockOf, heightOf, panTime, timelineAt, scrollTimelines, seen, timeAt, zoomTimelines, zoomTime, type View as Window } from "../geometry";
import { LEAST_STACK } from "../painter";
import { regionsOfWhole } from "../own";
import { palette, type Palette } from "../palette";
import {
  area, change, counted, cursor, hover, isDark, isSelecting, layout, measure, meta, numbersText, path, pointerTime, say, selected, settle, show, slide, view, waits, wheelZooms, type View,
} from "../state";
import { timelineOf } from "../notes";
import { describe } from "../words";
import type { Flag } from "./flags";
import { noteOf } from "./note";
import { extent, now } from "./now";
import { groupOf, Pictures, type Picture, type Slot, type Want } from "./pictures";
import { positions, type Positions } from "./positions";
import { bundleAt, nearest, type Bundle } from "./arrows";
import { Scene, type Marks } from "./scene";

/** Pixels of the time axis. */
export const RULER = 34;
/** A picture is asked for at every so many frames of a movement. */
const EVERY = 4;
/** Milliseconds without a movement after which it has ended. */
const REST = 120;
/** Milliseconds after a picture until what lies beside it is asked for. */
const LATER = 100;
/** Drawables that are sent one by one. */
const MOST = 50_000;
/** Columns asked for where states would be too small, or where the rarest of a pixel is wanted. */
const FEW = 3000;

/** Colours as they are chosen; also for panels. */
export const colors = signal<Palette>(palette([], "file", "light"));

/** What the picture leaves out, said below it. */
export const noted = signal("");

/** The drawing of one page, kept out of the components: nothing is rendered anew while something moves. */
export class Stage {
  private readonly scene: Scene;
  private readonly gesture = new Gesture();
  readonly pictures: Pictures;
  private stops: (() => void)[] = [];
  private frame = 0;
  private moving = 0;
  private rest = 0;
  private later = 0;
  private began: View | null = null;
  private where: Positions = positions([], 0);
  private merged: boolean[] = [];
  private ratio = 1;
  private pointer: { x: number; y: number } | null = null;
  private hovering: { timer: number; stop: AbortController | null } = { timer: 0, stop: null };
  private pins: DrawableDetail[] = [];
  /** How often the pins were asked for: an answer that another question has overtaken is not taken. */
  private asksOfPins = 0;
  /** The last click, until it has chosen: clicks choose in their order, whichever is answered first. */
  private clicking = Promise.resolve();
  private flags: Flag[] = [];
  /** Called after a frame was drawn: for measurements. */
  onDrawn: ((isSettled: boolean) => void) | null = null;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly ruler: HTMLCanvasElement,
    private readonly tracks: HTMLCanvasElement,
    readonly tip: { what: DrawableDetail | Bundle | null; x: number; y: number },
    private readonly showTip: (what: DrawableDetail | Bundle | null, x: number, y: number) => void,
  ) {
    this.scene = new Scene(canvas, ruler);
    this.pictures = new Pictures(
      () => ({ palette: colors.peek(), unit: this.ratio, mode: view.peek().mode, merged: this.merged }),
      (slot) => this.arrived(slot),
    );
    this.follow();
    this.listen();
    // What goes wrong here is said by the questions that matter.
    this.pictures.measure(traceNames).catch(() => undefined);
  }

  /** Redraws when something that is shown has changed. */
  private follow(): void {
    let answered = "";
    // Only what has changed of the view: a movement must not look like new colours or pins.
    const paletteName = computed(() => view.value.palette);
    const own = computed(() => view.value.own);
    const kinds = computed(() => JSON.stringify(meta.value?.categories ?? []));
    const pinned = computed(() => view.value.pins);
    const notes = computed(() => view.value.notes);
    const timelinesText = computed(() => view.value.timelines);
    const regions = regionsOfWhole();
    const traceNumber = computed(() => view.value.trace);
    this.stops.push(
      effect(() => {
        const name = paletteName.value;
        void kinds.value;
        const strong = window.matchMedia("(prefers-contrast: more)").matches;
        colors.value = palette(meta.peek()?.categories ?? [], name, isDark.value ? "dark" : "light", strong, new Map(own.value.map(([kind, color]) => [kind, parse(color)])), regions);
        this.dirty();
      }),
      effect(() => {
        const timelines = layout.value;
        this.where = positions(timelines?.open ?? [], timelines?.pinned ?? 0);
        this.merged = (timelines?.group ?? []).map((isGroup, timeline) => isGroup && !(timelines?.open[timeline] ?? false));
        this.dirty();
      }),
      effect(() => {
        // Another trace, an index that has come and knows better, or that it is known now who waited.
        const about = `${view.value.trace} ${meta.value?.index.state === "ready"} ${waits.value?.state === "known"}`;
        if (about !== answered) {
          answered = about;
          this.pictures.forget();
        }
        // All that decides which picture is asked for.
        void [now.value, extent.value, view.value, layout.value, counted.value];
        untracked(() => this.ask());
        this.dirty();
      }),
      effect(() => {
        const [timelines, all] = [layout.value, notes.value];
        this.flags = all.flatMap((note) => {
          const timeline = timelines ? timelineOf(note, timelines) : -1;
          return timeline < 0 ? [] : [{ t: note.t, timeline, text: note.text }];
        });
        this.dirty();
      }),
      effect(() => {
        // What was under the pointer is somewhere else now.
        void [now.value, layout.value];
        untracked(() => {
          this.hideTip();
          hover.value = null;
        });
      }),
      effect(() => {
        void [hover.value, path.value, selected.value, cursor.value, measure.value, view.value.range, scaleAbove.value];
        this.dirty();
      }),
      effect(() => {
        const [pins, of, timelines] = [pinned.value, traceNumber.value, timelinesText.value];
        untracked(() => void this.fetchPins(pins, of, timelines));
      }),
    );
  }

  stop(): void {
    for (const stop of this.stops) stop();
    cancelAnimationFrame(this.frame);
    window.clearTimeout(this.rest);
    window.clearTimeout(this.later);
    window.clearTimeout(this.hovering.timer);
    this.pictures.forget();
  }

  private async fetchPins(pins: readonly string[], trace: number, timelines: string): Promise<void> {
    const own = ++this.asksOfPins;
    try {
      const found = await Promise.all(pins.map((ref) => askReference(trace, ref, timelines)));
      if (own !== this.asksOfPins) return;
      this.pins = found.flatMap((detail) => (detail ? [detail] : []));
      this.dirty();
    } catch (error) {
      report(error);
    }
  }

  /** Fits the canvases to the room there is. */
  resize(width: number, height: number): void {
    this.ratio = Math.min(3, Math.max(1, window.devicePixelRatio || 1));
    this.scene.resize(width, height, RULER, this.ratio);
    if (area.peek().width !== width || area.peek().height !== height) area.value = { width, height };
    this.dirty();
  }

  private dirty(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private arrived(slot: Slot): void {
    if (slot === "main") this.afterMain();
    this.dirty();
  }

  /** Asks for what is looked at; while it moves only now and then. */
  private ask(): void {
    if (!meta.peek() || !layout.peek() || area.peek().width < 1 || area.peek().height < 1) return;
    if (this.isMoving && ++this.moving % EVERY !== 1) return;
    const all = extent.peek();
    const window = now.peek();
    const [first, last] = seen(window, all);
    const margin = Math.ceil((last - first) * 0.25);
    const block = blockOf(window.timelineHeight);
    let y0 = Math.max(all.pinned, first - margin);
    let y1 = Math.min(all.timelines, last + margin);
    // Whole steps, so that a little scrolling asks for nothing new.
    const step = Math.max(1, 2 ** Math.round(Math.log2(Math.max(1, (last - first) / 4))));
    y0 = Math.max(all.pinned, Math.floor(y0 / step) * step);
    y1 = Math.min(all.timelines, Math.ceil(y1 / step) * step);
    const isHigher = all.pinned > 0 && heightOf(0, window, all) > window.timelineHeight;
    if (all.pinned > 0 && (isHigher || y0 > all.pinned)) this.pictures.want("pinned", this.want({ ...window, timelineHeight: heightOf(0, window, all) }, 0, all.pinned, 1));
    else if (all.pinned > 0) y0 = 0;
    if (block > 1) {
      const at = (timeline: number) => this.inBlocks(timeline, block);
      this.pictures.want("main", this.want(window, Math.floor(at(y0)), Math.ceil(at(y1)), block));
    } else {
      this.pictures.want("main", this.want(window, y0, y1, 1));
    }
  }

  private inBlocks(timeline: number, block: number): number {
    const { leaf, pinned } = this.where;
    if (timeline <= pinned) return timeline;
    return pinned + ((leaf[Math.min(timeline, leaf.length - 1)] ?? 0) - pinned) / block;
  }

  private want(window: Window, y0: number, y1: number, block: number): Want {
    const { trace, timelines, hide, mode, heat, arrows, sel } = view.peek();
    const last = sel.at(-1);
    return {
      trace, timelines, block, y0, y1, t0: window.t0, t1: window.t1,
      width: Math.round(area.peek().width),
      hide: numbersText(hide),
      look: mode === "heat" ? `heat:${heat}` : mode,
      // High timelines have room for shares where there are too many states to be drawn.
      mode: mode === "heat" ? `heat:${heat}` : mode === "dominant" && window.timelineHeight >= LEAST_STACK ? "stack" : mode,
      arrows: arrows === "sel" ? (last === undefined ? "none" : `sel:${last}`) : arrows,
      most: window.timelineHeight < 4 || mode === "rare" ? FEW : MOST,
      query: counted.peek(),
    };
  }

  /** Some time after the window has come, nothing else having been asked for meanwhile. */
  private afterMain(): void {
    window.clearTimeout(this.later);
    if (!this.isMoving) this.later = window.setTimeout(() => this.askBeside(), LATER);
  }

  /** What lies around the window and the whole trace, to be shown while something moves. */
  private askBeside(): void {
    if (this.isMoving || !this.pictures.settled("main")) return;
    const all = extent.peek();
    const window = now.peek();
    const main = this.shown("main");
    if (!main || all.timelines === 0) return;
    const span = window.t1 - window.t0;
    const whole = all.t1 - all.t0;
    if (span > whole * 0.99 && main.want.y0 === 0 && main.want.block >= blockOf(all.height / all.timelines)) return;
    const block = blockOf(Math.min(1, (all.height * 0.75) / all.timelines));
    const last = Math.ceil(this.inBlocks(all.timelines, block));
    const coarse = { ...this.want({ ...window, t0: all.t0, t1: all.t1 }, 0, last, block), arrows: "none", most: 0, query: "" };
    this.pictures.want("home", { ...coarse, width: Math.min(1000, coarse.width) });
    if (span * 2 >= whole) return;
    const around = { ...main.want, t0: window.t0 - span / 2, t1: window.t1 + span / 2, arrows: "none", most: 0, query: "" };
    window.t1 > window.t0 && this.pictures.want("around", around);
  }

  private get isMoving(): boolean {
    return this.began !== null;
  }

  /** What a slot shows; nothing of a trace that is not looked at any more. */
  private shown(slot: Slot): Picture | undefined {
    const picture = this.pictures.shown.get(slot);
    return picture?.want.trace === view.peek().trace ? picture : undefined;
  }

  private list(): Picture[] {
    const main = this.shown("main");
    if (!main) return [];
    const group = groupOf(main.want);
    const pinned = this.shown("pinned");
    const current = [...(pinned && groupOf(pinned.want) === group && pinned.want.y1 === extent.peek().pinned ? [pinned] : []), main];
    const window = now.peek();
    const [first, last] = seen(window, extent.peek());
    const { frame, want } = main;
    const covers = frame.t0 <= window.t0 && frame.t1 >= window.t1 && want.block === blockOf(window.timelineHeight)
      && this.inBlocks(first, want.block) >= frame.y0 && this.inBlocks(last, want.block) <= frame.y0 + frame.timelines;
    if (covers) return current;
    const list = [...this.pictures.backdrop(group).filter((picture) => !current.includes(picture)), ...current];
    // Pictures have no holes: what lies below one that fills the page is not seen.
    const fills = ({ frame, want }: Picture) => frame.t0 <= window.t0 && frame.t1 >= window.t1 && (frame.y0 === 0 || extent.peek().pinned === 0)
      && this.inBlocks(first, want.block) >= frame.y0 && this.inBlocks(last, want.block) <= frame.y0 + frame.timelines;
    return list.slice(Math.max(0, list.findLastIndex(fills)));
  }

  private draw(): void {
    this.frame = 0;
    const all = extent.peek();
    if (all.width < 1 || all.height < 1) return;
    const window = now.peek();
    const look = colors.peek();
    const marks = this.marks();
    pointerTime.value = marks.pointer;
    this.scene.drawPictures(this.list(), this.pictures, window, all, look, this.where, !this.isMoving);
    const main = this.shown("main");
    const pinned = this.shown("pinned");
    const shown = [main, all.pinned > 0 ? pinned : undefined].filter((picture) => picture !== undefined);
    this.scene.drawMarks(shown, window, all, look, this.where, marks);
    this.scene.drawRuler(window, all, look, marks, RULER);
    const settled = !this.isMoving && this.pictures.settled("main") && main?.frame.t0 === window.t0 && main.frame.t1 === window.t1;
    // For whoever drives the page: something is there; what was asked for last is there.
    if (main) this.canvas.dataset["drawn"] ??= "yes";
    const said = settled ? "yes" : "no";
    if (this.canvas.dataset["settled"] !== said) this.canvas.dataset["settled"] = said;
    const note = main ? noteOf(main) : "";
    if (noted.peek() !== note) noted.value = note;
    this.onDrawn?.(settled);
  }

  private marks(): Marks {
    return {
      hover: hover.peek(), selected: selected.peek(), pins: this.pins, cursor: cursor.peek(), range: view.peek().range,
      measure: measure.peek(),
      pointer: this.pointer && !this.gesture.busy ? timeAt(this.pointer.x, now.peek(), extent.peek()) : null,
      path: path.peek(), flags: this.flags,
      names: (meta.peek()?.categories ?? []).map((kind) => kind.name), merged: this.merged, scale: scaleAbove.peek(),
    };
  }

  private listen(): void {
    const on = <E extends Event>(target: EventTarget, name: string, act: (event: E) => void, options?: AddEventListenerOptions) => {
      const handler = (event: Event) => act(event as E);
      target.addEventListener(name, handler, options);
      this.stops.push(() => target.removeEventListener(name, handler, options));
    };
    // On tracks a drag selects as in the timelines: a stretch of time on all of them.
    for (const [element, place] of [[this.canvas, "canvas"], [this.ruler, "ruler"], [this.tracks, "canvas"]] as const) {
      const point = (event: PointerEvent): Pointer => ({
        id: event.pointerId, button: event.button, touch: event.pointerType === "touch", place,
        shift: event.shiftKey, ctrl: event.ctrlKey || event.metaKey, alt: event.altKey, ...this.at(event),
      });
      on<PointerEvent>(element, "pointerdown", (event) => {
        if (event.button === 1) event.preventDefault();
        try {
          element.setPointerCapture(event.pointerId);
        } catch {
          // A pointer that has already gone.
        }
        this.run(this.gesture.down(point(event)));
        this.hideTip();
      });
      on<PointerEvent>(element, "pointermove", (event) => {
        this.pointer = this.at(event);
        this.run(this.gesture.move(point(event)));
        if (element === this.canvas && event.buttons === 0) this.look();
        this.dirty();
      });
      on<PointerEvent>(element, "pointerup", (event) => this.run(this.gesture.up(point(event))));
      on<PointerEvent>(element, "pointercancel", () => this.run(this.gesture.cancel()));
      on<PointerEvent>(element, "pointerleave", () => {
        this.pointer = null;
        this.hideTip();
        hover.value = null;
        this.dirty();
      });
      on<WheelEvent>(element, "wheel", (event) => {
        event.preventDefault();
        const scale = event.deltaMode === 1 ? 33 : event.deltaMode === 2 ? 400 : 1;
        const { shiftKey: shift, ctrlKey, metaKey, altKey: alt } = event;
        const turned = { ...this.at(event), dx: event.deltaX * scale, dy: event.deltaY * scale, shift, ctrl: ctrlKey || metaKey, alt };
        this.hideTip();
        this.run(wheel(turned, wheelZooms.peek()));
      }, { passive: false });
      on<MouseEvent>(element, "dblclick", (event) => this.doubleClick(this.at(event)));
      on<MouseEvent>(element, "auxclick", (event) => event.preventDefault());
    }
    on<KeyboardEvent>(window, "keydown", (event) => {
      if (event.key === "Escape" && this.gesture.busy) {
        event.stopImmediatePropagation();
        this.run(this.gesture.cancel());
      }
    }, { capture: true });
  }

  private at(event: MouseEvent): { x: number; y: number } {
    const frame = this.canvas.getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top };
  }

  /** Does what a gesture means. */
  run(commands: readonly Command[]): void {
    for (const command of commands) this.command(command);
  }

  /** Looks at another window; one step of undo for a whole movement, which ends when nothing more comes. */
  move(next: Window, done: boolean): void {
    this.began ??= view.peek();
    // It would keep the pictures of the movement waiting.
    this.pictures.drop("around");
    const { t0, t1, top, timelineHeight } = next;
    const was = now.peek();
    slide({ t0, t1, top, ...(timelineHeight === was.timelineHeight ? {} : { height: timelineHeight }) });
    window.clearTimeout(this.rest);
    if (done) this.rested();
    else this.rest = window.setTimeout(() => this.rested(), REST);
  }

  private rested(): void {
    const from = this.began;
    if (!from) return;
    this.began = null;
    this.moving = 0;
    settle(from);
    this.ask();
    if (this.pictures.settled("main")) this.afterMain();
    this.dirty();
  }

  private command(command: Command): void {
    const [window, all] = [now.peek(), extent.peek()];
    switch (command.do) {
      case "zoomTime":
        return this.move(zoomTime(window, all, command.factor, command.x), false);
      case "zoomTimelines":
        return this.move(zoomTimelines(window, all, command.factor, command.y), false);
      case "panTime":
        return this.move(panTime(window, all, command.pixels), false);
      case "scrollTimelines":
        return this.move(scrollTimelines(window, all, command.pixels), false);
      case "pan":
        return this.move(scrollTimelines(panTime(window, all, -command.dx), all, -command.dy), command.done);
      case "pinch": {
        const panned = scrollTimelines(panTime(window, all, -command.dx), all, -command.dy);
        return this.move(zoomTimelines(zoomTime(panned, all, command.factor, command.x), all, command.timelineFactor, command.y), command.done);
      }
      case "range":
        return this.select(command);
      case "measure": {
        const [a, b] = [timeAt(command.x0, window, all), timeAt(command.x1, window, all)];
        measure.value = { t0: Math.min(a, b), t1: Math.max(a, b) };
        return;
      }
      case "click":
        this.clicking = this.click(command.x, command.y, command.extend, command.add, this.clicking);
        return;
      case "cancel":
        isSelecting.value = false;
        if (this.began) show(this.began);
        this.began = null;
        measure.value = null;
        this.dirty();
        return;
    }
  }

  /** A dragged range: what is dragged flat along a timeline means all timelines. */
  private select({ x0, y0, x1, y1, done }: { x0: number; y0: number; x1: number; y1: number; done: boolean }): void {
    const [window, all] = [now.peek(), extent.peek()];
    const within = (y: number) => Math.min(Math.max(0, y), all.height - 1);
    const [low, high] = [timelineAt(within(Math.min(y0, y1)), window, all), timelineAt(within(Math.max(y0, y1)), window, all)];
    const isFlat = Math.max(y0, y1) < 0 || low === high && Math.abs(y1 - y0) < Math.max(8, window.timelineHeight * 0.6);
    const [from, to] = [timeAt(Math.min(x0, x1), window, all), timeAt(Math.max(x0, x1), window, all)];
    const range = {
      t0: Math.max(all.t0, from), t1: Math.min(all.t1, to),
      y0: isFlat || low < 0 ? 0 : low, y1: isFlat || high < 0 ? all.timelines : high + 1,
    };
    this.began ??= view.peek();
    isSelecting.value = !done;
    slide({ range: range.t1 > range.t0 ? range : null });
    if (done) this.rested();
  }

  /** Asks what lies at a point: an arrow or a mark near it, else the innermost state. */
  private async find(x: number, y: number, signal?: AbortSignal): Promise<DrawableDetail | null> {
    const [window, all] = [now.peek(), extent.peek()];
    const timeline = timelineAt(y, window, all);
    if (timeline < 0) return null;
    const { trace, timelines, hide } = view.peek();
    const pixel = (window.t1 - window.t0) / Math.max(1, all.width);
    const ask = async (t: number, at: number, dt: number, hidden: readonly number[]) => {
      // What was hovered over is clicked next: the same question.
      const found = await askShared<DrawableDetail | null>(trace, question("at", { t, timeline: at, timelines, dt, hide: numbersText(hidden) }), signal);
      keepDetail(trace, timelines, found);
      return found;
    };
    const main = this.shown("main");
    const near = main && nearest(main, x, y, window, all);
    if (near) {
      const others = (meta.peek()?.categories ?? []).flatMap((kind, nth) => (kind.topology === near.topology ? [] : [nth]));
      const found = await ask(near.t, near.timeline, pixel, [...new Set([...hide, ...others])]);
      if (found) return found;
    }
    return ask(timeAt(x, window, all), timeline, pixel / 2, hide);
  }

  private async click(x: number, y: number, extend: boolean, add: boolean, before: Promise<void>): Promise<void> {
    const all = extent.peek();
    const timeline = timelineAt(y, now.peek(), all);
    const t = timeAt(x, now.peek(), all);
    const last = selected.peek().at(-1);
    this.canvas.focus({ preventScroll: true });
    const { trace } = view.peek();
    try {
      const [found] = await Promise.all([this.find(x, y), before]);
      if (view.peek().trace !== trace) return;
      if (extend && (last || cursor.peek())) {
        const [from, fromTimeline] = last ? [last.t0, last.timeline] : [cursor.peek()?.t ?? t, cursor.peek()?.timeline ?? timeline];
        const upTo = found && found.topology === "state" ? [found.t0, found.t1] : [t];
        const times = [from, ...(last ? [last.t1] : []), ...upTo];
        const timelines = [fromTimeline, timeline].filter((each) => each >= 0);
        change({ range: { t0: Math.min(...times), t1: Math.max(...times), y0: Math.min(...timelines), y1: Math.max(...timelines) + 1 } });
        return;
      }
      if (found) {
        if (add && view.peek().sel.includes(found.ref)) change({ sel: view.peek().sel.filter((ref) => ref !== found.ref) });
        else {
          // What was clicked is seen already: nothing moves.
          const others = add ? view.peek().sel.filter((ref) => ref !== found.ref) : [];
          change({ sel: [...others, found.ref] }, "select");
          say(describe(found));
        }
      } else if (!add) {
        change({ sel: [], range: null });
      }
      if (timeline >= 0) cursor.value = { timeline: found && found.timeline >= 0 ? found.timeline : timeline, t };
    } catch (error) {
      if (view.peek().trace === trace && !isAbort(error)) report(error);
    }
  }

  /** Zooms to the range below the pointer, else to the state. */
  private doubleClick({ x, y }: { x: number; y: number }): void {
    const [window, all] = [now.peek(), extent.peek()];
    const { range } = view.peek();
    const t = timeAt(x, window, all);
    const timeline = timelineAt(y, window, all);
    if (range && t >= range.t0 && t <= range.t1 && timeline >= range.y0 && timeline < range.y1) {
      const isWhole = range.y0 <= 0 && range.y1 >= all.timelines;
      const height = all.height / Math.max(1, range.y1 - range.y0);
      change({ t0: range.t0, t1: range.t1, range: null, ...(isWhole ? {} : { height, top: Math.max(0, range.y0 - all.pinned) }) });
      return;
    }
    this.find(x, y).then((found) => {
      if (!found || found.topology === "event") return;
      const [from, to] = [Math.min(found.t0, found.to?.t ?? found.t0), Math.max(found.t1, found.to?.t ?? found.t1)];
      const free = (to - from) * 0.125;
      change({ t0: from - free, t1: to + free });
    }).catch(report);
  }

  /** After a moment of rest: what lies below the pointer. */
  private look(): void {
    const { pointer } = this;
    window.clearTimeout(this.hovering.timer);
    this.hovering.stop?.abort();
    if (!pointer) return;
    const main = this.shown("main");
    const bundle = main && bundleAt(main, pointer.x, pointer.y, now.peek(), extent.peek(), this.where, this.merged);
    if (bundle) {
      hover.value = null;
      this.showTip(bundle, pointer.x, pointer.y);
      return;
    }
    if (this.tip.what) this.showTip(this.tip.what, pointer.x, pointer.y);
    this.hovering.timer = window.setTimeout(async () => {
      const stop = new AbortController();
      this.hovering.stop = stop;
      try {
        const found = await this.find(pointer.x, pointer.y, stop.signal);
        if (stop.signal.aborted || this.pointer !== pointer) return;
        hover.value = found;
        this.showTip(found, pointer.x, pointer.y);
      } catch (error) {
        if (!isAbort(error)) report(error);
      }
    }, this.tip.what ? 25 : 70);
  }

  private hideTip(): void {
    window.clearTimeout(this.hovering.timer);
    this.hovering.stop?.abort();
    this.showTip(null, 0, 0);
  }
}
