// Statistics by timeline: how busy each is, when it ends, and its time in the largest categories, as a heat table.

import { pinTimeline, putCursor, setTimelines } from "../actions";
import { duration, instant } from "../axis";
import { withItem } from "../spec";
import { layout, meta, subject, view } from "../state";
import { short } from "../timeline/Tooltip";
import { Bar, Csv, Exact, Heat, Panel, percent, Subject, subjectValues } from "./parts";
import { useStats } from "./Statistics";
import { Table, type Column } from "./Table";

interface TimelineUse {
  timeline: number;
  label: string;
  busy: number;
  ends: number | null;
  top: number[];
}

export function PerTimeline() {
  const shown = useStats();
  const stats = shown.value;
  const length = stats?.span ?? 1;
  const { y0, y1 } = subject.value;
  const uses: TimelineUse[] = (stats?.timelines.busy ?? []).map((busy, timeline) => ({
    timeline, label: layout.value?.label[timeline] ?? `timeline ${timeline}`, busy: busy / Math.max(1e-12, length * Math.max(1, stats?.timelines.threads[timeline] ?? 1)),
    ends: stats?.timelines.ends[timeline] ?? null, top: (stats?.timelines.top ?? []).map(({ excl }) => excl[timeline] ?? 0),
  })).filter(({ timeline }) => timeline >= y0 && timeline < y1 && !layout.value?.open[timeline]);
  const most = (stats?.timelines.top ?? []).map((_, nth) => uses.reduce((largest, { top }) => Math.max(largest, top[nth] ?? 0), 0));
  const columns: Column<TimelineUse>[] = [
    { id: "label", title: "Timeline", cell: ({ label }) => short(label, 60), by: ({ label }) => label },
    { id: "busy", title: "Busy", hint: "Share of the time of its threads in any state", isNumber: true, cell: ({ busy }) => <><Bar share={busy} />{percent(busy)}</>, by: ({ busy }) => busy },
    ...(stats?.timelines.top ?? []).map(({ kind }, nth): Column<TimelineUse> => ({
      id: `kind${nth}`, title: short(meta.value?.categories[kind]?.name ?? "", 24), hint: "Exclusive time; the stronger its ground, the nearer it is to the most of the column", isNumber: true,
      cell: ({ top }) => <Heat value={top[nth] ?? 0} most={most[nth] ?? 0}>{duration(top[nth] ?? 0)}</Heat>, by: ({ top }) => top[nth] ?? 0,
    })),
    { id: "ends", title: "Ends", hint: "End of its last drawable", isNumber: true, cell: ({ ends }) => (ends === null ? "–" : instant(ends, length)), by: ({ ends }) => ends ?? 0 },
    {
      id: "pin", title: "Pin", cell: ({ timeline, label }) => (
        <button type="button" tabIndex={-1} onClick={() => pinTimeline(timeline)} aria-label={`Pin ${short(label, 40)}`}>{timeline < (layout.value?.pinned ?? 0) ? "★" : "☆"}</button>
      ),
    },
  ];
  const head = (
    <>
      <Subject /> {stats ? <Exact isExact={stats.exact} /> : null}
      <button type="button" onClick={() => setTimelines(withItem(view.peek().timelines, "sort", "-busy"), { top: 0 })}>Order the timelines by it</button>
      <Csv what="timelines" values={subjectValues()} />
    </>
  );
  return (
    <Panel head={head} shown={shown}>
      {() => <Table name="Statistics by timeline" columns={columns} rows={uses} first="busy" keyOf={({ timeline }) => String(timeline)} onChoose={({ timeline }) => putCursor(timeline, subject.peek().t0)} isOld={shown.isOld} />}
    </Panel>
  );
}
