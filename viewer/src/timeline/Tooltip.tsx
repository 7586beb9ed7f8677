// What lies under the pointer, exactly: name, duration, times, row, the first arguments.

import type { Signal } from "@preact/signals";
import type { Detail } from "../api";
import { bytes, duration, instant } from "../axis";
import { css } from "../color";
import { labelOf, nameOf } from "../words";
import { extent, now } from "./now";
import { colors } from "./stage";

/** Arguments that are shown; all of them stand in the panel of details. */
const MOST_INFO = 6;

/** Text that a trace brought, short enough for a tooltip. */
export function short(text: string, most = 60): string {
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
  return clean.length > most ? `${clean.slice(0, most)}…` : clean;
}

export function Tooltip({ tip }: { tip: Signal<{ detail: Detail | null; x: number; y: number }> }) {
  const { detail, x, y } = tip.value;
  if (!detail) return null;
  const { width, height, rows } = extent.peek();
  const span = now.peek().t1 - now.peek().t0;
  const style = {
    ...(x > width / 2 ? { right: `${width - x + 14}px` } : { left: `${x + 14}px` }),
    ...(y > height / 2 ? { bottom: `${height - y + 14}px` } : { top: `${y + 14}px` }),
  };
  const look = colors.peek();
  const color = detail.topology === "state" ? look.fill[detail.kind] : look.line[detail.kind];
  const { to } = detail;
  return (
    <div class="timeline-tip" role="tooltip" style={style}>
      <div class="timeline-tip-name">
        <span class="swatch" style={{ background: css(color ?? 0x808080) }} />
        {short(nameOf(detail), 120)}
      </div>
      {detail.topology === "event" ? null : (
        <div>
          <b>{duration(to ? to.t - detail.t0 : detail.t1 - detail.t0)}</b>
          {detail.topology === "state" && detail.excl < detail.t1 - detail.t0 ? `, itself ${duration(detail.excl)}` : ""}
          {detail.bytes === null ? "" : `, ${bytes(detail.bytes)}`}
        </div>
      )}
      <div class="faint">{instant(detail.t0, span)}{detail.topology === "state" ? ` – ${instant(detail.t1, span)}` : ""}</div>
      <div class="faint">{short(labelOf(detail))}{to ? ` → ${short(labelOf(to))}` : ""}{rows > 0 && detail.row < 0 ? " (row hidden)" : ""}</div>
      {detail.backward ? <div class="alarm">arrives before it was sent: clocks differ</div> : null}
      {detail.info.length === 0 ? null : (
        <table>
          <tbody>
            {detail.info.slice(0, MOST_INFO).map(([key, value]) => (
              <tr><td class="faint">{short(key, 30)}</td><td>{short(value)}</td></tr>
            ))}
          </tbody>
        </table>
      )}
      {detail.parents.length === 0 ? null : <div class="faint">in {detail.parents.map((parent) => short(parent.name, 40)).join(" ‹ ")}</div>}
    </div>
  );
}
