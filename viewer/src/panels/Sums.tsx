// Sums over what a search takes: a line of text, and a table whose lines are searches themselves.

import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { question } from "../api";
import type { AggregateAnswer, AggregateLine } from "../answers";
import { partText, quantity, valueText } from "../aggregation";
import { change, meta, rested, say, view, waits } from "../state";
import { nextHit } from "../finding";
import { short } from "../timeline/Tooltip";
import { useAnswer } from "./answer";
import { Bar, count, percent } from "./parts";
import { Table, type Column } from "./Table";

const EXAMPLES = ["sum dur by rank where MPI_Recv dur>1ms", "count by name", "sum dur by name, rank", "sum bytes by peer where is:arrow", "mean dur by rank where class:io", "max wait by name"];

/** Searches for what is in a line. */
function lookFor({ query, labels }: AggregateLine): void {
  if (query === null) return say(`${labels.join(", ")}: no search can be written for it`);
  change({ query, sel: [] });
  void nextHit(1);
}

export function Sums() {
  const text = useSignal<string | null>(null);
  const { sums, timelines } = rested.value;
  const asked = sums.trim();
  const isWaiting = /\bwait/i.test(asked) ? (waits.value?.state ?? "") : "";
  const shown = useAnswer<AggregateAnswer>(asked !== "" && meta.value ? question("aggregate", { a: asked, timelines, waits: isWaiting || null }) : null);
  const answer = shown.value;
  useEffect(() => {
    if (answer && !shown.isOld) say(`${answer.groups} lines, ${answer.count} drawables`);
  }, [answer, shown.isOld]);
  return (
    <section class="sums" aria-label="Sums">
      <div class="sums-head">
        <label for="sums">Sum up</label>
        <input
          id="sums" type="search" spellcheck={false} placeholder={EXAMPLES[0]} aria-invalid={shown.error !== ""} class={shown.error === "" ? "" : "wrong"}
          {...(shown.error === "" ? {} : { "aria-describedby": "sums-wrong" })}
          value={text.value ?? sums} onInput={(event) => (text.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            change({ sums: event.currentTarget.value.trim() });
            text.value = null;
          }}
          onSearch={(event: Event) => {
            if ((event.currentTarget as HTMLInputElement).value === "") change({ sums: "" });
          }}
          onBlur={() => {
            if (text.peek() === "") change({ sums: "" });
          }}
        />
        {answer && asked !== "" ? (
          <span class="faint">
            {answer.exact ? "" : "≈ "}{count(answer.count)} drawables in {count(answer.groups)} {answer.groups === 1 ? "line" : "lines"}
            {answer.groups > answer.lines.length ? `, the first ${count(answer.lines.length)} of them` : ""}
            {answer.without > 0 ? `; ${count(answer.without)} others have no such value` : ""}
          </span>
        ) : asked !== "" && shown.isOld ? <span class="faint">counting…</span> : null}
        {asked === "" ? null : <button type="button" onClick={() => change({ sums: "" })}>clear</button>}
      </div>
      {shown.error === "" ? null : <p id="sums-wrong" class="wrong" role="alert">{short(shown.error.replace(/^a: /, ""), 400)}.</p>}
      {answer && asked !== "" && !answer.exact && meta.value ? <p class="part">{partText(answer, meta.value)}.</p> : null}
      {answer && asked !== "" && answer.groups === 0 && !shown.isOld ? <p>Nothing in the trace fits, so there is nothing to sum up.</p> : null}
      {answer && asked !== "" && answer.groups > 0 ? <Lines answer={answer} isOld={shown.isOld} /> : null}
      {asked === "" ? (
        <p class="faint examples">
          <code>sum</code>, <code>mean</code>, <code>max</code>, <code>min</code> of <code>dur</code>, <code>bytes</code>, <code>wait</code> or a key, or <code>count</code>; <code>by</code> rank, name, class, peer, thread, comm or a key, or several of these with commas;{" "}
          <code>where</code> and a search. Try {EXAMPLES.map((example) => <button key={example} type="button" class="link" onClick={() => change({ sums: example })}>{example}</button>)}
        </p>
      ) : null}
    </section>
  );
}

function Lines({ answer, isOld }: { answer: AggregateAnswer; isOld: boolean }) {
  const { lines, unit, function: of } = answer;
  const most = lines.reduce((largest, { value }) => Math.max(largest, value), 0) || 1;
  const isPart = of === "sum" || of === "count";
  const all = lines.reduce((sum, { value }) => sum + value, 0) || 1;
  const number = (id: string, title: string, value: (line: AggregateLine) => number): Column<AggregateLine> =>
    ({ id, title, isNumber: true, cell: (line) => quantity(value(line), unit), by: value });
  const columns: Column<AggregateLine>[] = [
    ...answer.by.map((by, nth): Column<AggregateLine> => ({
      id: `by-${nth}`, title: by, hint: "By what lines are told apart", cell: ({ labels }) => short(labels[nth] ?? "", 80), by: ({ labels }) => labels[nth] ?? "",
    })),
    { id: "value", title: of, hint: "What is asked for", isNumber: true, cell: ({ value }) => <><Bar share={value / most} />{valueText(value, answer)}</>, by: ({ value }) => value },
    ...(isPart && answer.groups === lines.length ? [{ id: "share", title: "Share", isNumber: true, cell: ({ value }: AggregateLine) => percent(value / all), by: ({ value }: AggregateLine) => value }] : []),
    ...(of === "count" ? [] : [{ id: "count", title: "Count", isNumber: true, cell: (line: AggregateLine) => count(line.count), by: (line: AggregateLine) => line.count }]),
    ...(of === "sum" ? [] : [number("sum", of === "count" ? "Time" : "Sum", ({ sum }) => sum)]),
    ...(of === "mean" ? [] : [number("mean", "Mean", ({ sum, count: many }) => sum / Math.max(1, many))]),
    ...(of === "max" ? [] : [number("max", "Largest", ({ max }) => max)]),
  ];
  return (
    <div class="sum-lines" style={{ height: `${24 * Math.min(9, lines.length + 1) + 4}px` }}>
      <Table
        name={`Sums: ${short(view.value.sums, 100)}`} columns={columns} rows={lines} first={of === "min" ? "value" : "-value"} keyOf={({ labels, query }) => `${labels.join("/")}/${query}`}
        onChoose={lookFor} total={answer.groups} isOld={isOld}
      />
    </div>
  );
}
