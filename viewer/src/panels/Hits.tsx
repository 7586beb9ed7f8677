// What the search found: how many, where in the run, and the way from one to the next.

import { Csv, Spark, hitsText, percent, Subject, subjectValues } from "./parts";
import { Listing } from "./Events";
import { Sums } from "./Sums";
import { change, hitBins, meta, rested } from "../state";
import { found, isSearching, nextHit, firstHit, wrong } from "../finding";
import { instant } from "../axis";
import { short } from "../timeline/Tooltip";

const EXAMPLES = ["MPI_Recv dur>1ms", "rank:0-3 size>=64k", "MPI_Allreduce", 'file:"*.h5"', "tag=7"];

/** Bytes of a trace up to which all of it is read for one answer. */
const READ_AT_ONCE = 150 * 2 ** 20;

/** Looks for something; the field in the toolbar shows it. */
export function lookFor(query: string): void {
  change({ query, panel: "hits" });
}

export function Hits() {
  const { query } = rested.value;
  const whole = meta.value;
  const bins = hitBins.value;
  const hits = found.value;
  const isWhole = (whole?.bytes ?? 0) <= READ_AT_ONCE;
  const go = (nth: number) => {
    if (!whole) return;
    const width = (whole.t1 - whole.t0) / Math.max(1, bins.length);
    const at = whole.t0 + nth * width;
    change({ t0: at - width, t1: at + width * 2 });
  };
  return (
    <div class="panel">
      <Sums />
      <div class="panel-head">
        {query.trim() === "" ? <span>Nothing is searched for.</span> : (
          <>
            <span><b>{short(query, 100)}</b>: {hits ? `${hitsText(hits)} ${hits.count === 1 ? "hit" : "hits"}${hits.at_least ? " in the part that could be read" : ""}` : isSearching.value ? "searching…" : "–"}</span>
            <button type="button" onClick={() => void nextHit(-1)}>◀ previous <kbd>P</kbd></button>
            <button type="button" onClick={() => void nextHit(1)}>next <kbd>N</kbd> ▶</button>
            <button type="button" onClick={() => void firstHit()}>first</button>
            {whole ? <Csv what={isWhole ? "events" : "hits"} values={{ q: query, t0: whole.t0, t1: whole.t1, timelines: rested.value.timelines }} /> : null}
          </>
        )}
      </div>
      {wrong.value === "" ? null : <p class="wrong" role="alert">{short(wrong.value, 400)}</p>}
      {bins.length > 0 && whole ? (
        <figure class="hit-bins">
          <Spark values={bins} name={`Hits over the run: ${percent(bins.filter((number) => number > 0).length / bins.length)} of the run has some`} onTimeline={go} />
          <figcaption class="faint"><span>{instant(whole.t0, whole.t1 - whole.t0)}</span><span>{instant(whole.t1, whole.t1 - whole.t0)}</span></figcaption>
        </figure>
      ) : null}
      {hits && hits.count > 0 && whole ? <List isWhole={isWhole} /> : null}
      <p class="faint examples">
        Words are looked for in names of categories; conditions narrow it: <code>dur&gt;1ms</code>, <code>rank:0-63</code>, <code>comm:2</code>,{" "}
        <code>size&gt;=1M</code>, <code>tag=7</code>, <code>file:"*.h5"</code>, <code>callid:0x1f</code>. Try{" "}
        {EXAMPLES.map((example) => <button key={example} type="button" class="link" onClick={() => lookFor(example)}>{example}</button>)}
      </p>
    </div>
  );
}

/** The hits one by one: of the whole trace, or of the window where that would be too much to read. */
function List({ isWhole }: { isWhole: boolean }) {
  const { query, timelines } = rested.value;
  const { t0, t1 } = meta.value ?? { t0: 0, t1: 1 };
  const values = isWhole ? { t0, t1, timelines, q: query } : { ...subjectValues(), hide: null, q: query };
  return (
    <>
      {isWhole ? null : <p>Those of the <Subject />:</p>}
      <Listing name="Hits" values={values} first="t0" noun="hit" />
    </>
  );
}
