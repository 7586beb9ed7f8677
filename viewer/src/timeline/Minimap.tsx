// The whole trace in a strip: where the time goes by class, the window as a frame that drags and resizes, ticks of hits.

import { computed, effect, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { askJson, question, ApiError, report } from "../api";
import type { OverviewAnswer } from "../answers";
import { axis, duration, instant } from "../axis";
import { css, mix } from "../color";
import { clamp, type Extent } from "../geometry";
import { opensFiles, unknownHere } from "../own";
import { colorOfClass, type Palette } from "../palette";
import { area, change, hitBins, meta, rested, settle, show, slide, view, type View } from "../state";
import { extent, now } from "./now";
import { colors } from "./stage";

const HEIGHT = 46;
/** Pixels beside an edge that take hold of it. */
const GRIP = 6;

type Hold = "left" | "right" | "middle" | "new";

interface Drag {
  hold: Hold;
  from: View;
  t0: number;
  t1: number;
  /** Time below the pointer at the begin. */
  at: number;
}

export function Minimap() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const overview = useSignal<OverviewAnswer | null>(null);

  useEffect(() => {
    let timer = 0;
    let asked = 0;
    let of = "";
    const traceNumber = computed(() => view.value.trace);
    // How far the index is decides how exact the answer can be, so it is asked for again.
    const index = computed(() => `${meta.value?.name}/${meta.value?.index.state}/${meta.value?.index.percent}`);
    const width = computed(() => Math.round(area.value.width));
    const stop = effect(() => {
      void index.value;
      const trace = traceNumber.value;
      const bins = Math.min(2000, Math.max(16, width.value));
      if (!meta.peek() || width.value < 16) return;
      window.clearTimeout(timer);
      const own = ++asked;
      // Shares of another trace say nothing about this one.
      const about = `${trace}/${meta.peek()?.name}`;
      if (about !== of) overview.value = null;
      of = about;
      const ask = async () => {
        try {
          const found = await askJson<OverviewAnswer>(trace, question("overview", { bins }));
          if (own === asked) overview.value = found;
        } catch (error) {
          // The strip without shares is still the strip: its window can be dragged.
          if (!(error instanceof ApiError)) report(error);
        }
      };
      timer = window.setTimeout(() => void ask(), overview.peek() ? 250 : 0);
    });
    return () => {
      window.clearTimeout(timer);
      stop();
    };
  }, []);

  useEffect(() => {
    let frame = 0;
    const ground: Ground = { canvas: document.createElement("canvas"), of: [] };
    const stop = effect(() => {
      void [overview.value, now.value, extent.value, colors.value, hitBins.value, view.value.range];
      if (frame === 0) {
        frame = requestAnimationFrame(() => {
          frame = 0;
          if (canvas.current) draw(canvas.current, ground, overview.peek());
        });
      }
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, []);

  const drag = useRef<Drag | null>(null);
  const timeOf = (event: PointerEvent) => {
    const { t0, t1 } = extent.peek();
    const frame = canvas.current?.getBoundingClientRect();
    if (!frame || frame.width === 0) return t0;
    return t0 + ((event.clientX - frame.left) / frame.width) * (t1 - t0);
  };
  const holdAt = (t: number): Hold => {
    const { t0, t1, width } = extent.peek();
    const grip = (GRIP / Math.max(1, width)) * (t1 - t0);
    const window = now.peek();
    const isWhole = window.t1 - window.t0 > (t1 - t0) * 0.98;
    if (Math.abs(t - window.t0) < grip && Math.abs(t - window.t0) <= Math.abs(t - window.t1)) return "left";
    if (Math.abs(t - window.t1) < grip) return "right";
    return t > window.t0 && t < window.t1 && !isWhole ? "middle" : "new";
  };
  const moved = (event: PointerEvent) => {
    const held = drag.current;
    const t = timeOf(event);
    if (!held) {
      const hold = holdAt(t);
      if (canvas.current) canvas.current.style.cursor = hold === "middle" ? "grab" : hold === "new" ? "crosshair" : "ew-resize";
      return;
    }
    const by = t - held.at;
    const least = (extent.peek().t1 - extent.peek().t0) * 1e-6;
    let { t0, t1 } = held;
    if (held.hold === "middle") [t0, t1] = [t0 + by, t1 + by];
    else if (held.hold === "left") t0 = Math.min(t, t1 - least);
    else if (held.hold === "right") t1 = Math.max(t, t0 + least);
    else if (Math.abs(by) > least * 1000) [t0, t1] = [Math.min(t, held.at), Math.max(t, held.at)];
    const next = clamp({ ...now.peek(), t0, t1 }, extent.peek());
    slide({ t0: next.t0, t1: next.t1 });
  };

  void rested.value;
  const shown = now.peek();
  const all = extent.value;
  // The strip has room for a trace that is compared with this one, wherever that lies.
  const own = meta.value ?? all;
  const isBeyond = all.t0 < own.t0 || all.t1 > own.t1;
  const percent = Math.round(((shown.t0 + shown.t1) / 2 - all.t0) / Math.max(1e-12, all.t1 - all.t0) * 100);
  return (
    <div class="minimap">
      <div class="minimap-label" aria-hidden="true">
        <div>whole trace</div>
        <div class="faint" title={isBeyond ? "The strip is longer: it reaches as far as the trace below" : undefined}>{meta.value ? duration(own.t1 - own.t0) : "…"}</div>
      </div>
      {overview.value?.classes.length === 0 && opensFiles() ? <p class="minimap-note faint">shares of the time over the run: {unknownHere()}</p> : null}
      <canvas
        ref={canvas}
        id="minimap"
        role="slider"
        tabIndex={0}
        aria-label="Place of the window in the trace"
        aria-orientation="horizontal"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.min(100, Math.max(0, percent))}
        aria-valuetext={`${instant(shown.t0, shown.t1 - shown.t0)} to ${instant(shown.t1, shown.t1 - shown.t0)}`}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          const at = timeOf(event);
          const { t0, t1 } = now.peek();
          drag.current = { hold: holdAt(at), from: view.peek(), t0, t1, at };
          if (drag.current.hold === "middle") event.currentTarget.style.cursor = "grabbing";
        }}
        onPointerMove={moved}
        onPointerUp={(event) => {
          const held = drag.current;
          drag.current = null;
          if (!held) return;
          if (view.peek() !== held.from) return settle(held.from);
          // A click beside the frame brings the window there.
          const t = timeOf(event);
          if (held.hold !== "new") return;
          const half = (held.t1 - held.t0) / 2;
          const next = clamp({ ...now.peek(), t0: t - half, t1: t + half }, extent.peek());
          change({ t0: next.t0, t1: next.t1 });
        }}
        onPointerCancel={() => {
          if (drag.current) show(drag.current.from);
          drag.current = null;
        }}
        onDblClick={() => {
          const { t0, t1 } = extent.peek();
          change({ t0, t1 });
        }}
      />
    </div>
  );
}

/** What of the strip does not move, by what it was drawn of: only the window is drawn anew at each step of a movement. */
interface Ground {
  canvas: HTMLCanvasElement;
  of: readonly unknown[];
}

function draw(canvas: HTMLCanvasElement, ground: Ground, overview: OverviewAnswer | null): void {
  const all = extent.peek();
  const { t0, t1, width } = all;
  const ratio = Math.min(3, window.devicePixelRatio || 1);
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.round(HEIGHT * ratio)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const context = canvas.getContext("2d", { alpha: false });
  if (!context || !(t1 > t0)) return;
  const look = colors.peek();
  const of = [overview, look, hitBins.peek(), w, h, t0, t1];
  if (of.some((one, nth) => one !== ground.of[nth])) {
    ground.of = of;
    [ground.canvas.width, ground.canvas.height] = [w, h];
    const below = ground.canvas.getContext("2d", { alpha: false });
    below?.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (below) drawGround(below, overview, all, look);
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.drawImage(ground.canvas, 0, 0);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawWindow(context, all, look);
}

/** Shares of the classes, the axis, hits. */
function drawGround(context: CanvasRenderingContext2D, overview: OverviewAnswer | null, { t0, t1, width }: Extent, look: Palette): void {
  const { theme } = look;
  context.fillStyle = css(theme.timeline);
  context.fillRect(0, 0, width, HEIGHT);
  const x = (time: number) => ((time - t0) / (t1 - t0)) * width;
  if (overview) {
    // Stacked from the base, one path for each class.
    const bins = overview.share[0]?.length ?? 0;
    const sum = new Float64Array(bins);
    // The trace may be shorter than what there is to be looked at, where another one is compared with it.
    const left = x(overview.t0);
    const wide = (x(overview.t1) - left) / Math.max(1, bins);
    overview.classes.forEach((className, nth) => {
      if (className === "compute") return;
      context.fillStyle = css(colorOfClass(look, className));
      overview.share[nth]?.forEach((share, bin) => {
        if (!(share > 0)) return;
        const below = sum[bin] ?? 0;
        const above = Math.min(1, below + share);
        sum[bin] = above;
        context.fillRect(left + bin * wide, HEIGHT * (1 - above), wide + 0.3, HEIGHT * (above - below));
      });
    });
  }
  for (const { time, major, label } of axis(t0, t1, Math.max(2, Math.floor(width / 160))).ticks) {
    if (!major) continue;
    context.font = "10px system-ui, sans-serif";
    context.fillStyle = css(theme.text);
    context.globalAlpha = 0.25;
    context.fillRect(Math.round(x(time)), 0, 1, HEIGHT);
    context.globalAlpha = 1;
    const wide = context.measureText(label).width;
    if (x(time) + wide + 6 > width) continue;
    context.globalAlpha = 0.7;
    context.fillStyle = css(theme.ground);
    context.fillRect(x(time) + 2, 1, wide + 3, 12);
    context.globalAlpha = 1;
    context.fillStyle = css(theme.text);
    context.fillText(label, x(time) + 3, 11);
  }
  const hits = hitBins.peek();
  const own = meta.peek();
  const [begin, room] = own ? [x(own.t0), x(own.t1) - x(own.t0)] : [0, width];
  hits.forEach((count, bin) => {
    if (count === 0) return;
    context.fillStyle = css(theme.hit);
    context.fillRect(Math.round(begin + (bin / hits.length) * room), HEIGHT - 9, Math.max(2, room / hits.length), 9);
  });
}

/** The range, and the window as a frame. */
function drawWindow(context: CanvasRenderingContext2D, { t0, t1, width }: Extent, { theme }: Palette): void {
  const x = (time: number) => ((time - t0) / (t1 - t0)) * width;
  const { range } = view.peek();
  if (range) {
    context.fillStyle = css(theme.accent);
    context.globalAlpha = 0.35;
    context.fillRect(x(range.t0), 0, Math.max(1.5, x(range.t1) - x(range.t0)), HEIGHT);
    context.globalAlpha = 1;
  }
  const shown = now.peek();
  let [left, right] = [x(shown.t0), x(shown.t1)];
  if (right - left < 3) [left, right] = [(left + right) / 2 - 1.5, (left + right) / 2 + 1.5];
  context.fillStyle = css(mix(theme.ground, theme.faint, 0.3));
  context.globalAlpha = 0.6;
  context.fillRect(0, 0, Math.max(0, left), HEIGHT);
  context.fillRect(right, 0, Math.max(0, width - right), HEIGHT);
  context.globalAlpha = 1;
  context.strokeStyle = css(theme.accent);
  context.lineWidth = 2;
  context.strokeRect(Math.max(1, left), 1, Math.min(width - 1, right) - Math.max(1, left), HEIGHT - 2);
  context.fillStyle = css(theme.accent);
  for (const edge of [Math.max(1, left), Math.min(width - 1, right)]) {
    context.beginPath();
    context.roundRect(edge - 3, HEIGHT / 2 - 8, 6, 16, 3);
    context.fill();
  }
}
