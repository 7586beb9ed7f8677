// The line at the top: which trace, where one is, what is searched for, how it is shown.

import { effect, useSignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { copyLink, setTimelines, togglePath, wholeTrace, zoom } from "./actions";
import { duration, stretch } from "./axis";
import { openDialog } from "./modal";
import { count as countHits, found, isSearching, nextHit, wrong } from "./finding";
import { OpenAnother } from "./OpenFile";
import { unknownHere } from "./own";
import { item } from "./spec";
import {
  ARROWS, bounds, busy, canRedo, canUndo, change, isDark, isMoving, meta, redo, rested, span, START, trouble, undo, view, waits, type Arrows,
} from "./state";
import { hitsText } from "./panels/parts";
import { isAggregation } from "./aggregation";
import { names } from "./compare";
import { NO_OTHER } from "./url";
import { askedWindow, WINDOW_HELP } from "./window";
import { short } from "./timeline/Tooltip";
import { TracksMenu } from "./TracksMenu";

const ARROW_NAMES: Record<Arrows, string> = { none: "arrows: none", sel: "arrows: selection", worst: "arrows: worst", all: "arrows: all" };

export function Toolbar() {
  const { trace, arrows, path, timelines } = rested.value;
  const maps = meta.value?.maps ?? [];
  return (
    <header class="toolbar">
      <h1>mpitrace</h1>
      {names.value.length > 1 ? (
        <select aria-label="Trace" value={String(trace)} onChange={(event) => showTrace(Number(event.currentTarget.value))}>
          {names.value.map(({ n, name }) => <option key={n} value={String(n)}>{short(name, 60)}</option>)}
        </select>
      ) : <span class="trace-name" title={short(meta.value?.name ?? "", 300)}>{short(meta.value?.name ?? "…", 40)}</span>}
      <span class="group">
        <button type="button" aria-label="Undo" title="Undo (U)" class="turn" disabled={!canUndo.value} onClick={undo}>↶</button>
        <button type="button" aria-label="Redo" title="Redo (Shift+U)" class="turn" disabled={!canRedo.value} onClick={redo}>↷</button>
      </span>
      <span class="group">
        <button type="button" aria-label="Zoom out" title="Zoom out (S)" onClick={() => zoom(2)}>−</button>
        <button type="button" aria-label="Zoom in" title="Zoom in (W)" onClick={() => zoom(0.5)}>+</button>
        <button type="button" title="The whole trace (0)" onClick={wholeTrace}>all</button>
      </span>
      <OpenAnother />
      <WindowField />
      <Search />
      <span class="group">
        {maps.length > 1 ? (
          <select aria-label="Timelines by" title="Timelines by (V)" value={item(timelines, "map") ?? "0"} onChange={(event) => setTimelines(event.currentTarget.value === "0" ? "" : `map:${event.currentTarget.value}`, { top: 0, height: 0 })}>
            {maps.map(({ name }, nth) => <option key={nth} value={String(nth)}>{short(name.replace(/ View(?= \(|$)/, ""), 40)}</option>)}
          </select>
        ) : null}
        <select aria-label="Arrows" title="Arrows (M)" value={arrows} onChange={(event) => change({ arrows: event.currentTarget.value as Arrows })}>
          {ARROWS.map((one) => <option key={one} value={one}>{ARROW_NAMES[one]}</option>)}
        </select>
        <button type="button" aria-pressed={path} title={`The critical path as a line (L)${waits.value?.state === "unknown" ? `: ${unknownHere()}` : ""}`} onClick={togglePath}>critical path</button>
        <TracksMenu />
      </span>
      <span class="group">
        <button type="button" title="Copy the link to this view (Y)" onClick={() => void copyLink()}>link</button>
        <button type="button" aria-label={isDark.value ? "Light" : "Dark"} title="Light or dark (T)" onClick={() => change({ theme: isDark.peek() ? "light" : "dark" })}>{isDark.value ? "☀" : "☾"}</button>
        <button type="button" aria-label="All commands" title="All commands (Ctrl+K)" onClick={() => openDialog("palette")}>⌘</button>
        <button type="button" aria-label="Help" title="Help (?)" onClick={() => openDialog("help")}>?</button>
      </span>
      <Busy />
    </header>
  );
}

/** Shows all of another trace, in the same looks and with the same panel; alone if this one is. */
function showTrace(trace: number): void {
  const { theme, palette, panel, tracks, other } = view.peek();
  change({ ...START, theme, palette, panel, tracks, other: other === NO_OTHER ? NO_OTHER : START.other, trace });
}

/** Shows that an answer is on its way. */
function Busy() {
  return <span class={`busy${busy.value > 0 ? " on" : ""}`} aria-hidden="true" />;
}

/** Milliseconds between two times that are written while something moves: no one reads sixty a second. */
const READABLE = 100;

/** The window, now and then while it moves. */
function useSpan(): { t0: number; t1: number } {
  const [shown, setShown] = useState(span.peek());
  useEffect(() => {
    let timer = 0;
    const stop = effect(() => {
      const next = span.value;
      if (!isMoving.value) setShown(next);
      else if (timer === 0) {
        timer = window.setTimeout(() => {
          timer = 0;
          setShown(span.peek());
        }, READABLE);
      }
    });
    return () => {
      stop();
      window.clearTimeout(timer);
    };
  }, []);
  return shown;
}

/** Begin and end of the window, to be read and written. */
function WindowField() {
  const text = useSignal<string | null>(null);
  const isWrong = useSignal(false);
  const { t0, t1 } = useSpan();
  const plain = stretch(t0, t1);
  const complaint = useRef("");
  /** Says what is wrong with the text; nothing if it is not any more. */
  const complain = (words: string) => {
    if (words !== "" || trouble.peek() === complaint.current) trouble.value = words;
    complaint.current = words;
    isWrong.value = words !== "";
  };
  const leave = () => {
    text.value = null;
    complain("");
  };
  // Whoever goes on in another way has read it.
  useEffect(() => complain(""), [t0, t1]);
  const apply = (written: string) => {
    if (written.trim() === "") return leave();
    const [now, own] = [span.peek(), meta.peek() ?? span.peek()];
    const asked = askedWindow(written, now, own, bounds.peek() ?? own);
    if (typeof asked === "string") return complain(asked);
    change(asked);
    leave();
  };
  // The longest text that this trace can give, so that nothing is cut, or moves, however close one looks.
  const end = bounds.value?.t1 ?? 0;
  const most = stretch(end, end, 1e-9).length;
  return (
    <span class="window">
      <input
        id="window" aria-label="Window: begin – end, or a middle and a length" title={`The window: ${WINDOW_HELP}`} spellcheck={false}
        class={isWrong.value ? "wrong" : ""} aria-invalid={isWrong.value} value={text.value ?? plain} style={{ "--most": most }}
        onFocus={(event) => event.currentTarget.select()}
        onInput={(event) => (text.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") apply(event.currentTarget.value);
          if (event.key === "Escape") leave();
        }}
        onBlur={() => {
          text.value = null;
          isWrong.value = false;
        }}
      />
      <output title="Length of the window">{duration(t1 - t0)}</output>
    </span>
  );
}

function Search() {
  const text = useSignal<string | null>(null);
  const { query } = rested.value;
  const hits = found.value;
  return (
    <search class="search">
      <input
        id="search" type="search" placeholder="search… ( / )" aria-label="Search the whole trace: words and conditions such as dur>1ms" spellcheck={false}
        class={wrong.value === "" ? "" : "wrong"} aria-invalid={wrong.value !== ""} title={short(wrong.value, 300) || "Words and conditions: MPI_Recv dur>1ms rank:0-3; sums: sum dur by rank where MPI_Recv"}
        value={text.value ?? query} onInput={(event) => (text.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          const asked = event.currentTarget.value;
          if (isAggregation(asked)) {
            text.value = null;
            return change({ sums: asked.trim(), panel: "hits" });
          }
          const isNew = asked !== view.peek().query;
          change({ query: asked });
          text.value = null;
          if (asked.trim() === "") return void countHits();
          void nextHit(event.shiftKey ? -1 : 1).then(() => {
            if (isNew) document.getElementById("timeline")?.focus();
          });
        }}
        onBlur={(event) => {
          if (text.peek() !== null && !isAggregation(text.peek() ?? "")) change({ query: event.currentTarget.value });
          text.value = null;
        }}
      />
      <button type="button" class="link" title={hits?.at_least ? "Hits, as far as the trace could be read for them" : "Hits"} onClick={() => change({ panel: "hits" })} disabled={query.trim() === ""}>
        {query.trim() === "" ? "" : isSearching.value ? "…" : hits ? hitsText(hits) : "–"}
      </button>
    </search>
  );
}
