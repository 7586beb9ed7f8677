// What became slower or faster from the trace above to the one below: the sentence and the tables of `mpitrace compare`.

import { question } from "../api";
import type { ComparedTable, ComparisonAnswer } from "../answers";
import { duration } from "../axis";
import { names, other } from "../compare";
import { change, rested } from "../state";
import { short } from "../timeline/Tooltip";
import { NO_OTHER } from "../url";
import { useAnswer } from "./answer";
import { Panel } from "./parts";

/** +1.20 ms, −3.00 s. */
function signed(seconds: number): string {
  return `${seconds > 0 ? "+" : seconds < 0 ? "\u2212" : ""}${duration(Math.abs(seconds))}`;
}

/** 1.25×; three digits. */
function factor(ratio: number | null): string {
  return ratio === null ? "new" : `${ratio.toPrecision(3)}\u202f×`;
}

export function Compare() {
  const { trace } = rested.value;
  const number = other.value;
  const shown = useAnswer<ComparisonAnswer>(number === null ? null : question("compare", { with: number }));
  const others = names.value.filter(({ n }) => n !== trace);
  if (others.length === 0) {
    return <div class="panel"><p class="faint">One trace is shown. <code>mpitrace view before.slog2 after.slog2</code> shows two, one above the other, and here what changed.</p></div>;
  }
  const head = (
    <label>compared with{" "}
      <select aria-label="Compared with" value={String(number ?? NO_OTHER)} onChange={(event) => change({ other: Number(event.currentTarget.value) })}>
        <option value={String(NO_OTHER)}>none</option>
        {others.map(({ n, name }) => <option key={n} value={String(n)}>{short(name, 60)}</option>)}
      </select>
    </label>
  );
  if (number === null) return <div class="panel"><div class="panel-head">{head}</div><p class="faint">Choose a trace to compare with.</p></div>;
  return (
    <Panel head={head} shown={shown}>
      {(value) => (
        <div class="compare">
          <p class="sentence">{short(value.words, 1000)}</p>
          {value.tables.every(({ rows }) => rows.length === 0) ? <p class="faint">Nothing changed much.</p> : null}
          <div class="compared">{value.tables.map((table) => (table.rows.length === 0 ? null : <Changes key={table.title} table={table} />))}</div>
          <p class="faint">Between MPI_Init and MPI_Finalize, as <code>mpitrace compare</code> has it; changes below 0.1 % are left out.</p>
        </div>
      )}
    </Panel>
  );
}

function Changes({ table: { title, rows } }: { table: ComparedTable }) {
  const tells = rows.some((row) => row.beyond_noise !== null);
  return (
    <table aria-label={short(title, 100)}>
      <caption>{short(title, 100)}</caption>
      <thead>
        <tr>
          <th scope="col">what</th><th scope="col" class="number">above</th><th scope="col" class="number">below</th>
          <th scope="col" class="number" title="Seconds more in the trace below">Δ</th>
          <th scope="col" class="number" title="Below, divided by above">ratio</th>
          {tells ? <th scope="col" title="Whether medians of iterations differ by more than they do by chance">beyond noise</th> : null}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, before, after, change: more, ratio, beyond_noise: isBeyond }) => (
          <tr key={name}>
            <th scope="row">{short(name, 60)}</th><td class="number">{duration(before)}</td><td class="number">{duration(after)}</td>
            <td class="number"><b>{signed(more)}</b></td><td class="number">{factor(ratio)}</td>
            {tells ? <td>{isBeyond === null ? "" : isBeyond ? "yes" : "no"}</td> : null}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
