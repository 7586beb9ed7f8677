// Tracks between the time axis and the timelines: what all ranks do together over the time of the window. One canvas for all of them, which is
// drawn anew only when the window, the values or the pointer's time have changed.

import { computed, effect, untracked, useComputed, useSignal, type ReadonlySignal } from "@preact/signals";
import type { Ref } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { TracksAnswer, WaitsAnswer } from "../answers";
import { instant } from "../axis";
import { css, mix } from "../color";
import { otherTracks } from "../compare";
import { xOf, timeAt, type Extent, type View } from "../geometry";
import type { Palette } from "../palette";
import { cursor, isMoving, meta, pointerTime, shownTracks, tracks, view, waits, wholeTracks } from "../state";
import { columnAt, columnLength, meanWords, NO_TRACE, outside, titleOf, topOf, TRACK_HEIGHT, trackOf, wordsAt, type Track } from "../tracks";
import { extent, now } from "./now";
import { colors } from "./stage";

/** Pixels that are left free above the values of a track. */
const FREE = 3;

/** What tracks are drawn of: the trace of the page, or the one that is compared with it. */
export interface TracksSource {
  /** What the canvas is called. */
  id: string;
  /** Begin and end of the trace, seconds. */
  trace: ReadonlySignal<{ t0: number; t1: number } | null>;
  /** Name of the trace, where that is not clear. */
  name: ReadonlySignal<string>;
  /** Names of the tracks that are shown. */
  shown: ReadonlySignal<readonly string[]>;
  answer: ReadonlySignal<TracksAnswer | null>;
  /** Those of the whole trace, which are seen where the answer does not reach while something moves. */
  whole: ReadonlySignal<TracksAnswer | null>;
  /** Those of the trace that they are compared with: heights mean the same in both. */
  beside: ReadonlySignal<TracksAnswer | null>;
  window: ReadonlySignal<View>;
  extent: ReadonlySignal<Extent>;
  look: ReadonlySignal<Palette>;
  waits: ReadonlySignal<WaitsAnswer | null>;
  /** Time below the pointer, and where it is read: there, else at the cursor. */
  pointer: ReadonlySignal<number | null>;
  reading: ReadonlySignal<number | null>;
  range: ReadonlySignal<{ t0: number; t1: number } | null>;
}

/** The tracks of the page. */
export const ownTracks: TracksSource = {
  id: "tracks", trace: meta, name: computed(() => ""), shown: shownTracks, answer: tracks, whole: wholeTracks, beside: otherTracks, window: now, extent, look: colors, waits,
  pointer: pointerTime, reading: computed(() => pointerTime.value ?? cursor.value?.t ?? null), range: computed(() => view.value.range),
};

export function Tracks({ of, canvas }: { of: TracksSource; canvas: Ref<HTMLCanvasElement> }) {
  const own = useRef<HTMLCanvasElement | null>(null);
  const tip = useSignal<{ x: number; nth: number } | null>(null);
  const count = of.shown.value.length;
  useEffect(() => {
    let frame = 0;
    const stop = effect(() => {
      void [of.shown.value, of.answer.value, of.whole.value, of.beside.value, of.window.value, of.extent.value, of.look.value, of.pointer.value, of.range.value];
      if (frame === 0) {
        frame = requestAnimationFrame(() => {
          frame = 0;
          if (own.current) draw(own.current, of);
        });
      }
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, []);
  return (
    <div class="tracks" style={{ height: `${count * TRACK_HEIGHT}px` }} hidden={count === 0}>
      <canvas
        ref={(element) => {
          own.current = element;
          if (typeof canvas === "function") canvas(element);
          else if (canvas) canvas.current = element;
        }}
        id={of.id} role="img" aria-label={`Tracks ${of.name.value === "" ? "" : `of ${of.name.value} `}over the window. ${useMeans(of).value}`} style={{ height: `${count * TRACK_HEIGHT}px` }}
        onPointerMove={(event) => {
          const frame = event.currentTarget.getBoundingClientRect();
          tip.value = event.buttons === 0 ? { x: event.clientX - frame.left, nth: Math.floor((event.clientY - frame.top) / TRACK_HEIGHT) } : null;
        }}
        onPointerLeave={() => (tip.value = null)}
      />
      {tip.value === null ? null : <TrackTip of={of} {...tip.value} />}
    </div>
  );
}

/** The tracks of an answer. A quantity has one scale above and below; of ranks the full height is all ranks of the trace. */
function tracksOf({ shown, beside, look }: TracksSource, answer: TracksAnswer | null): (Track | null)[] {
  return shown.value.map((name) => {
    const track = answer && trackOf(name, answer, look.value);
    const other = name !== "ranks" && beside.value ? trackOf(name, beside.value, look.value) : null;
    return track && { ...track, top: Math.max(track.top, other?.top ?? 0) };
  });
}

/** The means of all tracks, for those who do not see them. */
function useMeans(of: TracksSource) {
  return useComputed(() => {
    const answer = of.answer.value;
    if (!answer) return "";
    const found = tracksOf(of, answer);
    return found.map((track) => track && `${titleOf(track.name)[0]}: ${meanWords(track, answer, of.trace.value ?? answer)} in the mean`).filter(Boolean).join("; ");
  });
}

/** Whether there is a trace at a time. */
function isInside({ trace: { value: whole } }: TracksSource, t: number): boolean {
  return whole === null || (t >= whole.t0 && t <= whole.t1);
}

/** The means of a track, as they stand beside it. */
function meanOf(track: Track, answer: TracksAnswer, { trace: { value: whole } }: TracksSource): string {
  const text = meanWords(track, answer, whole ?? answer);
  return text === NO_TRACE ? text : `mean ${text}`;
}

/** Why there is nothing to be seen; empty if there is. */
function missing(answer: TracksAnswer | null): string {
  if (!answer) return "…";
  if (answer.state === "pending") return "when the trace has been read";
  return answer.state === "unknown" ? "too long to be read: zoom in" : "";
}

/** Names of the tracks beside them, and their values at the pointer, else at the cursor, else what the height stands for. */
export function TrackLabels({ of }: { of: TracksSource }) {
  const shown = of.shown.value;
  const answer = of.answer.value;
  const found = tracksOf(of, answer);
  const t = of.reading.value;
  return (
    <div class="track-labels">
      {shown.map((name, nth) => {
        const [title, hint] = titleOf(name);
        const track = found[nth];
        const column = answer && t !== null ? columnAt(t, answer) : -1;
        const isUnknown = name === "ranks" && of.waits.value?.state !== "known";
        return (
          <div key={name} class="track-label" style={{ height: `${TRACK_HEIGHT}px` }} title={hint}>
            <div><span class="track-name">{title}</span><span class="track-top">{track ? topOf(track) : ""}</span></div>
            <div class="faint track-value" data-track={name}>
              {!track || !answer ? missing(answer) : t !== null && column >= 0 && !isInside(of, t) ? NO_TRACE : column >= 0 ? wordsAt(track, column, answer.ranks, true) : track.top === 0 ? "nothing in this window"
                : isUnknown && of.waits.value?.state === "pending" ? "who waits: when the trace has been read" : meanOf(track, answer, of)}
            </div>
          </div>
        );
      })}
    </div>
  );
}

/** The values of a track below the pointer, in full. */
function TrackTip({ of, x, nth }: { of: TracksSource; x: number; nth: number }) {
  const answer = of.answer.value;
  const track = tracksOf(of, answer)[nth];
  if (!answer || !track || isMoving.value) return null;
  const all = of.extent.value;
  const t = timeAt(x, of.window.value, all);
  const column = columnAt(t, answer);
  if (column < 0) return null;
  const side = x > all.width / 2 ? { right: `${all.width - x + 14}px` } : { left: `${x + 14}px` };
  return (
    <div class="timeline-tip" role="tooltip" style={{ ...side, top: `${(nth + 1) * TRACK_HEIGHT + 2}px` }}>
      <div><b>{isInside(of, t) ? wordsAt(track, column, answer.ranks) : NO_TRACE}</b></div>
      <div class="faint">{titleOf(track.name)[1]}</div>
      <div class="faint">{instant(t, answer.t1 - answer.t0)}, mean of {columnLength(answer)}</div>
    </div>
  );
}

function draw(canvas: HTMLCanvasElement, of: TracksSource): void {
  const all = of.extent.peek();
  const names = of.shown.peek();
  const height = names.length * TRACK_HEIGHT;
  const ratio = Math.min(3, window.devicePixelRatio || 1);
  const [w, h] = [Math.max(1, Math.round(all.width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const context = canvas.getContext("2d", { alpha: false });
  if (!context || height === 0) return;
  const [look, shown] = [of.look.peek(), of.window.peek()];
  const { theme } = look;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = css(theme.ground);
  context.fillRect(0, 0, all.width, height);
  const answers = [of.whole.peek(), of.answer.peek()];
  const drawn = untracked(() => answers.map((answer) => tracksOf(of, answer)));
  names.forEach((_, nth) => {
    const bottom = (nth + 1) * TRACK_HEIGHT - 1;
    context.fillStyle = css(theme.timeline);
    context.fillRect(0, bottom - TRACK_HEIGHT + 1 + FREE, all.width, TRACK_HEIGHT - 1 - FREE);
    const found = drawn.map((list) => list[nth] ?? null);
    const top = (found[1] ?? found[0])?.top ?? 0;
    const own = answers[1];
    found.forEach((track, which) => {
      const answer = answers[which];
      if (!track || !answer || top <= 0) return;
      // What is known of the window itself covers what is known of the whole.
      const gap = which === 0 && found[1] && own ? [own.t0, own.t1] as const : null;
      drawTrack(context, track, answer, top, bottom, shown, all, gap);
    });
    context.fillStyle = css(theme.grid);
    context.fillRect(0, bottom, all.width, 1);
  });
  drawMarks(context, of, shown, all, height, look);
}

/** One path for each part, with a step at each column; nothing within the gap. */
function drawTrack(
  context: CanvasRenderingContext2D, { parts }: Track, { t0, t1, columns }: TracksAnswer, top: number, bottom: number, shown: View, all: Extent,
  gap: readonly [number, number] | null,
): void {
  const length = (t1 - t0) / columns;
  const first = Math.max(0, Math.floor((shown.t0 - t0) / length));
  const behind = Math.min(columns, Math.ceil((shown.t1 - t0) / length));
  const scale = (TRACK_HEIGHT - 1 - FREE) / top;
  const below = new Float64Array(Math.max(0, behind - first));
  for (const { color, values } of parts) {
    context.fillStyle = css(color);
    context.beginPath();
    for (let column = first; column < behind; column++) {
      const value = values[column] ?? 0;
      const [from, to] = [t0 + column * length, t0 + (column + 1) * length];
      if (value <= 0) continue;
      const low = below[column - first] ?? 0;
      // What is there is seen, however little it is.
      const high = Math.max(value * scale, low === 0 ? 0.75 : 0);
      for (const [begin, end] of outside(from, to, gap)) {
        const x = xOf(begin, shown, all);
        context.rect(x, bottom - low - high, xOf(end, shown, all) - x + (end === to ? 0.3 : 0), high);
      }
      below[column - first] = low + high;
    }
    context.fill();
  }
}

/** The selected range and the time below the pointer. */
function drawMarks(context: CanvasRenderingContext2D, of: TracksSource, shown: View, all: Extent, height: number, { theme }: Palette): void {
  const range = of.range.peek();
  if (range) {
    const [x0, x1] = [xOf(range.t0, shown, all), xOf(range.t1, shown, all)];
    context.fillStyle = css(theme.accent);
    context.globalAlpha = 0.14;
    context.fillRect(x0, 0, Math.max(1, x1 - x0), height);
    context.globalAlpha = 1;
  }
  const t = of.pointer.peek();
  if (t === null) return;
  context.fillStyle = css(mix(theme.ground, theme.text, 0.7));
  context.fillRect(Math.round(xOf(t, shown, all)), 0, 1, height);
}
