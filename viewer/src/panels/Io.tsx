// File I/O: the calls of the window that take longest, and for a selected one the operations that it became on the disks (or
// the call that a selected operation belongs to): both have the same CallID.

import { signal } from "@preact/signals";
import { select } from "../actions";
import { question } from "../api";
import type { CallAnswer, DrawableDetail } from "../answers";
import { bytes, duration, instant, spanOf } from "../axis";
import { meta, rested, restedSpan, selected } from "../state";
import { short } from "../timeline/Tooltip";
import { labelOf } from "../words";
import { useAnswer } from "./answer";
import { Listing, type ListedEvent } from "./Events";
import { count, Csv, KindName, Panel, Subject, subjectValues } from "./parts";
import { Table, type Column } from "./Table";

/** The call whose operations are shown, and where to look for it: stays when one of them is selected. */
const shownCall = signal<{ id: string; t0: number; t1: number } | null>(null);

const CLASSES = ["io", "disk"];

/** What calls and operations on files are told by. */
const ACCESSES: Column<ListedEvent>[] = [
  { id: "bytes", title: "Bytes", isNumber: true, cell: ({ bytes: moved }) => (moved < 0 ? "" : bytes(moved)) },
  { id: "file", title: "File", cell: ({ file }) => short(file, 160) },
];

export function Io() {
  const one = selected.value.at(-1);
  const chosen = one?.callid ?? null;
  if (one && chosen !== null && shownCall.peek()?.id !== chosen) shownCall.value = { id: chosen, t0: Math.min(one.t0, one.t1), t1: Math.max(one.t0, one.t1) };
  const call = shownCall.value;
  const id = call?.id ?? null;
  const shown = useAnswer<CallAnswer>(call && meta.value ? question("call", { ...call, timelines: rested.value.timelines }) : null);
  // Arrows from calls to operations would only say the same again.
  const others = (meta.value?.categories ?? []).flatMap(({ class: name, topology }, kind) => (CLASSES.includes(name) && topology === "state" ? [] : [kind]));
  const hasIo = others.length < (meta.value?.categories.length ?? 0);
  const values = { ...subjectValues(), hide: others.join(",") };
  return (
    <div class="panel">
      <div class="panel-head">
        <Subject />
        {id === null ? null : <span>call <code>{short(id, 40)}</code> <button type="button" onClick={() => (shownCall.value = null)} disabled={chosen !== null}>all calls</button></span>}
        {hasIo ? <Csv what="events" values={values} /> : null}
      </div>
      {id !== null ? <Panel head={null} shown={shown}>{(found) => <Operations found={found} />}</Panel>
        : hasIo ? <Listing name="Calls and operations of file I/O" values={values} first="-dur" more={ACCESSES} />
        : <p class="faint">This trace has no file I/O. Record it with MPI-IO and POSIX calls on to see files here.</p>}
    </div>
  );
}

function Operations({ found: { call, operations, total, seconds, exact } }: { found: CallAnswer }) {
  const length = restedSpan.value.t1 - restedSpan.value.t0;
  const begin = call?.t0 ?? operations[0]?.t0 ?? 0;
  const columns: Column<DrawableDetail>[] = [
    { id: "t0", title: "After the call's begin", isNumber: true, cell: ({ t0 }) => duration(t0 - begin), by: ({ t0 }) => t0 },
    { id: "dur", title: "Duration", isNumber: true, cell: ({ t0, t1 }) => duration(t1 - t0), by: ({ t0, t1 }) => t1 - t0 },
    { id: "name", title: "Operation", cell: ({ kind }) => <KindName kind={kind} />, by: ({ name }) => name },
    { id: "timeline", title: "On", cell: ({ label }) => short(label, 60), by: ({ label }) => label },
    { id: "bytes", title: "Bytes", isNumber: true, cell: (one) => (one.bytes === null ? "" : bytes(one.bytes)), by: (one) => one.bytes ?? 0 },
    { id: "file", title: "File", cell: ({ file }) => short(file ?? "", 160), by: ({ file }) => file ?? "" },
  ];
  return (
    <>
      <p class="call">
        {call ? (
          <>
            <button type="button" class="link" onClick={() => select(call)}><KindName kind={call.kind} /></button> on {short(labelOf(call), 60)},
            {" "}{duration(call.t1 - call.t0)} at {instant(call.t0, spanOf(call.t1 - call.t0, length))}{call.bytes === null ? "" : `, ${bytes(call.bytes)}`}
          </>
        ) : "The call itself is not in this trace."}
        {" "}– {total === 0 ? "no operations below it are recorded" : `${exact ? "" : "at least "}${count(total)} ${total === 1 ? "operation" : "operations"} below it, together ${duration(seconds)}`}
        {total > operations.length ? `; the first ${operations.length}:` : ""}
      </p>
      {operations.length === 0 ? null
        : <Table name="Disk operations of the call" columns={columns} rows={operations} first="t0" keyOf={({ ref }) => ref} chosen={rested.value.sel.at(-1) ?? null} onChoose={(one) => select(one)} />}
    </>
  );
}
