// What stands above the picture: how well the run used its ranks, and its largest losses.

import { useSignal } from "@preact/signals";
import { showPanel } from "./actions";
import type { RunVerdict } from "./answers";
import { Losses } from "./losses";
import { percent } from "./panels/parts";
import { isNarrow, summary } from "./state";

/** Losses above the picture; the panel has the others. */
const SHOWN = 3;

export function Verdict() {
  const isOpen = useSignal(true);
  const found = summary.value;
  if (!found) return <section class="verdict-room" aria-label="Verdict"><p class="verdict faint">Reading the trace…</p></section>;
  if (!found.verdict) {
    if (!found.pending) return null;
    return <section class="verdict-room" aria-label="Verdict"><p class="verdict faint">Who waits for whom is told when all of the trace has been read.</p></section>;
  }
  const { losses, all_losses: all } = found.verdict;
  const shown = isOpen.value && !isNarrow.value ? losses.slice(0, SHOWN) : [];
  const more = all - shown.length;
  return (
    <section class="verdict-room" aria-label="Verdict">
      <div class="verdict">
        <Efficiencies of={found.verdict} />
        <span class="verdict-end">
          {more > 0 ? <button type="button" class="quiet" onClick={() => showPanel("summary")}>{shown.length > 0 ? `${more} more` : `${more} losses`}</button> : null}
          {isNarrow.value || losses.length === 0 ? null : (
            <button type="button" class="quiet" aria-expanded={isOpen.value} title={isOpen.value ? "Put the losses aside" : "The largest losses"} onClick={() => (isOpen.value = !isOpen.peek())}>
              {isOpen.value ? "hide" : "show"}
            </button>
          )}
        </span>
      </div>
      {shown.length > 0 ? <Losses losses={shown} most={losses[0]?.seconds ?? 0} /> : null}
    </section>
  );
}

/** Efficiencies as a product, and what most of the rest of the time is. */
function Efficiencies({ of: { parallel, load_balance: balance, serialisation, transfer, waiting, files, losses } }: { of: RunVerdict }) {
  const factor = (name: string, value: number, hint: string) => <span class="factor" title={hint}>{name} <b>{percent(value)}</b></span>;
  return (
    <p>
      {factor("Parallel efficiency", parallel, "Mean time that ranks compute, divided by the length of the run")}
      <span class="faint"> = </span>{factor("load balance", balance, "Mean divided by the longest time that a rank computes")}
      <span class="faint"> × </span>{factor("serialisation", serialisation, "What is lost because ranks depend on each other")}
      <span class="faint"> × </span>{factor("transfer", transfer, "What is lost because data has to move")}
      <span class="losing" title="Of the time of all ranks">
        {losses.length > 0 ? <><b>{percent(waiting)}</b> waiting</> : "nobody waits for others"}
        {files >= 0.005 ? <>, <b>{percent(files)}</b> files</> : null}
      </span>
    </p>
  );
}
