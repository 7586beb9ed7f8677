// Small parts that panels have in common.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { HitsAnswer } from "../answers";
import { address, question, type Value } from "../api";
import { duration, stretch, thin } from "../axis";
import { css, heatOf } from "../color";
import { meta, MOST_NAME, rested, timelineCount, subject, unavailable } from "../state";
import { colors } from "../timeline/stage";
import { short } from "../timeline/Tooltip";
import type { Shown } from "./answer";

/** A kind's colour as it is in the picture; that it has a pattern, too, so that colour is not all that tells. */
export function Swatch({ kind }: { kind: number }) {
  const look = colors.value;
  const topology = meta.value?.categories[kind]?.topology ?? "state";
  const color = topology === "state" ? look.fill[kind] : look.line[kind];
  const shape = topology === "state" ? (look.pattern[kind] ? "patterned" : "") : topology;
  return <span class={`swatch ${shape}`} style={{ "--color": css(color ?? 0x808080) }} aria-hidden="true" />;
}

export function KindName({ kind }: { kind: number }) {
  return <><Swatch kind={kind} />{short(meta.value?.categories[kind]?.name ?? `kind ${kind}`, 80)}</>;
}

/** 41.3 %. */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return "–";
  const value = share * 100;
  if (value > 0 && value < 0.005) return "<0.01\u202f%";
  return `${value >= 99.95 || value === 0 ? value.toFixed(0) : value >= 9.95 ? value.toFixed(1) : value.toFixed(2)}\u202f%`;
}

export function count(number: number): string {
  return thin(String(number));
}

/** 123, 12 345, 1.23 M: at most six signs, for narrow columns. */
export function brief(number: number): string {
  if (number < 1e5) return count(number);
  const power = number < 999_500 ? 1 : number < 999.5e6 ? 2 : 3;
  return `${(number / 1000 ** power).toPrecision(3)}\u202f${["", "k", "M", "G"][power]}`;
}

/** A name that is written: Enter takes it, Escape leaves it as it was; an empty one is the trace's own. */
export function NameField({ label, value, otherwise, most = MOST_NAME, onDone }: { label: string; value: string; otherwise: string; most?: number; onDone: (text: string | null) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const done = useRef(false);
  const finish = (text: string | null) => {
    // Enter takes the field away, which it hears of as well.
    if (done.current) return;
    done.current = true;
    onDone(text);
  };
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  return (
    <input
      ref={field} class="name-field" aria-label={label} placeholder={short(otherwise, 60)} value={short(value, most)} maxLength={most} spellcheck={false}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") finish(event.currentTarget.value);
        if (event.key === "Escape") finish(null);
      }}
      onBlur={(event) => finish(event.currentTarget.value)}
    />
  );
}

/** A bar as wide as its share; the number stands beside it. */
export function Bar({ share }: { share: number }) {
  return <span class="bar" aria-hidden="true"><span style={{ width: `${share > 0 ? Math.min(100, share * 100) : 0}%` }} /></span>;
}

/** A number whose ground is the stronger the nearer it is to the most of its column: one row that differs is seen among many. */
export function Heat({ value, most, children }: { value: number; most: number; children: ComponentChildren }) {
  return <span class="heat" style={{ "--heat": `${heatOf(value, most)}%` }}>{children}</span>;
}

/** Values of timelines as a line of little bars; where there are more timelines than bars the largest of several. */
export function Spark({ values, name, onTimeline }: { values: readonly number[]; name: string; onTimeline?: (timeline: number) => void }) {
  const bars = Math.min(160, values.length);
  const shown = Array.from({ length: bars }, (_, nth) => {
    const from = Math.floor((nth * values.length) / bars);
    const to = Math.max(from + 1, Math.floor(((nth + 1) * values.length) / bars));
    let timeline = from;
    for (let at = from; at < to; at++) if (values[at]! > values[timeline]!) timeline = at;
    return { timeline, value: values[timeline] ?? 0 };
  });
  const most = shown.reduce((sum, { value }) => Math.max(sum, value), 0) || 1;
  return (
    <svg class="spark" viewBox={`0 0 ${Math.max(1, bars)} 20`} preserveAspectRatio="none" role="img" aria-label={name}>
      {shown.map(({ timeline, value }, nth) => (
        <rect key={nth} x={nth} y={20 - (value / most) * 20} width={0.85} height={(value / most) * 20} onClick={() => onTimeline?.(timeline)} />
      ))}
    </svg>
  );
}

/** What the numbers of a panel are about. */
export function Subject() {
  const { t0, t1, y0, y1, isRange } = subject.value;
  const timelines = y0 <= 0 && y1 >= timelineCount.value ? "all timelines" : y1 - y0 === 1 ? "one timeline" : `${count(y1 - y0)} timelines`;
  return <span class="subject"><b>{isRange ? "Selected range" : "Window"}</b> {stretch(t0, t1)} ({duration(t1 - t0)}), {timelines}</span>;
}

/** What the panels are about, as the parameters of questions have it. */
export function subjectValues(): Record<string, Value> {
  const { t0, t1, y0, y1, isRange } = subject.value;
  const isAll = !isRange || (y0 <= 0 && y1 >= timelineCount.value);
  return { t0, t1, timelines: rested.value.timelines, y0: isAll ? null : Math.floor(y0), y1: isAll ? null : Math.ceil(y1), hide: rested.value.hide.join(",") };
}

/** A link to the same numbers as a file. */
export function Csv({ what, values }: { what: string; values: Record<string, Value> }) {
  const link = address(rested.value.trace, question("csv", { what, ...values }));
  return link ? <a class="csv" href={link} download={`${what}.csv`}>CSV</a> : null;
}

interface PanelProps<T> {
  head: ComponentChildren;
  shown: Shown<T>;
  children: (value: T) => ComponentChildren;
}

/** The head of a panel, and what it shows when there is nothing (yet). */
export function Panel<T>({ head, shown, children }: PanelProps<T>) {
  return (
    <div class="panel">
      <div class="panel-head">{head}</div>
      {shown.error !== "" ? <p class="wrong" role="alert">{short(shown.error, 600)}</p>
        : shown.value === null ? <p class="faint">{unavailable.value !== "" ? `The trace cannot be shown: ${unavailable.value}.` : shown.isOld ? "Reading…" : "Nothing here."}</p>
        : children(shown.value)}
    </div>
  );
}

/** How many hits there are, as far as is known: "72", "≈ 1 181 000" as previews say, "≥ 21 956" of what could be read. */
export function hitsText({ count: number, exact, at_least: isLeast }: Pick<HitsAnswer, "count" | "exact" | "at_least">): string {
  return `${exact ? "" : isLeast ? "≥ " : "≈ "}${count(number)}`;
}

/** Whether numbers and times are exact, and if so, whether bytes are. */
export function ExactTimes({ stats: { exact, exact_times: areTimesExact } }: { stats: { exact: boolean; exact_times: boolean } }) {
  if (exact || !areTimesExact) return <Exact isExact={exact} />;
  return <span class="chip" title="Numbers and times are exact. The bytes of calls are told in windows that can be read.">without bytes of calls</span>;
}

/** Says that numbers are not exact. */
export function Exact({ isExact }: { isExact: boolean }) {
  return isExact ? null : <span class="chip" title="Not all of the window could be read in time: numbers are estimates">≈ estimate</span>;
}
