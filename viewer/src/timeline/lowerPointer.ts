// What the pointer does over lower timelines: it moves the window of the page, and may look and choose.

import { Gesture, wheel, type Command, type Pointer } from "../gesture";
import { wheelZooms } from "../state";
import { stage } from "./Timeline";

/** Where the pointer is, in pixels of the canvas. */
export interface Place {
  x: number;
  y: number;
}

/** What else than a movement is meant; a null place: the pointer has gone. */
interface Meanings {
  look?: (place: Place | null) => void;
  click?: (place: Place, adds: boolean) => void;
  doubleClick?: (place: Place) => void;
}

const MOVES: readonly Command["do"][] = ["zoomTime", "zoomTimelines", "panTime", "scrollTimelines", "pan", "pinch"];

/** Listens to a canvas until the function that is given back is called. */
export function listenTo(element: HTMLCanvasElement, { look, click, doubleClick }: Meanings = {}): () => void {
  const gesture = new Gesture();
  const at = (event: MouseEvent): Place => {
    const frame = element.getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top };
  };
  // On a ruler every drag moves.
  const point = (event: PointerEvent): Pointer => ({
    id: event.pointerId, button: event.button, touch: event.pointerType === "touch", place: "ruler",
    shift: event.shiftKey, ctrl: event.ctrlKey || event.metaKey, alt: event.altKey, ...at(event),
  });
  const run = (commands: readonly Command[]) => {
    for (const command of commands) if (command.do === "click") click?.(command, command.add);
    stage?.run(commands.filter((one) => MOVES.includes(one.do)));
  };
  const stop = new AbortController();
  const { signal } = stop;
  element.addEventListener("pointerdown", (event) => {
    if (event.button === 1) event.preventDefault();
    element.setPointerCapture(event.pointerId);
    run(gesture.down(point(event)));
  }, { signal });
  element.addEventListener("pointermove", (event) => {
    run(gesture.move(point(event)));
    if (event.buttons === 0) look?.(at(event));
  }, { signal });
  element.addEventListener("pointerup", (event) => run(gesture.up(point(event))), { signal });
  element.addEventListener("pointercancel", () => run(gesture.cancel()), { signal });
  element.addEventListener("pointerleave", () => look?.(null), { signal });
  element.addEventListener("dblclick", (event) => doubleClick?.(at(event)), { signal });
  element.addEventListener("wheel", (event) => {
    event.preventDefault();
    const scale = event.deltaMode === 1 ? 33 : event.deltaMode === 2 ? 400 : 1;
    const { shiftKey: shift, ctrlKey, metaKey, altKey: alt } = event;
    run(wheel({ ...at(event), dx: event.deltaX * scale, dy: event.deltaY * scale, shift, ctrl: ctrlKey || metaKey, alt }, wheelZooms.peek()));
  }, { passive: false, signal });
  return () => stop.abort();
}
