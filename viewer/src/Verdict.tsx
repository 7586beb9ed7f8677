// What stands above the picture: how well the run, or the selected range of it, used its ranks, and its largest losses.

import { useSignal } from "@preact/signals";
import { showPanel } from "./actions";
import type { RangeVerdict, RunVerdict, TracksAnswer } from "./answers";
import { question } from "./api";
import { duration, spanOf, stretch } from "./axis";
import { useHeld } from "./held";
import { Losses } from "./losses";
import { useAnswer } from "./panels/answer";
import { count, percent } from "./panels/parts";
import { opensFiles } from "./own";
import { change, isNarrow, meta, noSummary, rested, restedSpan, summary, waits, type Range } from "./state";
import { short } from "./timeline/Tooltip";

/** Losses above the picture; the panel has the others. */
const SHOWN = 3;

export function Verdict() {
  const range = useHeld(rested.value.range);
  return range ? <OfRange range={range} /> : <OfRun />;
}

function OfRun() {
  const found = useHeld(summary.value);
  const isUnknown = useHeld(waits.value?.state === "unknown");
  const isMissing = useHeld(noSummary.value !== "");
  if (!found) return isMissing ? null : <section class="verdict-room" aria-label="Verdict"><p class="verdict faint">Reading the trace…</p></section>;
  if (!found.verdict) {
    if (!found.pending && opensFiles() && isUnknown) return <TooLarge />;
    if (!found.pending) return null;
    return <section class="verdict-room" aria-label="Verdict"><p class="verdict faint">Who waits for whom is told when all of the trace has been read.</p></section>;
  }
  return <Told of={found.verdict} />;
}

/** What tells who waited in a file of which this page reads but parts. */
function TooLarge() {
  return <section class="verdict-room" aria-label="Verdict"><p class="verdict faint"><span>Who waits for whom is told of files of up to 150 MB; of this one by <code>mpitrace report {short(meta.value?.name ?? "", 60)}</code>.</span></p></section>;
}

/** Efficiencies and losses. Of a range, `more` shows the others in place: the panel is about the run. */
function Told({ of, range = null }: { of: RunVerdict; range?: Range | null }) {
  const isOpen = useSignal(true);
  const isLong = useSignal(false);
  const { losses, all_losses: all } = of;
  const shown = isOpen.value && !isNarrow.value ? losses.slice(0, isLong.value && range ? losses.length : SHOWN) : [];
  const more = (range ? losses.length : all) - shown.length;
  return (
    <section class="verdict-room" aria-label={range ? "Verdict of the selected range" : "Verdict"}>
      <div class="verdict">
        {range ? <RangeName range={range} /> : null}
        {of.ranks.length === 1 ? <OfOneRank of={of} /> : <Efficiencies of={of} />}
        <span class="verdict-end">
          {more > 0 && (!range || isOpen.value) ? (
            <button type="button" class="quiet" onClick={() => (range ? (isLong.value = true) : showPanel("summary"))}>{shown.length > 0 ? `${count(more)} more` : `${count(more)} losses`}</button>
          ) : null}
          {isNarrow.value || losses.length === 0 ? null : (
            <button type="button" class="quiet" aria-expanded={isOpen.value} title={isOpen.value ? "Put the losses aside" : "The largest losses"} onClick={() => (isOpen.value = !isOpen.peek())}>
              {isOpen.value ? "hide" : "show"}
            </button>
          )}
          {range ? <WholeRun /> : null}
        </span>
      </div>
      {of.reservations.map((sentence) => <p class="verdict-reservation" key={sentence}>{sentence}</p>)}
      {shown.length > 0 ? <Losses losses={shown} most={losses[0]?.seconds ?? 0} keepsRange={range !== null} /> : null}
    </section>
  );
}

/** The verdict of the selected range, on all ranks. */
function OfRange({ range }: { range: Range }) {
  const { t0, t1 } = range;
  const shown = useHeld(useAnswer<RangeVerdict>(t1 > t0 ? question("verdict", { t0, t1 }) : null));
  const found = shown.value;
  const isOwn = found !== null && found.t0 === t0 && found.t1 === t1;
  if (found && !isOwn && found.verdict) return <Told of={found.verdict} range={{ ...range, t0: found.t0, t1: found.t1 }} />;
  if (isOwn && found.verdict) return <Told of={found.verdict} range={range} />;
  return (
    <section class="verdict-room" aria-label="Verdict of the selected range">
      <div class="verdict">
        <RangeName range={range} />
        {shown.error !== "" ? <p class="wrong" role="alert">{short(shown.error, 300)}</p>
          : !isOwn ? <p class="faint">Reading the range…</p>
          : found.is_small ? <p class="faint">A trace without calls of MPI has no verdict of a range.</p>
          : <Shares range={range} />}
        <span class="verdict-end"><WholeRun /></span>
      </div>
    </section>
  );
}

function RangeName({ range: { t0, t1 } }: { range: Range }) {
  const { t0: from, t1: to } = restedSpan.value;
  return <span class="range-name" title="Efficiencies and losses of all ranks in the selected range">Range {stretch(t0, t1, spanOf(t1 - t0, to - from))} <span class="faint">({duration(t1 - t0)})</span></span>;
}

function WholeRun() {
  return <button type="button" class="quiet" title="Back to the verdict of the whole run (Esc)" onClick={() => change({ range: null })}>whole run</button>;
}

/** What the ranks did in a range of a trace that is too large for a verdict of it. */
function Shares({ range: { t0, t1 } }: { range: Range }) {
  const { value } = useHeld(useAnswer<TracksAnswer>(question("tracks", { t0, t1, w: 1, show: "ranks" })));
  const { use, ranks } = value ?? { use: null, ranks: 0 };
  const share = (values: readonly number[] | null | undefined) => (values?.[0] ?? 0) / Math.max(1, ranks);
  const [waiting, mpi, files, starting] = [share(use?.waiting), share(use?.mpi), share(use?.files), share(use?.starting)];
  const about = value?.exact && !use?.lacks_short_waits ? "" : "≈ ";
  return (
    <p>
      {!use ? null : (
        <>
          <span class="factor">{about}computing <b>{percent(Math.max(0, 1 - waiting - mpi - files - starting))}</b></span>
          <span class="losing">{use.waiting ? <><b>{percent(waiting)}</b> waiting, </> : null}<b>{percent(mpi)}</b> {use.waiting ? "MPI" : "MPI or waiting"}{files >= 0.005 ? <>, <Files share={files} /></> : null}.</span>{" "}
        </>
      )}
      <span class="faint">The trace is too large for efficiencies of a range while somebody waits: <code>mpitrace report --window {String(t0)} {String(t1)} {short(meta.value?.name ?? "", 60)}</code></span>
    </p>
  );
}

/** The share of calls and operations on files, and the way to them. */
function Files({ share }: { share: number }) {
  return <button type="button" class="link" title="The longest calls and operations on files" onClick={() => showPanel("io")}><b>{percent(share)}</b> files</button>;
}

/** What the only rank did: of one there is no efficiency of working together. */
function OfOneRank({ of: { parallel: computing, waiting, files } }: { of: RunVerdict }) {
  const mpi = Math.max(0, 1 - computing - waiting - files);
  return (
    <p>
      <span class="factor" title="Of the time of the rank's main thread, as all that follows">computing <b>{percent(computing)}</b></span>
      <span class="losing">
        <b>{percent(mpi)}</b> MPI, {files >= 0.005 ? <Files share={files} /> : <><b>{percent(files)}</b> files</>}{waiting > 0 ? <>, <b>{percent(waiting)}</b> waiting</> : null}
      </span>{" "}
      <span class="faint">The run has one rank, which waits for no other.</span>
    </p>
  );
}

/** Efficiencies as a product, and what most of the rest of the time is. */
function Efficiencies({ of: { parallel, load_balance: balance, serialisation, transfer, waiting, files, losses } }: { of: RunVerdict }) {
  // What the report has as "MPI: transfer and overhead".
  const mpi = Math.max(0, 1 - parallel - waiting - files);
  const factor = (name: string, value: number, hint: string) => <span class="factor" title={hint}>{name} <b>{percent(value)}</b></span>;
  return (
    <p>
      {factor("Parallel efficiency", parallel, "Mean time that ranks compute, divided by the length of the run or range")}
      {parallel === 0 ? <span class="faint">: nobody computes</span> : (
        <>
          <span class="faint"> = </span>{factor("load balance", balance, "Mean divided by the longest time that a rank computes")}
          <span class="faint"> × </span>{factor("serialisation", serialisation, "What is lost because ranks depend on each other")}
          <span class="faint"> × </span>{factor("transfer", transfer, "What is lost because data has to move")}
        </>
      )}
      <span class="losing" title="Of the time of all ranks">
        {losses.length > 0 ? <><b>{percent(waiting)}</b> waiting</> : "nobody waits for others"}
        {mpi >= 0.005 ? <span title="Transfer and overhead: what ranks are in MPI without waiting for others">, <b>{percent(mpi)}</b> other MPI</span> : null}
        {files >= 0.005 ? <>, <Files share={files} /></> : null}
      </span>
    </p>
  );
}
