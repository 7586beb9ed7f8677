// The timelines of the trace that is compared with the first one, below it. The same window is shown of both, counted from the begin of each.

import { untracked, useComputed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { duration } from "../axis";
import { other, otherMeta, otherTimelines } from "../compare";
import { Gesture, wheel, type Command, type Pointer } from "../gesture";
import { seen, yOf } from "../geometry";
import { change, START, view, wheelZooms } from "../state";
import { NO_OTHER } from "../url";
import { labelled, LETTERS } from "./labels";
import { OTHER_RULER, otherArea, otherExtent, OtherStage, otherWindow } from "./otherStage";
import { stage } from "./Timeline";
import { short } from "./Tooltip";

export function Other() {
  const number = other.value;
  return number === null ? null : <OtherTimeline key={number} number={number} />;
}

/** Shows the other trace alone, or first, as far as that can be taken over. */
function toFirst(number: number): void {
  const { theme, palette, trace, panel } = view.peek();
  const { t0, t1 } = otherWindow();
  change({ ...START, theme, palette, panel, t0, t1, trace: number, other: trace });
}

/** What moves the window of the first trace; clicks mean nothing here. */
function move(commands: readonly Command[]): void {
  stage?.run(commands.filter((one) => ["zoomTime", "zoomTimelines", "panTime", "scrollTimelines", "pan", "pinch"].includes(one.do)));
}

function listen(element: HTMLCanvasElement): () => void {
  const gesture = new Gesture();
  const at = (event: MouseEvent) => {
    const frame = element.getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top };
  };
  // On a ruler every drag moves.
  const point = (event: PointerEvent): Pointer => ({
    id: event.pointerId, button: event.button, touch: event.pointerType === "touch", place: "ruler",
    shift: event.shiftKey, ctrl: event.ctrlKey || event.metaKey, alt: event.altKey, ...at(event),
  });
  const stop = new AbortController();
  const { signal } = stop;
  element.addEventListener("pointerdown", (event) => {
    if (event.button === 1) event.preventDefault();
    element.setPointerCapture(event.pointerId);
    move(gesture.down(point(event)));
  }, { signal });
  element.addEventListener("pointermove", (event) => move(gesture.move(point(event))), { signal });
  element.addEventListener("pointerup", (event) => move(gesture.up(point(event))), { signal });
  element.addEventListener("pointercancel", () => move(gesture.cancel()), { signal });
  element.addEventListener("wheel", (event) => {
    event.preventDefault();
    const scale = event.deltaMode === 1 ? 33 : event.deltaMode === 2 ? 400 : 1;
    const { shiftKey: shift, ctrlKey, metaKey, altKey: alt } = event;
    move(wheel({ ...at(event), dx: event.deltaX * scale, dy: event.deltaY * scale, shift, ctrl: ctrlKey || metaKey, alt }, wheelZooms.peek()));
  }, { passive: false, signal });
  return () => stop.abort();
}

function OtherTimeline({ number }: { number: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const ruler = useRef<HTMLCanvasElement>(null);
  const field = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!canvas.current || !ruler.current || !field.current) return;
    const room = field.current;
    const own = new OtherStage(canvas.current, ruler.current, number);
    const stops = [listen(canvas.current), listen(ruler.current)];
    const fit = () => own.resize(room.clientWidth, room.clientHeight);
    const observer = new ResizeObserver(fit);
    observer.observe(room);
    fit();
    return () => {
      observer.disconnect();
      for (const stop of stops) stop();
      own.stop();
    };
  }, []);
  const about = otherMeta.value;
  const name = short(about?.name ?? "…", 60);
  return (
    <section class="timeline other" aria-label={`Compared with ${name}`}>
      <div class="other-head">
        <b>{name}</b> {about ? duration(about.t1 - about.t0) : ""} <span class="faint">from its begin, as the trace above</span>
        <button type="button" title="This trace above, the other one below" onClick={() => toFirst(number)}>swap</button>
        <button type="button" title="Only the trace above" onClick={() => change({ other: NO_OTHER })}>close</button>
      </div>
      <div class="timeline-body">
        <OtherLabels />
        <div class="timeline-right">
          <canvas ref={ruler} class="timeline-ruler other-ruler" style={{ height: `${OTHER_RULER}px` }} aria-hidden="true" />
          <div ref={field} class="timeline-field">
            <canvas ref={canvas} id="other" class="timeline-canvas" role="img" aria-label={`Timelines of ${name} in the same window. Keys move both; swap makes it the one that is told.`} />
          </div>
        </div>
      </div>
    </section>
  );
}

function OtherLabels() {
  // What decides where they are: a movement in time changes none of it.
  const shape = useComputed(() => {
    const { top, timelineHeight } = otherWindow();
    return `${top}/${timelineHeight}`;
  });
  void [shape.value, otherArea.value];
  const timelines = otherTimelines.value;
  const [window, all] = untracked(() => [otherWindow(), otherExtent()] as const);
  const [first, last] = seen(window, all);
  return (
    <div class="labels">
      <div style={{ height: `${OTHER_RULER}px`, flex: "none" }} />
      <div class="labels-field">
        {!timelines ? null : labelled(first, last, window.timelineHeight, timelines.open).map((timeline) => {
          const high = Math.max(window.timelineHeight, LETTERS);
          const top = yOf(timeline, window, all) + Math.min(0, (window.timelineHeight - LETTERS) / 2);
          return (
            <div key={timeline} class="label" style={{ top: `${top}px`, height: `${high}px`, paddingLeft: `${20 + 10 * (timelines.depth[timeline] ?? 0)}px` }}>
              <span class="label-name">{short(timelines.label[timeline] ?? "", 200)}</span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
