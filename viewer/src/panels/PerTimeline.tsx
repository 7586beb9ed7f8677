// Statistics by timeline: how busy each is, when it ends, and its time in the largest categories.

import { pinRow, putCursor, setRows } from "../actions";
import { duration, instant } from "../axis";
import { withItem } from "../spec";
import { layout, meta, subject, view } from "../state";
import { short } from "../timeline/Tooltip";
import { Bar, Csv, Exact, Panel, percent, Subject, subjectValues } from "./parts";
import { useStats } from "./Statistics";
import { Table, type Column } from "./Table";

interface TimelineUse {
  row: number;
  label: string;
  busy: number;
  ends: number | null;
  top: number[];
}

export function PerRow() {
  const shown = useStats();
  const stats = shown.value;
  const length = stats?.span ?? 1;
  const { y0, y1 } = subject.value;
  const uses: TimelineUse[] = (stats?.rows.busy ?? []).map((busy, row) => ({
    row, label: layout.value?.label[row] ?? `timeline ${row}`, busy: busy / Math.max(1e-12, length * Math.max(1, stats?.rows.threads[row] ?? 1)),
    ends: stats?.rows.ends[row] ?? null, top: (stats?.rows.top ?? []).map(({ excl }) => excl[row] ?? 0),
  })).filter(({ row }) => row >= y0 && row < y1 && !layout.value?.open[row]);
  const columns: Column<TimelineUse>[] = [
    { id: "label", title: "Timeline", cell: ({ label }) => short(label, 60), by: ({ label }) => label },
    { id: "busy", title: "Busy", hint: "Share of the time of its threads in any state", isNumber: true, cell: ({ busy }) => <><Bar share={busy} />{percent(busy)}</>, by: ({ busy }) => busy },
    ...(stats?.rows.top ?? []).map(({ kind }, nth): Column<TimelineUse> => ({
      id: `kind${nth}`, title: short(meta.value?.categories[kind]?.name ?? "", 24), hint: "Exclusive time", isNumber: true,
      cell: ({ top }) => duration(top[nth] ?? 0), by: ({ top }) => top[nth] ?? 0,
    })),
    { id: "ends", title: "Ends", hint: "End of its last drawable", isNumber: true, cell: ({ ends }) => (ends === null ? "–" : instant(ends, length)), by: ({ ends }) => ends ?? 0 },
    {
      id: "pin", title: "Pin", cell: ({ row, label }) => (
        <button type="button" tabIndex={-1} onClick={() => pinRow(row)} aria-label={`Pin ${short(label, 40)}`}>{row < (layout.value?.pinned ?? 0) ? "★" : "☆"}</button>
      ),
    },
  ];
  const head = (
    <>
      <Subject /> {stats ? <Exact isExact={stats.exact} /> : null}
      <button type="button" onClick={() => setRows(withItem(view.peek().rows, "sort", "-busy"), { top: 0 })}>Order the timelines by it</button>
      <Csv what="rows" values={subjectValues()} />
    </>
  );
  return (
    <Panel head={head} shown={shown}>
      {() => <Table name="Statistics by timeline" columns={columns} rows={uses} first="busy" keyOf={({ row }) => String(row)} onChoose={({ row }) => putCursor(row, subject.peek().t0)} isOld={shown.isOld} />}
    </Panel>
  );
}
