// What lies under the pointer, exactly: name, duration, times, timeline, the first arguments.

import type { Signal } from "@preact/signals";
import type { DrawableDetail } from "../answers";
import { bytes, duration, instant, spanOf, stretch, whole } from "../axis";
import { css } from "../color";
import { infoWords } from "../infoWords";
import { meta } from "../state";
import { communicatorOf, fileOf, itself, labelOf, nameOf, waitOf } from "../words";
import type { Bundle } from "./arrows";
import { extent, now } from "./now";
import { colors } from "./stage";

/** Arguments that are shown; all of them stand in the panel of details. */
const MOST_INFO = 6;

/** Text that a trace brought, short enough for a tooltip. */
export function short(text: string, most = 60): string {
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
  return clean.length > most ? `${clean.slice(0, most)}…` : clean;
}

/** What lies under the pointer, and where that is. */
export interface Tip {
  what: DrawableDetail | Bundle | null;
  x: number;
  y: number;
}

export function Tooltip({ tip }: { tip: Signal<Tip> }) {
  const { what, x, y } = tip.value;
  if (!what) return null;
  const { width, height } = extent.peek();
  const style = {
    ...(x > width / 2 ? { right: `${width - x + 14}px` } : { left: `${x + 14}px` }),
    ...(y > height / 2 ? { bottom: `${height - y + 14}px` } : { top: `${y + 14}px` }),
  };
  return (
    <div class="timeline-tip" role="tooltip" style={style}>
      {what.topology === "bundle" ? <OfBundle bundle={what} /> : <OfDrawable detail={what} />}
    </div>
  );
}

function OfBundle({ bundle }: { bundle: Bundle }) {
  const span = now.peek().t1 - now.peek().t0;
  const kind = meta.peek()?.categories[bundle.kind];
  return (
    <>
      <div class="timeline-tip-name">
        <span class="swatch" style={{ background: css(colors.peek().line[bundle.kind] ?? 0x808080) }} />
        {kind ? short(kind.name, 120) : null}
      </div>
      <div><b>{whole(bundle.count)} messages</b>{bundle.bytes > 0 ? `, ${bytes(bundle.bytes)}` : ""}</div>
      <div class="faint">sent about {instant(bundle.sent, span)}, there about {instant(bundle.arrived, span)}</div>
      {bundle.backward ? <div class="alarm">arrive before they were sent: clocks differ</div> : null}
      <div class="faint">closer they are seen one by one</div>
    </>
  );
}

function OfDrawable({ detail }: { detail: DrawableDetail }) {
  const { timelines } = extent.peek();
  const span = spanOf(detail.t1 - detail.t0, now.peek().t1 - now.peek().t0);
  const look = colors.peek();
  const color = detail.topology === "state" ? look.fill[detail.kind] : look.line[detail.kind];
  const { to } = detail;
  const info = infoWords(detail);
  const [alone, wait, communicator, file] = [itself(detail), waitOf(detail), communicatorOf(detail), fileOf(detail)];
  return (
    <>
      <div class="timeline-tip-name">
        <span class="swatch" style={{ background: css(color ?? 0x808080) }} />
        {short(nameOf(detail), 120)}
      </div>
      {detail.topology === "event" ? null : (
        <div>
          <b>{duration(to ? to.t - detail.t0 : detail.t1 - detail.t0)}</b>
          {alone === null ? "" : `, itself ${alone}`}
          {detail.bytes === null ? "" : `, ${bytes(detail.bytes)}`}
        </div>
      )}
      <div class="faint">{detail.topology === "state" ? stretch(detail.t0, detail.t1, span) : instant(detail.t0, span)}</div>
      <div class="faint">{short(labelOf(detail))}{to ? ` → ${short(labelOf(to))}` : ""}{timelines > 0 && detail.timeline < 0 ? " (timeline hidden)" : ""}</div>
      {communicator === null ? null : <div class="faint">on communicator {short(communicator)}</div>}
      {file === null ? null : <div class="faint">{short(file, 80)}</div>}
      {wait === null ? null : <div class="waits">{short(wait, 200)}</div>}
      {detail.backward ? <div class="alarm">arrives before it was sent: clocks differ</div> : null}
      {info.length === 0 ? null : (
        <table>
          <tbody>
            {info.slice(0, MOST_INFO).map(([key, value]) => (
              <tr><td class="faint">{short(key, 30)}</td><td>{short(value)}</td></tr>
            ))}
          </tbody>
        </table>
      )}
      {detail.parents.length === 0 ? null : <div class="faint">in {detail.parents.map((parent) => short(parent.name, 40)).join(" ‹ ")}</div>}
    </>
  );
}
