// How long the drawables of one category last, as a histogram with a logarithmic axis. Brushing selects durations: what lasts so long is searched for,
// so that it is marked in the timelines and the strip above, and listed.

import { useSignal } from "@preact/signals";
import { question } from "../api";
import type { DurationsAnswer } from "../answers";
import { duration } from "../axis";
import { beyondLines, brushOf, classesOf, linesOf, queryOf } from "../brush";
import { found } from "../finding";
import { change, layout, rested, serverMeta, subject } from "../state";
import { short } from "../timeline/Tooltip";
import { useAnswer } from "./answer";
import { brief, count, KindName, subjectValues } from "./parts";

const HEIGHT = 60;

export function Durations({ kind }: { kind: number }) {
  const { t0, t1 } = subject.value;
  const { timelines, y0, y1 } = subjectValues();
  const asked = question("durations", { kind, t0, t1, timelines, y0, y1 });
  // Who has seen a part of it may wait for all.
  const patient = useSignal("");
  const shown = useAnswer<DurationsAnswer>(patient.value === asked ? question(asked, { patient: 1 }) : asked);
  const value = shown.value?.kind === kind ? shown.value : null;
  return (
    <figure class="durations">
      <figcaption>
        durations: <KindName kind={kind} />
        {value?.is_known && value.is_whole && (t0 > value.t0 || t1 < value.t1) ? <span class="faint"> of the whole trace</span> : null}
      </figcaption>
      {shown.error !== "" ? <p class="wrong" role="alert">{short(shown.error, 300)}</p>
        : !value ? <p class="faint">Reading…</p>
        : !value.is_known ? <p class="faint">The window is too long to be read: zoom in, or wait until the trace has been read.</p>
        : <>
            {value.until >= value.t1 ? null : (
              <p class="faint">
                {partOf(value)}{" "}
                {shown.isOld ? "Reading all of it…" : <button type="button" class="link" onClick={() => (patient.value = asked)}>read all of it</button>}
              </p>
            )}
            {value.count.length > 0 ? <Histogram of={value} /> : value.until < value.t1 ? null : <p class="faint">None begins here.</p>}
          </>}
    </figure>
  );
}

/** What an answer tells of that could not be given in full at once. */
function partOf({ t0, t1, until }: DurationsAnswer): string {
  if (until <= t0) return "There was no time to read it.";
  const part = (100 * (until - t0)) / (t1 - t0);
  return `Of what begins in the first ${part >= 9.95 ? part.toFixed(0) : part.toFixed(1)}\u202f%: there was no time for more.`;
}

/** Bars of about equal ratio from one to the next; drag or choose from and to. */
function Histogram({ of }: { of: DurationsAnswer }) {
  const held = useSignal<{ from: number; to: number } | null>(null);
  const name = serverMeta.value?.categories[of.kind]?.name ?? "";
  const brush = brushOf(rested.value.query);
  const own = brush?.name === name ? classesOf(brush, of.from) : null;
  const chosen = held.value ? [Math.min(held.value.from, held.value.to), Math.max(held.value.from, held.value.to)] as const : own;
  const bars = of.count.length;
  const most = Math.max(...of.count, 1);
  const { y0, y1 } = subjectValues();
  const [lines, beyond] = layout.value && typeof y0 === "number" && typeof y1 === "number"
    ? [linesOf(layout.value, y0, y1), beyondLines(layout.value, y0, y1)] : ["", ""];
  const select = (first: number, last: number) => {
    const [from, to] = [of.from[first] ?? 0, of.from[last + 1] ?? 0];
    change({ query: queryOf({ name, from, to }, of.is_whole && of.until >= of.t1 ? null : { t0: of.t0, t1: of.until }, lines) });
  };
  const at = (event: PointerEvent & { currentTarget: Element }) => {
    const frame = event.currentTarget.getBoundingClientRect();
    return Math.min(bars - 1, Math.max(0, Math.floor(((event.clientX - frame.left) / Math.max(1, frame.width)) * bars)));
  };
  const sum = (first: number, last: number) => of.count.slice(first, last + 1).reduce((all, one) => all + one, 0);
  const text = (nth: number) => `${duration(of.from[nth] ?? 0)} – ${duration(of.from[nth + 1] ?? 0)}: ${count(of.count[nth] ?? 0)}`;
  return (
    <>
      <svg
        class="duration-bars" viewBox={`0 0 ${bars} ${HEIGHT}`} preserveAspectRatio="none" role="img"
        aria-label={`${count(sum(0, bars - 1))} of ${duration(of.from[0] ?? 0)} to ${duration(of.from.at(-1) ?? 0)}`}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          held.value = { from: at(event), to: at(event) };
        }}
        onPointerMove={(event) => {
          if (held.peek()) held.value = { from: held.peek()!.from, to: at(event) };
        }}
        onPointerUp={() => {
          const range = held.peek();
          held.value = null;
          if (range) select(Math.min(range.from, range.to), Math.max(range.from, range.to));
        }}
        onPointerCancel={() => (held.value = null)}
      >
        {chosen ? <rect class="brush" x={chosen[0]} y={0} width={chosen[1] + 1 - chosen[0]} height={HEIGHT} /> : null}
        {of.count.map((number, nth) => {
          // What is there is seen, however little it is.
          const height = number > 0 ? Math.max(1.5, (number / most) * HEIGHT) : 0;
          const isIn = chosen !== null && nth >= chosen[0] && nth <= chosen[1];
          return (
            <g key={nth} class={isIn ? "in" : ""}>
              <title>{text(nth)}</title>
              <rect class="room" x={nth} y={0} width={1} height={HEIGHT} />
              <rect x={nth} y={HEIGHT - height} width={0.86} height={height} />
            </g>
          );
        })}
      </svg>
      <div class="duration-ends faint"><span>{duration(of.from[0] ?? 0)}</span><span>most {brief(most)}, logarithmic</span><span>{duration(of.from.at(-1) ?? 0)}</span></div>
      <div class="duration-choice">
        <Edge label="From" edges={of.from.slice(0, -1)} value={chosen?.[0] ?? -1} onChoose={(nth) => select(nth, Math.max(nth, chosen?.[1] ?? bars - 1))} />
        <Edge label="to" edges={of.from.slice(1)} value={chosen?.[1] ?? -1} onChoose={(nth) => select(Math.min(nth, chosen?.[0] ?? 0), nth)} />
        {chosen ? (
          <>
            <b>{count(sum(chosen[0], chosen[1]))}</b>
            {own && beyond !== "" ? <span class="faint" title="A search cannot name just these timelines">marked and listed: those {beyond}</span> : null}
            {own ? <button type="button" class="link" onClick={() => change({ panel: "hits" })}>list{found.value ? "" : " …"}</button> : null}
            {own ? <button type="button" aria-label="No durations selected" title="No durations selected" onClick={() => change({ query: "" })}>×</button> : null}
          </>
        ) : <span class="faint">drag over the bars</span>}
      </div>
    </>
  );
}

/** An end of the brush, for those who do not drag. */
function Edge({ label, edges, value, onChoose }: { label: string; edges: readonly number[]; value: number; onChoose: (nth: number) => void }) {
  return (
    <label>
      {label}{" "}
      <select value={value < 0 ? "" : String(value)} onChange={(event) => event.currentTarget.value !== "" && onChoose(Number(event.currentTarget.value))}>
        <option value="">–</option>
        {edges.map((edge, nth) => <option key={nth} value={String(nth)}>{duration(edge)}</option>)}
      </select>
    </label>
  );
}
