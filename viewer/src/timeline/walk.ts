// A measurement: forty gestures by script, each of some frames, with a rest after it until the exact picture is there. What
// it took is left in the page for whoever drives the browser: `window.__walk`, and on the console. Started by `?walk`.

import { home, panTime, scrollTimelines, zoomTimelines, zoomTime, type View } from "../geometry";
import { extent, now } from "./now";
import { stage } from "./Timeline";

export interface Walk {
  gestures: number;
  /** Milliseconds between frames while something moves. */
  frame: { median: number; p95: number; max: number };
  /** Milliseconds from the end of a gesture until the exact picture is drawn. */
  settle: { median: number; p95: number; max: number };
  timelines: number;
  width: number;
  height: number;
}

declare global {
  interface Window {
    __walk?: Walk;
  }
}

const FRAMES = 14;
/** Milliseconds after which a picture that has not come counts as if it had. */
const SETTLE_TIMEOUT_MS = 10_000;

type Gesture = (view: View, part: number) => View;

/** Forty gestures: in, sideways, down, timelines higher and lower, out, on places spread over the trace. */
function gestures(): Gesture[] {
  const all = () => extent.peek();
  const zoom = (factor: number, x: number): Gesture => (view) => zoomTime(view, all(), factor ** (1 / FRAMES), x * all().width);
  const pan = (part: number): Gesture => (view) => panTime(view, all(), (part * all().width) / FRAMES);
  const scroll = (part: number): Gesture => (view) => scrollTimelines(view, all(), (part * all().height) / FRAMES);
  const tall = (factor: number): Gesture => (view) => zoomTimelines(view, all(), factor ** (1 / FRAMES), all().height * 0.4);
  const list: Gesture[] = [];
  for (let round = 0; round < 5; round++) {
    const x = 0.15 + 0.17 * round;
    list.push(zoom(4, x), zoom(8, x), pan(0.6), tall(3), scroll(1.5), zoom(6, 0.5), pan(-0.8), round % 2 ? tall(1 / 3) : zoom(1 / 400, x));
  }
  return list;
}

function quantiles(values: number[]): { median: number; p95: number; max: number } {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number) => Math.round((sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0) * 10) / 10;
  return { median: at(0.5), p95: at(0.95), max: at(1) };
}

const nextFrame = () => new Promise<number>((done) => requestAnimationFrame(done));

async function settled(): Promise<void> {
  const own = stage;
  if (!own) return;
  const canvas = document.getElementById("timeline");
  if (canvas?.dataset["settled"] === "yes") return;
  await new Promise<void>((done) => {
    const timer = window.setTimeout(done, SETTLE_TIMEOUT_MS);
    own.onDrawn = (isSettled) => {
      if (!isSettled) return;
      own.onDrawn = null;
      window.clearTimeout(timer);
      done();
    };
  });
}

/** Walks, once the first picture is there. */
export async function walk(): Promise<Walk> {
  while (document.getElementById("timeline")?.dataset["settled"] !== "yes") await nextFrame();
  const [frames, settles]: [number[], number[]] = [[], []];
  const list = gestures();
  stage?.move(home(extent.peek()), true);
  await settled();
  for (const gesture of list) {
    let last = await nextFrame();
    for (let nth = 0; nth < FRAMES; nth++) {
      stage?.move(gesture(now.peek(), nth), nth === FRAMES - 1);
      const at = await nextFrame();
      frames.push(at - last);
      last = at;
    }
    const ended = performance.now();
    await settled();
    settles.push(performance.now() - ended);
    // A reader looks before going on.
    await new Promise((done) => window.setTimeout(done, 150));
  }
  const { timelines, width, height } = extent.peek();
  const found: Walk = { gestures: list.length, frame: quantiles(frames), settle: quantiles(settles), timelines, width, height };
  window.__walk = found;
  console.log(`walk ${JSON.stringify(found)}`);
  return found;
}
