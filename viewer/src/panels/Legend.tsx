// The categories: colour, whether they are shown, and their share of the window.

import { useState } from "preact/hooks";
import { setHidden } from "../actions";
import { change, meta, MODES, view, type Mode } from "../state";
import { duration } from "../axis";
import { PALETTES, type PaletteName } from "../palette";
import { colors } from "../timeline/Timeline";
import { short } from "../timeline/Tooltip";
import { count, percent, Swatch } from "./parts";
import { className } from "./Summary";
import { useStats } from "./Statistics";
import { lookFor } from "./Hits";

const ORDERS = [["share", "by share"], ["name", "by name"], ["count", "by count"], ["file", "as in file"]] as const;
type Order = (typeof ORDERS)[number][0];

const MODE_NAMES: Record<Mode, string> = {
  dominant: "what took most", rare: "rarest first", stack: "shares of all", heat: "heat map of one",
};

/** Gives a kind another colour than the palette's. */
function setColor(kind: number, color: string): void {
  const others = view.peek().own.filter(([other]) => other !== kind);
  change({ own: [...others, [kind, color] as const].sort(([a], [b]) => a - b) });
}

export function Legend() {
  const [filter, setFilter] = useState("");
  const [order, setOrder] = useState<Order>("share");
  const stats = useStats(true);
  const categories = meta.value?.categories ?? [];
  const { hide, mode, heat } = view.value;
  const numbers = new Map((stats.value?.categories ?? []).map((one) => [one.kind, one]));
  const whole = stats.value ? stats.value.span * stats.value.threads : 1;
  const wanted = filter.trim().toLowerCase();
  const kinds = categories.map((_, kind) => kind).filter((kind) =>
    wanted === "" || `${categories[kind]?.name} ${className(categories[kind]?.class ?? "")}`.toLowerCase().includes(wanted));
  const value = (kind: number): number => {
    const one = numbers.get(kind);
    const topology = categories[kind]?.topology;
    return order === "count" ? (one?.count ?? 0) : (topology === "state" ? 1e9 : 0) + (one?.excl ?? 0);
  };
  if (order === "name") kinds.sort((a, b) => (categories[a]?.name ?? "").localeCompare(categories[b]?.name ?? "", "en", { numeric: true }));
  else if (order !== "file") kinds.sort((a, b) => value(b) - value(a));
  const look = colors.value;
  const areAllShown = kinds.every((kind) => !hide.includes(kind));
  return (
    <section class="legend" aria-label="Legend">
      <h2>Legend</h2>
      <div class="legend-head">
        <input id="legend-filter" type="search" placeholder="filter…" aria-label="Filter the legend" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
        <select aria-label="Order of the legend" value={order} onChange={(event) => setOrder(event.currentTarget.value as Order)}>
          {ORDERS.map(([id, title]) => <option key={id} value={id}>{title}</option>)}
        </select>
        <button type="button" onClick={() => setHidden(kinds, areAllShown)}>{areAllShown ? "hide" : "show"} {wanted === "" ? "all" : "these"}</button>
      </div>
      <ul class="kinds" aria-busy={stats.isOld}>
        {kinds.map((kind) => {
          const { name, topology } = categories[kind]!;
          const one = numbers.get(kind);
          const isHidden = hide.includes(kind);
          return (
            <li key={kind} class={isHidden ? "hidden" : ""}>
              <label title={`${short(name, 200)}: ${one ? `${count(one.count)} here, exclusive ${duration(one.excl)}, inclusive ${duration(one.incl)}` : "none here"}`}>
                <input type="checkbox" checked={!isHidden} onChange={() => setHidden([kind], !isHidden)} />
                <Swatch kind={kind} />
                <span class="name">{short(name, 80)}</span>
                <span class="value">{!one || one.count === 0 ? "" : topology === "state" ? percent(one.excl / whole) : count(one.count)}</span>
              </label>
              <span class="kind-tools">
                <input
                  type="color" aria-label={`Colour of ${short(name, 60)}`} title="Another colour"
                  value={`#${((topology === "state" ? look.fill[kind] : look.line[kind]) ?? 0).toString(16).padStart(6, "0")}`}
                  onInput={(event) => setColor(kind, event.currentTarget.value)}
                />
                <button type="button" aria-label={`Only ${short(name, 60)}`} title="Show nothing else" onClick={() => change({ hide: categories.map((_, other) => other).filter((other) => other !== kind) })}>only</button>
                {topology === "state" ? (
                  <button type="button" aria-pressed={mode === "heat" && heat === kind} aria-label={`Heat map of ${short(name, 60)}`} title="Show where its share is high" onClick={() => change(mode === "heat" && heat === kind ? { mode: "dominant" } : { mode: "heat", heat: kind })}>heat</button>
                ) : null}
                <button type="button" aria-label={`Find ${short(name, 60)}`} title="Look for it in the whole trace" onClick={() => lookFor(name.includes(" ") ? `"${name}"` : name)}>find</button>
              </span>
            </li>
          );
        })}
      </ul>
      <div class="legend-foot">
        <label>
          <span title="Where many states share a pixel">Dense parts</span>
          <select aria-label="What is shown where many share a pixel" value={mode} onChange={(event) => change({ mode: event.currentTarget.value as Mode, ...(event.currentTarget.value === "heat" && heat < 0 ? { heat: kinds[0] ?? 0 } : {}) })}>
            {MODES.map((one) => <option key={one} value={one}>{MODE_NAMES[one]}</option>)}
          </select>
        </label>
        <label>
          <span>Colours</span>
          <select aria-label="Colours" value={view.value.palette} onChange={(event) => change({ palette: event.currentTarget.value as PaletteName })}>
            {PALETTES.map(({ name, title }) => <option key={name} value={name}>{title}</option>)}
          </select>
        </label>
        {view.value.own.length > 0 ? <button type="button" onClick={() => change({ own: [] })}>undo own colours ({view.value.own.length})</button> : null}
      </div>
    </section>
  );
}
