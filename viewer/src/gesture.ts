// What the pointer means: its events in, commands out. Knows nothing of the page, so all of it can be tried without one.

/** Where the pointer went down. */
export type Place = "canvas" | "ruler";

export interface Pointer {
  id: number;
  x: number;
  y: number;
  button: number;
  touch: boolean;
  shift: boolean;
  ctrl: boolean;
  alt: boolean;
  place: Place;
}

export interface Wheel {
  x: number;
  y: number;
  /** Pixels. */
  dx: number;
  dy: number;
  shift: boolean;
  ctrl: boolean;
  alt: boolean;
}

export type Command =
  | { do: "click"; x: number; y: number; extend: boolean; add: boolean }
  | { do: "range"; x0: number; y0: number; x1: number; y1: number; done: boolean }
  | { do: "measure"; x0: number; y0: number; x1: number; y1: number; done: boolean }
  | { do: "pan"; dx: number; dy: number; done: boolean }
  | { do: "pinch"; x: number; y: number; factor: number; timelineFactor: number; dx: number; dy: number; done: boolean }
  | { do: "zoomTime"; x: number; factor: number }
  | { do: "zoomTimelines"; y: number; factor: number }
  | { do: "panTime"; pixels: number }
  | { do: "scrollTimelines"; pixels: number }
  | { do: "cancel" };

/** Pixels that a pointer may move and still click. */
const SLOP = 4;
/** Pixels of the wheel for one step of zoom. */
const NOTCH = 100;

interface Drag {
  kind: "range" | "measure" | "pan";
  id: number;
  x0: number;
  y0: number;
  x: number;
  y: number;
  moved: boolean;
  shift: boolean;
  ctrl: boolean;
}

/** Pointers that are down, and what they are doing. */
export class Gesture {
  private drag: Drag | null = null;
  private fingers = new Map<number, Pointer>();

  /** Whether a pointer is dragging something. */
  get busy(): boolean {
    return this.drag?.moved ?? false;
  }

  down(pointer: Pointer): Command[] {
    if (pointer.touch) {
      this.fingers.set(pointer.id, pointer);
      if (this.fingers.size === 2) {
        this.drag = null;
        return [];
      }
    }
    if (this.drag || pointer.button > 1 || this.fingers.size > 2) return [];
    const pans = pointer.button === 1 || pointer.place === "ruler" || pointer.touch;
    this.drag = {
      kind: pans ? "pan" : pointer.shift ? "measure" : "range",
      id: pointer.id, x0: pointer.x, y0: pointer.y, x: pointer.x, y: pointer.y,
      moved: false, shift: pointer.shift, ctrl: pointer.ctrl,
    };
    return [];
  }

  move(pointer: Pointer): Command[] {
    const pinched = this.pinch(pointer, false);
    if (pinched) return pinched;
    const drag = this.drag;
    if (!drag || drag.id !== pointer.id) return [];
    if (!drag.moved && Math.hypot(pointer.x - drag.x0, pointer.y - drag.y0) < SLOP) return [];
    drag.moved = true;
    const [dx, dy] = [pointer.x - drag.x, pointer.y - drag.y];
    drag.x = pointer.x;
    drag.y = pointer.y;
    return [this.dragged(drag, dx, dy, false)];
  }

  up(pointer: Pointer): Command[] {
    if (this.fingers.size === 2 && this.fingers.has(pointer.id)) {
      const done = this.pinch(pointer, true) ?? [];
      this.fingers.clear();
      return done;
    }
    this.fingers.delete(pointer.id);
    const drag = this.drag;
    if (!drag || drag.id !== pointer.id) return [];
    this.drag = null;
    if (drag.moved) return [this.dragged(drag, pointer.x - drag.x, pointer.y - drag.y, true, pointer)];
    if (pointer.button === 1) return [];
    return [{ do: "click", x: pointer.x, y: pointer.y, extend: drag.shift, add: drag.ctrl }];
  }

  /** Escape, or the system took the pointer away. */
  cancel(): Command[] {
    const was = this.drag !== null || this.fingers.size > 0;
    this.drag = null;
    this.fingers.clear();
    return was ? [{ do: "cancel" }] : [];
  }

  private dragged(drag: Drag, dx: number, dy: number, done: boolean, to: { x: number; y: number } = drag): Command {
    if (drag.kind === "pan") return { do: "pan", dx, dy, done };
    return { do: drag.kind, x0: drag.x0, y0: drag.y0, x1: to.x, y1: to.y, done };
  }

  private pinch(pointer: Pointer, done: boolean): Command[] | null {
    const before = this.fingers.get(pointer.id);
    if (this.fingers.size !== 2 || !before) return null;
    const other = [...this.fingers.values()].find((finger) => finger.id !== pointer.id);
    if (!other) return null;
    this.fingers.set(pointer.id, { ...before, x: pointer.x, y: pointer.y });
    const ratio = (now: number, then: number) => (then > 30 && now > 30 ? now / then : 1);
    return [{
      do: "pinch", done,
      x: (pointer.x + other.x) / 2, y: (pointer.y + other.y) / 2,
      factor: ratio(Math.abs(pointer.x - other.x), Math.abs(before.x - other.x)),
      timelineFactor: ratio(Math.abs(pointer.y - other.y), Math.abs(before.y - other.y)),
      dx: (pointer.x - before.x) / 2, dy: (pointer.y - before.y) / 2,
    }];
  }
}

/** Wheel: timelines; with Ctrl zooms time, with Shift pans it, with Alt zooms timelines. `zooms` swaps the first two. */
export function wheel(event: Wheel, zooms: boolean): Command[] {
  const steps = 2 ** (-(event.dy || event.dx) / NOTCH / 4);
  if (event.alt) return [{ do: "zoomTimelines", y: event.y, factor: steps }];
  if (event.shift) return [{ do: "panTime", pixels: event.dy || event.dx }];
  if (event.ctrl !== zooms) return [{ do: "zoomTime", x: event.x, factor: steps }];
  const commands: Command[] = [];
  // A touch pad moves sideways, too: only what it mostly does.
  if (Math.abs(event.dx) > Math.abs(event.dy)) commands.push({ do: "panTime", pixels: event.dx });
  else if (event.dy !== 0) commands.push({ do: "scrollTimelines", pixels: event.dy });
  return commands;
}
