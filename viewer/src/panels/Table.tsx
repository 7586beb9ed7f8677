// A table of many rows, of which only those that can be seen are in the page. Sorted by a click on a heading, walked through
// by arrow keys, along a row from button to button; Enter does what a click on a row does.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Pixels of a row. */
const HIGH = 24;

export interface Column<T> {
  id: string;
  title: string;
  /** What the heading means, in full. */
  hint?: string;
  isNumber?: boolean;
  cell: (row: T) => ComponentChildren;
  /** What rows are ordered by; columns without are not sortable. */
  by?: (row: T) => number | string;
}

interface Props<T> {
  name: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** How it is sorted first: a column, `-` before it descending. */
  first?: string;
  chosen?: string | null;
  onChoose?: (row: T) => void;
  /** Whether it stays in sight when the order changes. */
  keepsChosen?: boolean;
  /** All rows that there are, where `rows` has only the first of them. */
  total?: number;
  /** Called when the end of the rows comes into view. */
  onEnd?: () => void;
  /** Called instead of sorting here. */
  onSort?: (column: string) => void;
  isOld?: boolean;
}

/** In this order; equal ones stay as they were. */
export function sorted<T>(rows: readonly T[], columns: readonly Column<T>[], order: string): readonly T[] {
  const isDown = order.startsWith("-");
  const by = columns.find(({ id }) => id === order.replace(/^-/, ""))?.by;
  if (!by) return rows;
  const compare = (a: number | string, b: number | string) =>
    typeof a === "string" || typeof b === "string" ? String(a).localeCompare(String(b), "en", { numeric: true }) : a - b;
  return [...rows].sort((a, b) => (isDown ? -1 : 1) * compare(by(a), by(b)));
}

export function Table<T>(props: Props<T>) {
  const { name, columns, keyOf, onChoose, onEnd } = props;
  const [order, setOrder] = useState(props.first ?? "");
  const [seen, setSeen] = useState({ top: 0, height: 400 });
  const [at, setAt] = useState(0);
  const room = useRef<HTMLDivElement>(null);
  const wantsFocus = useRef(false);
  const rows = props.onSort ? props.rows : sorted(props.rows, columns, order);
  const first = Math.max(0, Math.floor(seen.top / HIGH) - 6);
  const last = Math.min(rows.length, Math.ceil((seen.top + seen.height) / HIGH) + 6);

  useEffect(() => {
    const element = room.current;
    if (!element) return;
    const look = () => setSeen({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    look();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  // What was chosen elsewhere comes into sight.
  const chosenAt = props.chosen == null ? -1 : rows.findIndex((row) => keyOf(row) === props.chosen);
  useEffect(() => {
    if (chosenAt >= 0) scrollTo(chosenAt);
  }, [props.chosen, props.keepsChosen ? chosenAt : chosenAt >= 0]);
  useEffect(() => {
    if (last >= rows.length && rows.length > 0) onEnd?.();
  }, [last, rows.length]);
  useEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    room.current?.querySelector<HTMLElement>(`tr[data-nth="${at}"]`)?.focus();
  });

  const scrollTo = (nth: number) => {
    const element = room.current;
    if (!element) return;
    const top = nth * HIGH;
    if (top < element.scrollTop) element.scrollTop = top;
    // The headings stand above the rows.
    else if (top + HIGH * 2 > element.scrollTop + element.clientHeight) element.scrollTop = top + HIGH * 2 - element.clientHeight;
  };
  const go = (to: number) => {
    const next = Math.min(Math.max(0, to), rows.length - 1);
    scrollTo(next);
    wantsFocus.current = true;
    setAt(next);
  };
  /** To the next button of a row, the one before it, or the row itself. */
  const within = (event: KeyboardEvent): boolean => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const line = (event.currentTarget as Element).closest("tr");
    if (by === undefined || !line || (event.target instanceof HTMLInputElement)) return false;
    const stops = [line, ...line.querySelectorAll<HTMLElement>("button")];
    const next = stops[stops.indexOf(event.target as HTMLElement) + by];
    next?.focus();
    return next !== undefined;
  };
  const key = (event: KeyboardEvent, nth: number, row: T) => {
    if (within(event)) return event.preventDefault();
    if (event.target !== event.currentTarget) return;
    const page = Math.max(1, Math.floor(seen.height / HIGH) - 2);
    const steps: Record<string, number> = {
      ArrowUp: nth - 1, ArrowDown: nth + 1, PageUp: nth - page, PageDown: nth + page, Home: 0, End: rows.length - 1,
    };
    const to = steps[event.key];
    if (to !== undefined) go(to);
    else if (event.key === "Enter" && onChoose) onChoose(row);
    else return;
    event.preventDefault();
  };
  const sort = (id: string) => {
    const next = order === `-${id}` ? id : `-${id}`;
    setOrder(next);
    props.onSort?.(next);
  };
  const stop = Math.min(at, Math.max(0, rows.length - 1));
  return (
    <div ref={room} class={`table-room${props.isOld ? " old" : ""}`}>
      <table aria-label={name} aria-rowcount={(props.total ?? rows.length) + 1} aria-busy={props.isOld ?? false}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ id, title, hint, isNumber, by }) => {
              const direction = order === id ? "ascending" : order === `-${id}` ? "descending" : "none";
              return (
                <th key={id} scope="col" class={isNumber ? "number" : ""} title={hint ?? title} {...(by ? { "aria-sort": direction } : {})}>
                  {by ? (
                    <button type="button" onClick={() => sort(id)}>
                      {title}<span aria-hidden="true">{direction === "ascending" ? " ▴" : direction === "descending" ? " ▾" : ""}</span>
                    </button>
                  ) : title}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {first > 0 ? <tr class="space" aria-hidden="true"><td colSpan={columns.length} style={{ height: `${first * HIGH}px` }} /></tr> : null}
          {rows.slice(first, last).map((row, offset) => {
            const nth = first + offset;
            const id = keyOf(row);
            const isStop = nth === stop || (offset === 0 && (stop < first || stop >= last));
            return (
              <tr
                key={id} data-nth={nth} aria-rowindex={nth + 2} tabIndex={isStop ? 0 : -1}
                class={`${props.chosen === id ? "chosen" : ""}${onChoose ? " choosable" : ""}`}
                onKeyDown={(event) => key(event, nth, row)}
                onFocus={() => setAt(nth)}
                onClick={(event) => {
                  if (!(event.target as Element).closest("button, a, input")) onChoose?.(row);
                }}
              >
                {columns.map(({ id: column, isNumber, cell }) => <td key={column} class={isNumber ? "number" : ""}>{cell(row)}</td>)}
              </tr>
            );
          })}
          {last < rows.length ? <tr class="space" aria-hidden="true"><td colSpan={columns.length} style={{ height: `${(rows.length - last) * HIGH}px` }} /></tr> : null}
        </tbody>
      </table>
    </div>
  );
}
