// The categories: colour, whether they are shown, and their share of the window.

import { useState } from "preact/hooks";
import { setHidden } from "../actions";
import type { CategoryInfo, CategoryNumbers } from "../answers";
import { ofCategory } from "../brush";
import { unknownHere } from "../own";
import { change, meta, MODES, rename, rested, timelineCount, subject, serverMeta, view, waits, type Mode } from "../state";
import { duration } from "../axis";
import { css } from "../color";
import { PALETTES, type PaletteName } from "../palette";
import { item } from "../spec";
import { colors } from "../timeline/Timeline";
import { short } from "../timeline/Tooltip";
import { brief, count, NameField, percent, Swatch } from "./parts";
import { className } from "./Summary";
import { useStats } from "./Statistics";
import { lookFor } from "./Hits";

/** What the legend is sorted by. */
const COLUMNS = [
  { id: "name", title: "Category", hint: "By name: up, down, as in the file" },
  { id: "count", title: "Count", hint: "How many" },
  { id: "incl", title: "Incl.", hint: "Time in it and all within it, in shares of the time of the ranks' threads" },
  { id: "excl", title: "Excl.", hint: "Time in it and nothing within it, in shares of the time of the ranks' threads" },
] as const;
type By = (typeof COLUMNS)[number]["id"] | "file";

/** Numbers of a kind; times in shares of the time of the ranks' threads, and in seconds. */
interface Numbers {
  count: number;
  incl: number;
  excl: number;
  seconds: { incl: number; excl: number } | null;
}

const MODE_NAMES: Record<Mode, string> = {
  dominant: "what took most", rare: "rarest first", stack: "shares of all", heat: "heat map of one",
};

/** Gives a kind another colour than the palette's. */
function setColor(kind: number, color: string): void {
  const others = view.peek().own.filter(([other]) => other !== kind);
  change({ own: [...others, [kind, color] as const].sort(([a], [b]) => a - b) });
}

/** What the file says of the whole trace: known at once, before anything has been counted. */
function ofFile({ count: number, incl, share: excl }: CategoryInfo, threads: number): Numbers {
  return { count: number ?? 0, incl: (incl ?? 0) / threads, excl: (excl ?? 0) / threads, seconds: null };
}

function ofWindow({ count: number, incl, excl }: CategoryNumbers, whole: number): Numbers {
  return { count: number, incl: incl / whole, excl: excl / whole, seconds: { incl, excl } };
}

export function Legend() {
  const [filter, setFilter] = useState("");
  const [{ by, isDown }, setOrder] = useState<{ by: By; isDown: boolean }>({ by: "excl", isDown: true });
  const [renamed, setRenamed] = useState(-1);
  const [at, setAt] = useState(-1);
  const stats = useStats(true);
  const categories = meta.value?.categories ?? [];
  const { hide, mode, heat } = rested.value;
  const found = stats.value;
  const isRange = subject.value.isRange;
  // Where the window is all of the trace and could not be counted, the file knows better.
  const { t0, t1, y0, y1 } = subject.value;
  const isAll = t0 <= (meta.value?.t0 ?? 0) && t1 >= (meta.value?.t1 ?? 1) && y0 <= 0 && y1 >= timelineCount.value
    && item(rested.value.timelines, "only") === null && item(rested.value.timelines, "hide") === null;
  const isCounted = found !== null && (found.exact_times || !isAll);
  const numbers = new Map<number, Numbers>(isCounted
    ? found.categories.map((one) => [one.kind, ofWindow(one, found.span * Math.max(1, found.threads))])
    : categories.map((one, kind) => [kind, ofFile(one, Math.max(1, meta.value?.threads ?? 1))]));
  const wanted = filter.trim().toLowerCase();
  const kinds = categories.map((_, kind) => kind).filter((kind) =>
    wanted === "" || `${categories[kind]?.name} ${className(categories[kind]?.class ?? "")}`.toLowerCase().includes(wanted));
  const isState = (kind: number) => categories[kind]?.topology === "state";
  const byName = (a: number, b: number) => (categories[a]?.name ?? "").localeCompare(categories[b]?.name ?? "", "en", { numeric: true });
  const value = (kind: number): number => {
    const one = numbers.get(kind);
    // What takes no time comes behind all that does, the most frequent first.
    if (by === "count" || by === "file" || by === "name") return one?.count ?? 0;
    return isState(kind) ? (one?.[by] ?? 0) : -1 / (1 + (one?.count ?? 0));
  };
  if (by === "name") kinds.sort(byName);
  else if (by !== "file") kinds.sort((a, b) => value(a) - value(b) || (isDown ? byName(b, a) : byName(a, b)));
  if (isDown) kinds.reverse();
  const sort = (id: (typeof COLUMNS)[number]["id"]) => setOrder(
    by !== id ? { by: id, isDown: id !== "name" } : id === "name" && isDown ? { by: "file", isDown: false } : { by: id, isDown: !isDown });
  // The row that Tab leads to; arrow keys go to the others.
  const stop = kinds.includes(at) ? at : kinds[0];
  const names = rested.value.names.filter(([of]) => /^\d+$/.test(of));
  const areAllShown = kinds.every((kind) => !hide.includes(kind));
  return (
    <section class="legend" aria-label="Legend">
      <h2>Legend <span class="faint legend-of">{isCounted ? `of the ${isRange ? "selected range" : "window"}${found.exact_times ? "" : " ≈"}` : isAll || stats.error !== "" ? "of the whole trace ≈" : "of the whole trace ≈, the window is read…"}</span></h2>
      <div class="legend-head">
        <input id="legend-filter" type="search" placeholder="filter…" aria-label="Filter the legend" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
        <button type="button" onClick={() => setHidden(kinds, areAllShown)}>{areAllShown ? "hide" : "show"} {wanted === "" ? "all" : "these"}</button>
      </div>
      <div class="kinds-room">
        <table class={`kinds${isCounted && stats.isOld ? " old" : ""}`} aria-label="Categories" aria-busy={stats.isOld}>
          <thead>
            <tr>
              {COLUMNS.map(({ id, title, hint }) => (
                <th key={id} scope="col" class={id === "name" ? "" : "number"} title={hint} aria-sort={by !== id ? "none" : isDown ? "descending" : "ascending"}>
                  <button type="button" onClick={() => sort(id)}>{title}<span aria-hidden="true">{by !== id ? "" : isDown ? " ▾" : " ▴"}</span></button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {kinds.map((kind) => (
              <Kind key={kind} kind={kind} category={categories[kind]!} numbers={numbers.get(kind)} isHidden={hide.includes(kind)} isRenamed={renamed === kind} onRename={setRenamed} isStop={kind === stop} onFocus={setAt} />
            ))}
          </tbody>
        </table>
      </div>
      <WaitKey />
      {rested.value.path ? <PathKey /> : null}
      <div class="legend-foot">
        <label>
          <span title="Where many states share a pixel">Dense parts</span>
          <select aria-label="What is shown where many share a pixel" value={mode} onChange={(event) => change({ mode: event.currentTarget.value as Mode, ...(event.currentTarget.value === "heat" && heat < 0 ? { heat: kinds.find((kind) => categories[kind]?.topology === "state") ?? 0 } : {}) })}>
            {MODES.map((one) => <option key={one} value={one}>{MODE_NAMES[one]}</option>)}
          </select>
        </label>
        <label>
          <span>Colours</span>
          <select aria-label="Colours" value={rested.value.palette} onChange={(event) => change({ palette: event.currentTarget.value as PaletteName })}>
            {PALETTES.map(({ name, title }) => <option key={name} value={name}>{title}</option>)}
          </select>
        </label>
        {rested.value.own.length > 0 ? <button type="button" onClick={() => change({ own: [] })}>undo own colours ({rested.value.own.length})</button> : null}
        {names.length > 0 ? <button type="button" onClick={() => change({ names: rested.peek().names.filter(([of]) => !/^\d+$/.test(of)) })}>undo own names ({names.length})</button> : null}
      </div>
    </section>
  );
}

/** What hatching says, and whether it says all. */
function WaitKey() {
  const { state, count: number, shortest } = waits.value ?? { state: "pending", count: 0, shortest: 0 };
  const text = state === "pending" ? "not known before the trace has been read"
    : state === "unknown" ? unknownHere()
    : number === 0 ? "no call of this trace waited"
    : shortest > 0 ? `of at least ${duration(shortest)}` : "";
  return (
    <p class="wait-key" title="The part of a call in which its rank could do nothing but wait for another one, between MPI_Init and MPI_Finalize. Shorter than 4 pixels it is not hatched.">
      <span class="swatch hatched" aria-hidden="true" />hatched: waiting for another rank{text === "" ? "" : <span class="faint"> ({text})</span>}
    </p>
  );
}

/** What the line of the critical path is. */
function PathKey() {
  const state = waits.value?.state ?? "pending";
  const text = state === "pending" ? " (not known before the trace has been read)" : state === "unknown" ? ` (${unknownHere()})` : "";
  return (
    <p class="wait-key" title="Back from the end of the program, at each wait over to the rank that was waited for: what is shortened on it may shorten the run.">
      <span class="swatch path" style={{ "--color": css(colors.value.theme.path) }} aria-hidden="true" />critical path<span class="faint">{text}</span>
    </p>
  );
}

interface KindProps {
  kind: number;
  category: CategoryInfo;
  numbers: Numbers | undefined;
  isHidden: boolean;
  isRenamed: boolean;
  onRename: (kind: number) => void;
  isStop: boolean;
  onFocus: (kind: number) => void;
}

/** To the control beside one in its row, or to the same one of the row above or below. */
function step(event: KeyboardEvent): void {
  const row = event.currentTarget as Element;
  const from = event.target;
  if (!(from instanceof HTMLElement) || (from instanceof HTMLInputElement && from.type === "text")) return;
  const stops = (of: Element | null) => [...(of?.querySelectorAll<HTMLElement>("input, button") ?? [])];
  const nth = stops(row).indexOf(from);
  const to = {
    ArrowRight: () => stops(row)[nth + 1], ArrowLeft: () => stops(row)[nth - 1],
    ArrowDown: () => stops(row.nextElementSibling).slice(0, nth + 1).at(-1), ArrowUp: () => stops(row.previousElementSibling).slice(0, nth + 1).at(-1),
    Home: () => stops(row.parentElement?.firstElementChild ?? null)[0], End: () => stops(row.parentElement?.lastElementChild ?? null)[0],
  }[event.key];
  if (!to) return;
  event.preventDefault();
  to()?.focus();
}

/** A category: whether it is shown, its numbers, and what can be done with it. */
function Kind({ kind, category: { name, topology }, numbers, isHidden, isRenamed, onRename, isStop, onFocus }: KindProps) {
  const { mode, heat } = rested.value;
  const look = colors.value;
  const isState = topology === "state";
  const isNone = !numbers || numbers.count === 0;
  const tabIndex = isStop ? 0 : -1;
  const seconds = numbers?.seconds;
  const title = `${short(name, 200)}: ${isNone ? "none here" : `${count(numbers.count)}${seconds && topology !== "event" ? `, inclusive ${duration(seconds.incl)}, exclusive ${duration(seconds.excl)}` : ""}`}`;
  const original = serverMeta.peek()?.categories[kind]?.name ?? name;
  return (
    <tr class={isHidden ? "hidden" : ""} title={title} onKeyDown={step} onFocusIn={() => onFocus(kind)}>
      <td>
        {isRenamed ? (
          <NameField
            label={`Another name for ${short(original, 60)}`} value={name} otherwise={original}
            onDone={(text) => {
              if (text !== null) rename(String(kind), text === original ? "" : text);
              onRename(-1);
            }}
          />
        ) : (
          <label>
            <input type="checkbox" tabIndex={tabIndex} checked={!isHidden} onChange={() => setHidden([kind], !isHidden)} />
            <Swatch kind={kind} />
            <span class="name">{short(name, 80)}</span>
          </label>
        )}
      </td>
      <td class="number">{isNone ? "" : brief(numbers.count)}</td>
      <td class="number">{isNone || !isState ? "" : percent(numbers.incl)}</td>
      <td class="number">
        {isNone || !isState ? "" : percent(numbers.excl)}
        <span class="kind-tools">
          <input
            type="color" tabIndex={tabIndex} aria-label={`Colour of ${short(name, 60)}`} title="Another colour"
            value={`#${((isState ? look.fill[kind] : look.line[kind]) ?? 0).toString(16).padStart(6, "0")}`}
            onInput={(event) => setColor(kind, event.currentTarget.value)}
          />
          <button type="button" tabIndex={tabIndex} aria-label={`Rename ${short(name, 60)}`} title="Another name" onClick={() => onRename(kind)}>name</button>
          <button type="button" tabIndex={tabIndex} aria-label={`Only ${short(name, 60)}`} title="Show nothing else" onClick={() => change({ hide: (meta.peek()?.categories ?? []).map((_, other) => other).filter((other) => other !== kind) })}>only</button>
          {isState ? (
            <button type="button" tabIndex={tabIndex} aria-pressed={mode === "heat" && heat === kind} aria-label={`Heat map of ${short(name, 60)}`} title="Show where its share is high" onClick={() => change(mode === "heat" && heat === kind ? { mode: "dominant" } : { mode: "heat", heat: kind })}>heat</button>
          ) : null}
          <button type="button" tabIndex={tabIndex} aria-label={`Find ${short(name, 60)}`} title="Look for it in the whole trace" onClick={() => lookFor(ofCategory(original))}>find</button>
        </span>
      </td>
    </tr>
  );
}
