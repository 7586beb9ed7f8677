// Statistics of the selected range or the window by category: the same numbers as `mpitrace stats --window`.

import { signal } from "@preact/signals";
import { putCursor } from "../actions";
import { question } from "../api";
import type { CategoryNumbers, StatisticsAnswer } from "../answers";
import { bytes, duration } from "../axis";
import { brushOf } from "../brush";
import { fullLabel } from "../labels";
import { layout, meta, rested, serverMeta } from "../state";
import { short } from "../timeline/Tooltip";
import { useAnswer, type Shown } from "./answer";
import { Durations } from "./Durations";
import { Bar, count, Csv, ExactTimes, KindName, Panel, percent, Spark, Subject, subjectValues } from "./parts";
import { Table, type Column } from "./Table";

/** The category whose shares of the timelines are drawn, and the trace that numbers it so. */
const looked = signal({ trace: -1, kind: -1 });

/** Statistics of what panels are about; of hidden categories, too, if `all`. */
export function useStats(all = false): Shown<StatisticsAnswer> {
  const values = subjectValues();
  return useAnswer<StatisticsAnswer>(meta.value ? question("stats", all ? { ...values, hide: null } : values) : null);
}

export function Statistics() {
  const shown = useStats();
  const value = shown.value;
  const whole = value ? value.span * value.threads : 1;
  const columns: Column<CategoryNumbers>[] = [
    { id: "name", title: "Category", cell: ({ kind }) => <KindName kind={kind} />, by: ({ name }) => name },
    { id: "count", title: "Count", isNumber: true, cell: (category) => count(category.count), by: (category) => category.count },
    { id: "excl", title: "Exclusive", hint: "Time in it and nothing within it", isNumber: true, cell: (category) => category.topology === "state" ? time(category, category.excl) : "", by: (category) => category.topology === "state" ? category.excl : -1 },
    {
      id: "share", title: "Share", hint: "Exclusive time in shares of the time of the ranks' threads", isNumber: true,
      cell: (category) => category.topology === "state" ? <><Bar share={category.excl / whole} />{percent(category.excl / whole)}</> : "", by: (category) => category.topology === "state" ? category.excl : -1,
    },
    { id: "incl", title: "Inclusive", hint: "Time in it and all within it", isNumber: true, cell: (category) => time(category, category.incl), by: (category) => category.incl },
    { id: "mean", title: "Mean", isNumber: true, cell: (category) => time(category, category.mean), by: (category) => category.mean ?? 0 },
    { id: "min", title: "Shortest", isNumber: true, cell: (category) => time(category, category.min), by: (category) => category.min ?? 0 },
    { id: "max", title: "Longest", isNumber: true, cell: (category) => time(category, category.max), by: (category) => category.max ?? 0 },
    {
      id: "timeline", title: "On", hint: "Timeline of the longest", cell: ({ timeline_of_max: timeline }) => timeline !== null && timeline >= 0 && layout.value?.label[timeline] !== undefined
        ? <button type="button" class="link" tabIndex={-1} onClick={() => putCursor(timeline, value?.t0 ?? 0)}>{short(fullLabel(layout.value, timeline), 24)}</button> : "",
    },
    { id: "bytes", title: "Bytes", hint: "Sent and received in it, or moved to and from files", isNumber: true, cell: (category) => category.bytes === 0 ? "" : bytes(category.bytes), by: (category) => category.bytes },
  ];
  const head = <><Subject /> {value ? <ExactTimes stats={value} /> : null}<Csv what="stats" values={subjectValues()} /></>;
  return (
    <Panel head={head} shown={shown}>
      {(stats) => {
        // A brush of a link is about its category.
        const brushed = brushOf(rested.value.query)?.name;
        const { trace, kind: own } = looked.value;
        const wanted = own >= 0 && trace === rested.value.trace ? own : (serverMeta.value?.categories.findIndex(({ name }) => name === brushed) ?? -1);
        const top = stats.timelines.top.find(({ kind }) => kind === wanted) ?? (wanted >= 0 ? undefined : stats.timelines.top[0]);
        const chosen = wanted >= 0 ? wanted : (top?.kind ?? -1);
        const isLasting = chosen >= 0 && meta.value?.categories[chosen]?.topology !== "event";
        return (
          <div class="halves">
            <Table
              name="Statistics by category" columns={columns} rows={stats.categories.filter((category) => category.count > 0)} first="-excl"
              keyOf={({ kind }) => String(kind)} chosen={String(chosen)} onChoose={({ kind }) => (looked.value = { trace: rested.peek().trace, kind })} isOld={shown.isOld}
            />
            <div class="of-category">
              {top ? (
                <figure class="per-timeline">
                  <figcaption>per timeline: <KindName kind={top.kind} /></figcaption>
                  <Spark values={top.excl} name={sayTimelines(top.excl)} onTimeline={(timeline) => putCursor(timeline, stats.t0)} />
                </figure>
              ) : null}
              {isLasting ? <Durations kind={chosen} /> : null}
            </div>
          </div>
        );
      }}
    </Panel>
  );
}

function time({ topology }: CategoryNumbers, seconds: number | null): string {
  return topology === "event" ? "" : seconds === null ? "–" : duration(seconds);
}

function sayTimelines(values: readonly number[]): string {
  let most = 0;
  for (let timeline = 1; timeline < values.length; timeline++) if (values[timeline]! > values[most]!) most = timeline;
  const sum = values.reduce((all, one) => all + one, 0);
  return `Exclusive time of each timeline; most on ${short(fullLabel(layout.peek(), most), 40)}: ${duration(values[most] ?? 0)}, mean ${duration(sum / Math.max(1, values.length))}`;
}
