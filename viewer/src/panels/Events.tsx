// All drawables of the window as a table: the same content as the picture, for those who rather read.

import { useEffect, useState } from "preact/hooks";
import { selectRef } from "../actions";
import { askJson, isAbort, question, ApiError, type Value } from "../api";
import type { EventsAnswer } from "../answers";
import { duration, instant, spanBetween } from "../axis";
import { fullLabel } from "../labels";
import { layout, meta, rested } from "../state";
import { short } from "../timeline/Tooltip";
import { count, Csv, Exact, KindName, Panel, Subject, subjectValues } from "./parts";
import { Table, type Column } from "./Table";

/** Events that are asked for at once. */
const PART = 500;

export interface ListedEvent {
  ref: string;
  kind: number;
  t0: number;
  t1: number;
  timeline: number;
  to: number;
  info: string;
  /** Of the message or the access; −1 if it says none. */
  bytes: number;
  /** Path; empty if it names none. */
  file: string;
}

function eventsOf(found: EventsAnswer): ListedEvent[] {
  return found.ref.map((ref, nth) => ({ ref, kind: found.kind[nth] ?? 0, t0: found.t0[nth] ?? 0, t1: found.t1[nth] ?? 0, timeline: found.timeline[nth] ?? -1, to: found.to_timeline[nth] ?? -1, info: found.info[nth] ?? "", bytes: found.bytes[nth] ?? -1, file: found.file[nth] ?? "" }));
}

/** All that a drawable says of itself, as the trace has it. */
const SAID: Column<ListedEvent>[] = [{ id: "info", title: "With", cell: ({ info }) => short(info, 160) }];

/** The list of drawables that `values` describe, in parts, in the server's order; `more` are the last columns. */
export function Listing({ name, values, first, noun = "drawable", more = SAID }: { name: string; values: Record<string, Value>; first: string; noun?: string; more?: Column<ListedEvent>[] }) {
  const [order, setOrder] = useState(first);
  const [list, setList] = useState<{ events: ListedEvent[]; total: number; exact: boolean; asked: string }>({ events: [], total: -1, exact: true, asked: "" });
  const [end, setEnd] = useState(0);
  const [error, setError] = useState<{ text: string; isTooMuch: boolean } | null>(null);
  const asked = question("events", { ...values, sort: order });
  const { trace } = rested.value;
  const isKnown = meta.value !== null;
  // The same question about another trace has another answer.
  const about = `${trace}/${asked}`;
  const isNew = list.asked !== about;
  const from = isNew ? 0 : end;
  useEffect(() => {
    if (!isKnown || (!isNew && from < list.events.length)) return;
    const stop = new AbortController();
    const timer = window.setTimeout(async () => {
      try {
        const found = await askJson<EventsAnswer>(trace, `${asked}&offset=${from}&limit=${PART}`, stop.signal);
        setError(null);
        setEnd(from);
        setList((last) => ({ events: from === 0 ? eventsOf(found) : [...last.events, ...eventsOf(found)], total: found.total, exact: found.exact, asked: about }));
      } catch (error) {
        if (!isAbort(error)) setError({ text: error instanceof Error ? error.message : String(error), isTooMuch: error instanceof ApiError && error.status === 413 });
      }
    }, list.asked === "" || from > 0 ? 0 : 200);
    return () => {
      stop.abort();
      window.clearTimeout(timer);
    };
  }, [trace, asked, from, isKnown]);

  const length = spanBetween(list.events.map(({ t0 }) => t0), Number(values["t1"] ?? 1) - Number(values["t0"] ?? 0));
  const columns: Column<ListedEvent>[] = [
    { id: "t0", title: "Begin", isNumber: true, cell: ({ t0 }) => instant(t0, length), by: ({ t0 }) => t0 },
    { id: "dur", title: "Duration", isNumber: true, cell: ({ kind, t0, t1 }) => (meta.value?.categories[kind]?.topology === "event" ? "" : duration(t1 - t0)), by: ({ t0, t1 }) => t1 - t0 },
    { id: "name", title: "Category", cell: ({ kind }) => <KindName kind={kind} />, by: ({ kind }) => kind },
    { id: "timeline", title: "Timeline", cell: ({ timeline, to }) => `${short(fullLabel(layout.value, timeline) || "–", 60)}${to >= 0 ? ` → ${short(fullLabel(layout.value, to) || "–", 60)}` : ""}`, by: ({ timeline }) => timeline },
    ...more,
  ];
  // A window that is too long for a table is no failure.
  if (error) return <p class={error.isTooMuch ? "faint" : "wrong"} role={error.isTooMuch ? "status" : "alert"}>{short(error.text, 400)}</p>;
  if (list.total < 0) return <p class="faint">Reading…</p>;
  return (
    <>
      <p class="faint" role="status">{list.exact ? "" : "≈ "}{count(list.total)} {noun}{list.total === 1 ? "" : "s"}</p>
      <Table
        name={name} columns={columns} rows={list.events} total={list.total} first={first} keyOf={({ ref }) => ref} isOld={isNew}
        chosen={rested.value.sel.at(-1) ?? null} onChoose={({ ref }) => void selectRef(ref)} onSort={setOrder}
        onEnd={() => {
          if (!isNew && list.events.length < list.total) setEnd(list.events.length);
        }}
      />
    </>
  );
}

export function Events() {
  const values = subjectValues();
  return (
    <Panel head={<><Subject /><Exact isExact /><Csv what="events" values={values} /></>} shown={{ value: true, error: "", isOld: false }}>
      {() => <Listing name="Drawables of the window" values={values} first="t0" />}
    </Panel>
  );
}
