// The regions of the page: toolbar, timeline, legend and details beside it, panels below.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { address, question, type Value } from "./api";
import { other } from "./compare";
import { Dialogs } from "./Dialogs";
import { found } from "./finding";
import { useHeld } from "./held";
import { PANEL_TITLES, pressed } from "./keys";
import { BytesRead } from "./OpenFile";
import { Compare } from "./panels/Compare";
import { Details } from "./panels/Details";
import { Events } from "./panels/Events";
import { Hits } from "./panels/Hits";
import { Io } from "./panels/Io";
import { Legend } from "./panels/Legend";
import { Messages } from "./panels/Messages";
import { hitsText } from "./panels/parts";
import { PerTimeline } from "./panels/PerTimeline";
import { Pins } from "./panels/Pins";
import { Statistics } from "./panels/Statistics";
import { Summary } from "./panels/Summary";
import { reopen } from "./reopen";
import {
  area, change, gone, isDark, isNarrow, isUnknownHere, legendTab, meta, PANELS, rested, restedSpan, said, SHUT, trouble, type PanelName,
} from "./state";
import { shownTimelines } from "./timeline/now";
import { encode, ownText } from "./url";
import { Full } from "./timeline/Full";
import { Other } from "./timeline/Other";
import { Timeline } from "./timeline/Timeline";
import { short } from "./timeline/Tooltip";
import { Toolbar } from "./Toolbar";
import { Verdict } from "./Verdict";

const SHOWN: Record<PanelName, () => preact.JSX.Element> = {
  summary: Summary, stats: Statistics, timelines: PerTimeline, matrix: Messages, hits: Hits, events: Events, io: Io, pins: Pins, compare: Compare,
};

/** Part of the page that panels have until somebody wants another. */
const HEIGHT = 0.4;

export function App() {
  useEffect(() => {
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
  const low = useSignal(stored("bottom", HEIGHT));
  const isSide = useSignal(true);
  // What the page has shown before stays.
  if (isUnknownHere.value && meta.value === null) return <NotLoggedIn />;
  const isShut = rested.value.panel === SHUT && !(isNarrow.value && legendTab.value);
  return (
    <div class={`app${isSide.value ? "" : " no-side"}`} style={{ "--bottom": isShut ? "auto" : `${Math.round(low.value * 1000) / 10}%` }}>
      <Toolbar />
      <Trouble />
      <Verdict />
      <main class="middle" aria-label="Timeline"><Timeline /><Full /><Other /></main>
      {isNarrow.value ? null : (
        <aside class="side" aria-label="Legend and details">
          {isSide.value ? <><Legend /><Details /></> : null}
        </aside>
      )}
      <section class="bottom" aria-label="Panels">
        {isShut ? null : (
          <Splitter value={low.value} onMove={(value) => {
            low.value = value;
            store("bottom", value);
          }} />
        )}
        <Tabs isSide={isSide.value} onSide={() => (isSide.value = !isSide.value)} />
      </section>
      <div class="said" role="status" aria-live="polite">{short(said.value, 500)}</div>
      <Dialogs />
    </div>
  );
}

/** What stands in place of everything where the server does not know this browser. */
function NotLoggedIn() {
  return (
    <main class="start">
      <h1>mpitrace view</h1>
      <p role="alert">Not logged in: open the address that <code>mpitrace view</code> has printed, with all that is behind its <code>#</code>.</p>
      <p class="faint">The address is another one each time that the command is started. Whoever does not have it sees nothing of a trace.</p>
    </main>
  );
}

/** What went wrong, until dismissed; what the recorder lost; how far the index is. */
function Trouble() {
  const index = meta.value?.index;
  const wrong = useHeld(trouble.value);
  // An answer about one that is not looked at any more may come late.
  const changed = useHeld(gone.value && [rested.value.trace, other.value].includes(gone.value.trace) ? gone.value : null);
  const notes = useHeld(index?.state === "building" ? `index: ${Math.round(index.percent)} %` : "");
  return (
    <div class="trouble-room">
      {changed === null ? null : (
        <div class="trouble" role="alert">
          {short(changed.why, 600)}. {changed.refusal === "" ? "" : `It cannot be loaded now: ${short(changed.refusal, 600)}. `}<button type="button" onClick={() => void reopen()}>load the new one</button>
        </div>
      )}
      {wrong === "" ? null : (
        <div class="trouble" role="alert">
          {short(wrong, 600)} <button type="button" onClick={() => (trouble.value = "")}>dismiss</button>
        </div>
      )}
      {notes === "" ? null : <div class="note">{notes}</div>}
    </div>
  );
}

/** What stands beside the timeline where there is room, as a panel. */
function Beside() {
  return <div class="beside"><Legend /><Details /></div>;
}

function Tabs({ isSide, onSide }: { isSide: boolean; onSide: () => void }) {
  const tabs: readonly (PanelName | "legend")[] = isNarrow.value ? [...PANELS, "legend"] : PANELS;
  const shown = isNarrow.value && legendTab.value ? "legend" : rested.value.panel;
  const Shown = shown === "legend" ? Beside : shown === SHUT ? null : SHOWN[shown];
  const open = (tab: PanelName | "legend") => {
    if (tab === "legend") legendTab.value = true;
    else change({ panel: tab });
  };
  /** Where the keyboard comes in. */
  const first = shown === SHUT ? tabs[0] : shown;
  const go = (event: KeyboardEvent) => {
    const at = tabs.indexOf(shown === SHUT ? tabs[0]! : shown);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length]!;
    open(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <>
      <div class="tab-line">
        <div class="tabs" role="tablist" aria-label="Panels" onKeyDown={go}>
          {tabs.map((one, nth) => (
            <button
              key={one} id={`tab-${one}`} type="button" role="tab" aria-selected={one === shown} aria-controls={Shown ? "panel" : undefined} tabIndex={one === first ? 0 : -1}
              title={one === "legend" ? "Legend and details" : `${PANEL_TITLES[one]} (${nth + 1})`}
              onClick={() => (one === shown && one !== "legend" ? change({ panel: SHUT }) : open(one))}
            >
              {one === "legend" ? "Legend, details" : PANEL_TITLES[one]}
              {one === "hits" && found.value ? ` ${hitsText(found.value)}` : one === "pins" && rested.value.pins.length + rested.value.notes.length > 0 ? ` ${rested.value.pins.length + rested.value.notes.length}` : ""}
            </button>
          ))}
        </div>
        <span class="exports">
          <BytesRead />
          {isNarrow.value ? null : <button type="button" aria-pressed={isSide} onClick={onSide}>legend</button>}
          <Export name="svg" /><Export name="png" /><Export name="html" />
        </span>
      </div>
      {Shown ? <div id="panel" class="panel-room" role="tabpanel" aria-labelledby={`tab-${shown}`} tabIndex={0}><Shown /></div> : null}
    </>
  );
}

/** A link to the window as a file. */
function Export({ name }: { name: "svg" | "png" | "html" }) {
  const { t0, t1 } = restedSpan.value;
  const { y0, y1 } = shownTimelines.peek();
  const values: Record<string, Value> = {
    t0, t1, timelines: rested.value.timelines, y0, y1, hide: rested.value.hide.join(","), w: Math.round(area.value.width) || 1200,
    h: Math.round(area.value.height) || 600, theme: isDark.value ? "dark" : null,
    colors: rested.value.palette === "class" ? "class" : null,
    ...(name === "html" ? { state: encode(rested.value) } : { own: ownText(rested.value.own), names: rested.value.names.map(([of, own]) => `${of}:${own.replace(/\s+/g, " ")}`).join("\n") }),
  };
  const link = address(rested.value.trace, question(`export.${name}`, values));
  const file = (meta.value?.name ?? "trace").replace(/[^\w.-]+/g, "_").slice(0, 60);
  return link ? <a id={`export-${name}`} href={link} download={`${file}.${name}`} title={`The window as ${name.toUpperCase()}`}>{name.toUpperCase()}</a> : null;
}

/** Divides the height between timeline and panels. */
function Splitter({ value, onMove }: { value: number; onMove: (value: number) => void }) {
  const bounded = (part: number) => Math.min(0.85, Math.max(0.06, part));
  return (
    <div
      class="splitter" role="separator" aria-orientation="horizontal" aria-label="Height of the panels" tabIndex={0}
      aria-valuenow={Math.round(value * 100)} aria-valuemin={6} aria-valuemax={85}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) onMove(bounded(1 - event.clientY / window.innerHeight));
      }}
      onKeyDown={(event) => {
        const by = { ArrowUp: 0.04, ArrowDown: -0.04 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        onMove(bounded(value + by));
      }}
      onDblClick={() => onMove(HEIGHT)}
    />
  );
}

function stored(name: string, otherwise: number): number {
  try {
    const value = Number(localStorage.getItem(name));
    return value > 0 && value < 1 ? value : otherwise;
  } catch {
    return otherwise;
  }
}

function store(name: string, value: number): void {
  try {
    localStorage.setItem(name, String(value));
  } catch {
    // A browser that keeps nothing.
  }
}
