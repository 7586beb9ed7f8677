// Keeps what the server knows in step with what is looked at: the trace, its timelines, what is selected, how many hits there are.

import { effect, untracked } from "@preact/signals";
import { ApiError, Asker, askJson, askReference, askReopened, forget, question, report, sayAgain, traceNames } from "./api";
import type { MetaAnswer, PathAnswer, TimelinesAnswer, TraceSummary, WaitsAnswer } from "./answers";
import { stretch } from "./axis";
import { loadOther, names, other } from "./compare";
import { count } from "./finding";
import { followTracks } from "./followTracks";
import { loadFull } from "./full";
import { ownTrace } from "./own";
import { mayPass, pauseAfter, poll } from "./polling";
import { showInstead } from "./reopen";
import {
  START, area, bounds, change, counted, hitBins, meta, noSummary, otherReach, path, rested, restedSpan, selected, shownTracks, slide, serverMeta, serverTimelines, summary, tracks, trouble, unavailable,
  view, waits, wholeTracks,
} from "./state";

/** Milliseconds between two looks at how far the index is, and at whether what needs all of the trace is known. */
const AGAIN = 700;
const AGAIN_WHOLE = 2000;

/** Asks for the trace; says whether more of it will become known: its index is being made, or all of it is still being counted. */
async function loadMeta(trace: number, isWanted: () => boolean): Promise<boolean> {
  const found = await askJson<MetaAnswer>(trace, "meta");
  if (!isWanted()) return false;
  const before = serverMeta.peek();
  if (before && (before.index.state !== found.index.state || before.index.counted !== found.index.counted)) forget();
  known = trace;
  serverMeta.value = found;
  document.title = `${found.name} – mpitrace view`;
  const isCountedLater = found.index.state === "ready" && !found.index.counted && (waits.peek()?.state ?? "pending") === "pending";
  return found.index.state === "building" || isCountedLater;
}

/** Asks which calls waited; says whether the server is still finding that out. */
async function loadWaits(trace: number, isWanted: () => boolean): Promise<boolean> {
  const found = await askJson<WaitsAnswer>(trace, "waits");
  if (!isWanted()) return false;
  // Details that came before knew less.
  if (found.state === "known") forget();
  waits.value = found;
  return found.state === "pending";
}

/** Asks what the run lost, for the turn-th time; says whether there is but an estimate of it. */
async function loadSummary(trace: number, turn: number, isWanted: () => boolean): Promise<boolean> {
  const found = await askJson<TraceSummary>(trace, question("summary", { turn: turn || null }));
  if (!isWanted()) return false;
  summary.value = found;
  return found.pending;
}

/** Counts how often another trace was loaded. */
let loaded = 0;

/** Asks for a trace, for what the run lost, and for who waited, again while the server is still finding that out. */
function follow(trace: number): void {
  const own = ++loaded;
  const isWanted = () => own === loaded;
  const words = (error: unknown) => (error instanceof Error ? error.message : String(error));
  let turn = 0;
  void poll(() => loadMeta(trace, isWanted), {
    every: AGAIN, isWanted,
    refused: (error) => {
      report(error);
      unavailable.value = words(error);
    },
  });
  void poll(() => loadSummary(trace, turn++, isWanted), { every: AGAIN_WHOLE, isWanted, refused: (error) => (noSummary.value = words(error)) });
  // Whoever asks for the summary hears why.
  void poll(() => loadWaits(trace, isWanted), { every: AGAIN_WHOLE, isWanted, refused: () => undefined });
}

/** Shows what there is now in place of a trace that was loaded again: of where in it the link led, nothing is left. */
async function showReloaded(asked: number): Promise<void> {
  try {
    const { n, name } = await askReopened(asked);
    const all = await traceNames();
    if (view.peek().trace !== asked || n === asked) return;
    names.value = all;
    showInstead(n);
    const isWhere = location.hash !== "";
    if (isWhere) report(new Error(`The link is of an earlier content of ${name}. This is what its file holds now.`));
  } catch (error) {
    report(error);
  }
}

/**
 * A link may be of a trace that is not here: one that was loaded again, before the server was started again. The first one is shown then. Numbers that
 * the server gave away and does not name any more are those of traces that were loaded again since.
 */
function showKnownTrace(): void {
  effect(() => {
    const [first] = names.value;
    const asked = view.value.trace;
    if (!first || names.value.some(({ n }) => n === asked)) return;
    if (names.value.some(({ n }) => n > asked)) {
      untracked(() => void showReloaded(asked));
      return;
    }
    untracked(() => {
      change({ trace: first.n });
      report(new Error(`The link is of trace ${asked}, which is not here. This is ${first.name}.`));
    });
  });
}

/** The trace that the page knows begin and end of. */
let known = -1;

/** A link may be of another run, and of a time that this one did not last: then all of the trace is shown, and why. */
function showKnownWindow(): void {
  effect(() => {
    const [whole, { trace, t0, t1, align }] = [bounds.value, view.value];
    // Where another trace is laid beside this one, what is seen of it may be what the link is about.
    const isUnsettled = !whole || trace !== known || (names.value.length === 0 && !ownTrace()) || align !== "" || (other.value !== null && otherReach.value === null);
    if (isUnsettled || Number.isNaN(t0) || (t0 <= whole.t1 && t1 >= whole.t0)) return;
    untracked(() => {
      change({ t0: whole.t0, t1: whole.t1 });
      report(new Error(`The link is of ${stretch(t0, t1)}, where the trace has nothing. This is all of it.`));
    });
  });
}

/** Asks which traces there are, before anything else where the address names one by its number. */
export async function loadNames(): Promise<void> {
  const asked = traceNames().then((all) => void (names.value = all)).catch(report);
  if (view.peek().trace !== START.trace) await asked;
}

/** The address names fewer things than `view`: one effect for each part of it that something is asked for. */
export function load(): void {
  showKnownTrace();
  showKnownWindow();
  let trace = -1;
  effect(() => {
    if (view.value.trace === trace) return;
    trace = view.value.trace;
    untracked(() => {
      serverMeta.value = null;
      unavailable.value = "";
      serverTimelines.value = null;
      selected.value = [];
      hitBins.value = [];
      counted.value = "";
      forget();
      waits.value = null;
      summary.value = null;
      noSummary.value = "";
      path.value = null;
      tracks.value = null;
      wholeTracks.value = null;
      follow(trace);
    });
  });
  const timelines = new Asker<TimelinesAnswer>();
  let askedTimelines = "";
  effect(() => {
    const { trace: of, timelines: spec } = view.value;
    const asked = `${of}/${spec}`;
    if (asked === askedTimelines) return;
    askedTimelines = asked;
    let failures = 0;
    const refused = (error: unknown) => {
      if (mayPass(error)) {
        const pause = pauseAfter(++failures);
        sayAgain(error, pause);
        window.setTimeout(() => askedTimelines === asked && askTimelines(), pause);
        return;
      }
      report(error);
      // A link may name timelines that this trace has not: those before are shown, at first all.
      const isWrong = error instanceof ApiError && error.status < 500;
      if (isWrong && spec !== "" && askedTimelines === asked) slide({ timelines: serverTimelines.peek()?.spec ?? "" });
    };
    const askTimelines = () => void timelines.ask(of, question("timelines", { timelines: spec }), refused).then((found) => {
      if (!found || askedTimelines !== asked) return;
      serverTimelines.value = found;
      // The text that the server would write, so that links of the same timelines are the same.
      if (found.spec !== spec && view.peek().timelines === spec) {
        askedTimelines = `${of}/${found.spec}`;
        slide({ timelines: found.spec });
      }
    });
    untracked(askTimelines);
  });
  let askedSelection = "";
  let complaint = "";
  effect(() => {
    const { trace: of, timelines: spec, sel } = view.value;
    const asked = `${of}/${spec}/${sel.join("~")}/${waits.value?.state === "known"}`;
    if (asked === askedSelection) return;
    askedSelection = asked;
    // What was said of another selection is no longer so.
    if (complaint !== "" && trouble.peek() === complaint) trouble.value = "";
    untracked(() => void Promise.all(sel.map((ref) => askReference(of, ref, spec)))
      .then((all) => {
        if (askedSelection === asked) selected.value = all.filter((detail) => detail !== null);
      })
      .catch((error) => {
        report(error);
        if (error instanceof ApiError) complaint = trouble.peek();
      }));
  });
  const paths = new Asker<PathAnswer>();
  let askedPath = "";
  effect(() => {
    const { trace: of, timelines: spec, path: isWanted } = rested.value;
    const { t0, t1 } = restedSpan.value;
    const isKnown = waits.value?.state === "known";
    const room = t1 - t0;
    // With a window on either side, so that there is a line while something moves.
    const asked = isWanted && isKnown && room > 0
      ? question("path", { t0: t0 - room, t1: t1 + room, w: Math.round(3 * Math.max(1, area.value.width)), timelines: spec }) : "";
    if (`${of}/${asked}` === askedPath) return;
    askedPath = `${of}/${asked}`;
    untracked(() => {
      if (asked === "") path.value = null;
      else void paths.ask(of, asked).then((found) => {
        if (found && askedPath === `${of}/${asked}`) path.value = found;
      });
    });
  });
  followTracks(() => ({ trace: rested.value.trace, ...restedSpan.value, shown: shownTracks.value, width: area.value.width, known: waits.value?.state, whole: meta.peek() }), tracks, wholeTracks);
  let searched = "";
  effect(() => {
    const { trace: of, timelines: spec, query } = view.value;
    // A search for waits can be answered when these are known.
    const asked = `${of}/${spec}/${query}/${serverMeta.value === null}/${/\bwait/.test(query) && waits.value?.state}`;
    if (asked === searched) return;
    searched = asked;
    untracked(() => void count());
  });
  loadFull();
  loadOther();
}
