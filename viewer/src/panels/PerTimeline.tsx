// Statistics by timeline: how busy each is, when it ends, and its time in the largest categories, as a heat table. A cell leads to what it counts.

import { signal } from "@preact/signals";
import { pinTimeline, putCursor, setTimelines, toggleFull } from "../actions";
import { duration, instant } from "../axis";
import { ofCategory } from "../brush";
import { nextHit } from "../finding";
import { fullLabel } from "../labels";
import { withItem } from "../spec";
import { change, layout, meta, serverMeta, subject, view } from "../state";
import { short } from "../timeline/Tooltip";
import { Bar, Csv, Exact, Heat, Panel, percent, Subject, subjectValues } from "./parts";
import { useStats } from "./Statistics";
import { Table, type Column } from "./Table";

interface TimelineUse {
  timeline: number;
  label: string;
  busy: number;
  ends: number | null;
  /** Seconds in each of the largest categories. */
  top: number[];
  /** Seconds that all of its threads have. */
  room: number;
}

/** Whether cells tell shares of the time, not seconds. */
const asShares = signal(false);

/** Searches for a category on the ranks and the thread of a timeline, puts the cursor there, and selects the first of these calls. */
function searchCell(kind: number, timeline: number): void {
  const name = serverMeta.peek()?.categories[kind]?.name ?? "";
  const [ranks, thread] = [layout.peek()?.ranks[timeline] ?? "", layout.peek()?.thread[timeline] ?? -1];
  const { t0 } = subject.peek();
  change({ query: `${ofCategory(name)}${ranks === "" ? "" : ` rank:${ranks}`}${thread < 0 ? "" : ` thread:${thread}`}`, sel: [] });
  putCursor(timeline, t0);
  void nextHit(1);
}

export function PerTimeline() {
  const shown = useStats();
  const stats = shown.value;
  const length = stats?.span ?? 1;
  const { y0, y1 } = subject.value;
  const uses: TimelineUse[] = (stats?.timelines.busy ?? []).map((busy, timeline) => ({
    timeline, label: fullLabel(layout.value, timeline) || `timeline ${timeline}`, busy: busy / Math.max(1e-12, length * Math.max(1, stats?.timelines.threads[timeline] ?? 1)),
    ends: stats?.timelines.ends[timeline] ?? null, room: length * Math.max(1, stats?.timelines.threads[timeline] ?? 1), top: (stats?.timelines.top ?? []).map(({ excl }) => excl[timeline] ?? 0),
  })).filter(({ timeline }) => timeline >= y0 && timeline < y1 && !layout.value?.open[timeline]);
  const most = (stats?.timelines.top ?? []).map((_, nth) => uses.reduce((largest, { top, room }) => Math.max(largest, (top[nth] ?? 0) / (asShares.value ? room : 1)), 0));
  const columns: Column<TimelineUse>[] = [
    { id: "label", title: "Timeline", cell: ({ label }) => short(label, 60), by: ({ label }) => label },
    { id: "busy", title: "Busy", hint: "Share of the time of its threads in any state", isNumber: true, cell: ({ busy }) => <><Bar share={busy} />{percent(busy)}</>, by: ({ busy }) => busy },
    ...(stats?.timelines.top ?? []).map(({ kind }, nth): Column<TimelineUse> => ({
      id: `kind${nth}`, title: short(meta.value?.categories[kind]?.name ?? "", 24), isNumber: true,
      hint: `${asShares.value ? "Exclusive time in shares of the time of its threads" : "Exclusive time"}; the stronger its ground, the nearer it is to the most of the column. A click searches for it`,
      cell: ({ top, room, timeline, label }) => {
        const [value, scale] = [top[nth] ?? 0, asShares.value ? room : 1];
        const text = asShares.value ? percent(value / scale) : duration(value);
        const name = short(meta.value?.categories[kind]?.name ?? "", 60);
        return (
          <Heat value={value / scale} most={most[nth] ?? 0}>
            {value > 0 ? <button type="button" class="cell" tabIndex={-1} aria-label={`${text}: search for ${name} on ${short(label, 40)}`} onClick={() => searchCell(kind, timeline)}>{text}</button> : text}
          </Heat>
        );
      },
      by: ({ top, room }) => (top[nth] ?? 0) / (asShares.value ? room : 1),
    })),
    { id: "ends", title: "Ends", hint: "End of its last drawable", isNumber: true, cell: ({ ends }) => (ends === null ? "–" : instant(ends, length)), by: ({ ends }) => ends ?? 0 },
    {
      id: "pin", title: "Pin, full", hint: "Keeps the timeline on top; shows it in full, its call depths under one another", cell: ({ timeline, label }) => (
        <>
        <button type="button" tabIndex={-1} onClick={() => pinTimeline(timeline)} aria-label={`Pin ${short(label, 40)}`}>{timeline < (layout.value?.pinned ?? 0) ? "★" : "☆"}</button>
        <button type="button" tabIndex={-1} title="In full (Q)" onClick={() => toggleFull(timeline)} aria-label={`${short(label, 40)} in full`}>⤢</button>
        </>
      ),
    },
  ];
  const head = (
    <>
      <Subject />
      <label>cells <select value={asShares.value ? "share" : "seconds"} onChange={(event) => (asShares.value = event.currentTarget.value === "share")}>
        <option value="seconds">seconds</option>
        <option value="share">share of the time</option>
      </select></label>
      {stats ? <Exact isExact={stats.exact_times} /> : null}
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
