// The canvases of lower timelines: time axis, tracks if there are any, and picture, fitted to their room.

import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { LOWER_RULER, LowerStage, type Lower } from "./lowerStage";
import { listenTo, type Place } from "./lowerPointer";
import { Tracks, type TracksSource } from "./Tracks";

interface Props {
  of: Lower;
  id: string;
  /** What it shows, for those who do not see it. */
  label: string;
  tracks?: TracksSource;
  area: Signal<{ width: number; height: number }>;
  onLook?: (place: Place | null) => void;
  onClick?: (place: Place, adds: boolean) => void;
  onDoubleClick?: (place: Place) => void;
}

export function LowerCanvas({ of, id, label, tracks, area, onLook, onClick, onDoubleClick }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const ruler = useRef<HTMLCanvasElement>(null);
  const band = useRef<HTMLCanvasElement>(null);
  const field = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!canvas.current || !ruler.current || !field.current) return;
    const room = field.current;
    const own = new LowerStage(canvas.current, ruler.current, of);
    const meanings = { ...(onLook && { look: onLook }), ...(onClick && { click: onClick }), ...(onDoubleClick && { doubleClick: onDoubleClick }) };
    const stops = [listenTo(canvas.current, meanings), listenTo(ruler.current), ...(band.current ? [listenTo(band.current)] : [])];
    const fit = () => {
      const [width, height] = [room.clientWidth, room.clientHeight];
      own.resize(width, height);
      if (area.peek().width !== width || area.peek().height !== height) area.value = { width, height };
    };
    const observer = new ResizeObserver(fit);
    observer.observe(room);
    fit();
    return () => {
      observer.disconnect();
      for (const stop of stops) stop();
      own.stop();
    };
  }, []);
  return (
    <div class="timeline-right">
      <canvas ref={ruler} class="timeline-ruler lower-ruler" style={{ height: `${LOWER_RULER}px` }} aria-hidden="true" />
      {tracks ? <Tracks of={tracks} canvas={band} /> : null}
      <div ref={field} class="timeline-field">
        <canvas ref={canvas} id={id} class="timeline-canvas" role="img" aria-label={label} />
      </div>
    </div>
  );
}
