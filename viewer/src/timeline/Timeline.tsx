// The timeline: minimap, labels of the timelines, time axis, tracks, picture. Puts the canvases into the page and hands them to the stage.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Minimap } from "./Minimap";
import { TimelineLabels } from "./TimelineLabels";
import { noted, RULER, Stage } from "./stage";
import { Tooltip, type Tip } from "./Tooltip";
import { ownTracks, Tracks } from "./Tracks";

export { colors } from "./stage";

/** The stage of the page, for measurements. */
export let stage: Stage | null = null;

function Note() {
  return noted.value === "" ? null : <div class="timeline-note">{noted.value}</div>;
}

/** Minimap, labels and picture. */
export function Timeline() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const ruler = useRef<HTMLCanvasElement>(null);
  const tracks = useRef<HTMLCanvasElement>(null);
  const field = useRef<HTMLDivElement>(null);
  const tip = useSignal<Tip>({ what: null, x: 0, y: 0 });

  useEffect(() => {
    if (!canvas.current || !ruler.current || !tracks.current || !field.current) return;
    const room = field.current;
    const holder: Tip = { what: null, x: 0, y: 0 };
    const own = new Stage(canvas.current, ruler.current, tracks.current, holder, (what, x, y) => {
      Object.assign(holder, { what, x, y });
      if (what !== tip.peek().what || what) tip.value = { what, x, y };
    });
    stage = own;
    const fit = () => own.resize(room.clientWidth, room.clientHeight);
    const observer = new ResizeObserver(fit);
    observer.observe(room);
    const ratio = window.matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    ratio.addEventListener("change", fit);
    fit();
    return () => {
      observer.disconnect();
      ratio.removeEventListener("change", fit);
      own.stop();
      stage = null;
    };
  }, []);

  return (
    <div class="timeline">
      <Minimap />
      <div class="timeline-body">
        <TimelineLabels rulerHeight={RULER} />
        <div class="timeline-right">
          <canvas ref={ruler} class="timeline-ruler" aria-hidden="true" />
          <Tracks of={ownTracks} canvas={tracks} />
          <div ref={field} class="timeline-field">
            <canvas
              ref={canvas}
              id="timeline"
              class="timeline-canvas"
              role="application"
              aria-roledescription="timeline"
              aria-label="Timeline: arrow keys move over timelines and states, what is there is said. The same as tables: panels Statistics and Events."
              tabIndex={0}
            />
            <Note />
            <Tooltip tip={tip} />
          </div>
        </div>
      </div>
    </div>
  );
}
