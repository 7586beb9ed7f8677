// Who sends how much to whom in the window: a picture of the pairs, a table of them, and the sizes of the chosen pair.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { setTimelines } from "../actions";
import { question } from "../api";
import type { MatrixAnswer, SizesAnswer } from "../answers";
import { bytes, duration } from "../axis";
import { css, mix } from "../color";
import { fullLabel } from "../labels";
import { listOf, withItem } from "../spec";
import { layout, meta, NOT_A_CLUSTER, rested, say, timelineCount, view } from "../state";
import { colors } from "../timeline/Timeline";
import { short } from "../timeline/Tooltip";
import { useAnswer } from "./answer";
import { Bar, count, Csv, Exact, Panel, Subject, subjectValues } from "./parts";
import { Table, type Column } from "./Table";

type Cell = MatrixAnswer["cells"][number];

const SIDE = 220;
/** The chosen pair by the keys of its timelines, which stay what they are when timelines move. */
const chosen = signal<{ from: string; to: string } | null>(null);

/** The positions of the chosen pair. */
function chosenTimelines(): { from: number; to: number } | null {
  const keys = layout.value?.key ?? [];
  const [from, to] = [keys.indexOf(chosen.value?.from ?? ""), keys.indexOf(chosen.value?.to ?? "")];
  return from < 0 || to < 0 ? null : { from, to };
}

function label(timeline: number): string {
  return short(fullLabel(layout.value, timeline) || `timeline ${timeline}`, 40);
}

/** The name of a timeline, or of so many from it on that are counted together. */
function groupLabel(first: number, group: number): string {
  const last = Math.min(first + group, timelineCount.value) - 1;
  return last > first ? `${label(first)} – ${label(last)}` : label(first);
}

/** That not all messages are counted, in words: never a number that looks like all of them. */
function Part({ counted, all, isExact }: { counted: number; all: number; isExact: boolean }) {
  if (isExact) return null;
  const more = all > counted ? `of about ${count(all)} messages` : "of more messages";
  return (
    <p class="part" role="note">
      {counted > 0 ? `These are ${count(counted)} ${more}` : `None ${more} is counted here`}: the window holds more than is read at once. A shorter window or fewer timelines are counted in full.
    </p>
  );
}

/** Both timelines on top of the others, with all their arrows. */
function show(from: number, to: number): void {
  const [sender, receiver] = [layout.peek()?.key[from], layout.peek()?.key[to]];
  if (sender === undefined || receiver === undefined) return;
  if (sender === "" || receiver === "") return say(NOT_A_CLUSTER);
  chosen.value = { from: sender, to: receiver };
  setTimelines(withItem(view.peek().timelines, "pin", listOf([...new Set([sender, receiver])])), { arrows: "all", top: 0 });
}

/** Whether a category of messages is hidden. */
function hidesMessages(): boolean {
  return rested.value.hide.some((kind) => meta.value?.categories[kind]?.class === "message");
}

export function Messages() {
  const shown = useAnswer<MatrixAnswer>(meta.value ? question("matrix", subjectValues()) : null);
  const group = shown.value?.group ?? 1;
  const columns: Column<Cell>[] = [
    { id: "from", title: "From", cell: ([from]) => groupLabel(from, group), by: ([from]) => from },
    { id: "to", title: "To", cell: ([, to]) => groupLabel(to, group), by: ([, to]) => to },
    { id: "count", title: "Messages", isNumber: true, cell: ([, , number]) => count(number), by: ([, , number]) => number },
    { id: "bytes", title: "Bytes", isNumber: true, cell: ([, , , size]) => bytes(size), by: ([, , , size]) => size },
    { id: "mean", title: "Mean", isNumber: true, cell: ([, , number, size]) => bytes(size / Math.max(1, number)), by: ([, , number, size]) => size / Math.max(1, number) },
  ];
  // Positions in an answer about another layout mean other timelines.
  const pair = shown.isOld ? null : chosenTimelines();
  const head = <><Subject /> {shown.value ? <Exact isExact={shown.value.exact} /> : null}<Csv what="matrix" values={subjectValues()} /></>;
  const choose = ([from, to]: Cell) => (group > 1 ? say(`${group} timelines are counted together: a shorter window has each pair`) : show(from, to));
  return (
    <Panel head={head} shown={shown}>
      {({ cells, exact, messages }) => (
        <>
          <Part counted={cells.reduce((sum, [, , number]) => sum + number, 0)} all={messages} isExact={exact} />
          {cells.length === 0 ? (exact ? <p class="faint">{hidesMessages() ? "Messages are hidden, and not counted: the legend shows them again." : "No messages here."}</p> : null) : (
            <div class="halves">
              <Picture cells={cells} pair={pair} group={group} onChoose={choose} />
              <Table
                name="Messages between timelines" columns={columns} rows={cells} first="-bytes" keyOf={([from, to]) => `${from}-${to}`} isOld={shown.isOld}
                chosen={pair ? `${pair.from}-${pair.to}` : null} keepsChosen onChoose={choose}
              />
              <Histogram />
            </div>
          )}
        </>
      )}
    </Panel>
  );
}

/** The matrix as a picture; the table beside it says the same. */
function Picture({ cells, pair, group, onChoose }: {
  cells: readonly Cell[]; pair: { from: number; to: number } | null; group: number; onChoose: (cell: Cell) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const timelines = Math.max(1, timelineCount.value);
  // Whole groups, so that each point stands for as many.
  const block = Math.max(1, Math.ceil(timelines / SIDE / group)) * group;
  const side = Math.ceil(timelines / block);
  const look = colors.value;
  useEffect(() => {
    const context = canvas.current?.getContext("2d", { alpha: false });
    if (!context) return;
    const sums = new Float64Array(side * side);
    for (const [from, to, number, size] of cells) sums[Math.floor(from / block) * side + Math.floor(to / block)]! += size || number;
    const most = sums.reduce((all, one) => Math.max(all, one), 0) || 1;
    context.fillStyle = css(look.theme.timeline);
    context.fillRect(0, 0, side, side);
    sums.forEach((sum, at) => {
      if (sum === 0) return;
      context.fillStyle = css(mix(look.theme.timeline, look.theme.accent, 0.25 + (0.75 * Math.log1p(sum)) / Math.log1p(most)));
      context.fillRect(at % side, Math.floor(at / side), 1, 1);
    });
  }, [cells, look, side]);
  const percent = (timeline: number) => `${(Math.floor(timeline / block) / side) * 100}%`;
  return (
    <figure class="matrix">
      <div class="matrix-field">
        {pair ? <span class="matrix-pair" style={{ left: percent(pair.to), top: percent(pair.from), width: `${100 / side}%`, height: `${100 / side}%` }} /> : null}
        <canvas
          ref={canvas} width={side} height={side} role="img"
          aria-label="Bytes from each timeline (down) to each timeline (across); the table has the same numbers"
          onClick={(event) => {
            const frame = event.currentTarget.getBoundingClientRect();
            const to = Math.floor(((event.clientX - frame.left) / frame.width) * side) * block;
            const from = Math.floor(((event.clientY - frame.top) / frame.height) * side) * block;
            const within = cells.filter((cell) => cell[0] >= from && cell[0] < from + block && cell[1] >= to && cell[1] < to + block);
            const most = within.reduce<Cell | null>((best, cell) => (best && best[3] >= cell[3] ? best : cell), null);
            if (most) onChoose(most);
          }}
        />
      </div>
      <figcaption class="faint">from ↓ to →{block > 1 ? `, ${block} timelines each` : ""}</figcaption>
    </figure>
  );
}

/** How large messages are and how long they take: those of the chosen pair, else all. */
function Histogram() {
  const pair = chosenTimelines();
  const shown = useAnswer<SizesAnswer>(meta.value ? question("sizes", { ...subjectValues(), ...pair }) : null);
  const { value } = shown;
  if (!value) return <p class="faint">{shown.error || "Reading…"}</p>;
  const most = Math.max(1, ...value.messages.map(([, number]) => number));
  const longest = Math.max(1, ...value.durations.map(([, number]) => number));
  return (
    <div class="histograms" role="region" aria-label="Sizes and times" tabIndex={0}>
      <Part counted={value.messages.reduce((sum, [, number]) => sum + number, 0)} all={value.all} isExact={value.exact} />
      <p>{pair ? <>{label(pair.from)} → {label(pair.to)} <button type="button" onClick={() => (chosen.value = null)}>all pairs</button></> : "all pairs"}</p>
      <table aria-label="Sizes of messages">
        <thead><tr><th scope="col">from size</th><th scope="col" class="number" colSpan={2}>messages</th><th scope="col" class="number">bytes</th></tr></thead>
        <tbody>
          {value.messages.map(([least, number, size]) => (
            <tr key={least}><td>{bytes(least)}</td><td class="number"><Bar share={number / most} /></td><td class="number">{count(number)}</td><td class="number">{bytes(size)}</td></tr>
          ))}
        </tbody>
      </table>
      <table aria-label="Times of messages">
        <thead><tr><th scope="col">from time</th><th scope="col" class="number" colSpan={2}>messages</th></tr></thead>
        <tbody>
          {value.durations.map(([least, number]) => (
            <tr key={least}><td>{duration(least)}</td><td class="number"><Bar share={number / longest} /></td><td class="number">{count(number)}</td></tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
