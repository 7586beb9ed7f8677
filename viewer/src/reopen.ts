// Opens a trace again whose file has changed while the page showed it.

import { batch } from "@preact/signals";
import { askReopened, forget, traceNames } from "./api";
import { names } from "./compare";
import { change, forgetSteps, gone, say, show, START, view } from "./state";

/** Shows all of another trace in place of the one that is shown, with the same looks: times, timelines and categories are others. */
export function showInstead(trace: number): void {
  const { other, theme, palette, panel, tracks, query, sums, align, nth, stretch } = view.peek();
  show({ ...START, theme, palette, panel, tracks, query, sums, align, nth, stretch, other, trace });
  forgetSteps();
}

/** Shows what the file of the trace that has changed holds now; where that cannot be, says why. */
export async function reopen(): Promise<void> {
  const before = gone.peek();
  if (!before) return;
  try {
    const { n, name } = await askReopened(before.trace);
    const all = await traceNames();
    forget();
    batch(() => {
      gone.value = null;
      names.value = all;
      const { trace, other } = view.peek();
      if (trace === before.trace) showInstead(n);
      else if (other === before.trace) change({ other: n });
    });
    say(`${name} was opened again`);
  } catch (error) {
    const refusal = error instanceof TypeError ? "mpitrace view does not answer any more" : error instanceof Error ? error.message : String(error);
    gone.value = { ...before, refusal };
  }
}
