// Search: the whole trace is searched by the server, from hit to hit; the page asks and shows.

import { signal } from "@preact/signals";
import { current, select } from "./actions";
import { askJson, isAbort, keepDetail, question, ApiError, report } from "./api";
import type { HitsAnswer, SearchAnswer } from "./answers";
import { counted, hitBins, meta, say, span, trouble, view } from "./state";

/** How often a search that ran out of its budget is taken up again. */
const MOST_TURNS = 200;
/** Parts of the trace that hits are counted in. */
const BINS = 400;

/** HitsAnswer of the query in the whole trace; null while not known. */
export const found = signal<HitsAnswer | null>(null);
/** What is wrong with the query. */
export const wrong = signal("");
export const isSearching = signal(false);

let counting: AbortController | null = null;

function forgetHits(): void {
  found.value = null;
  hitBins.value = [];
  counted.value = "";
}

/** Counts the hits of the query of the view. */
export async function count(): Promise<void> {
  counting?.abort();
  const { query, trace, timelines } = view.peek();
  const whole = meta.peek();
  wrong.value = "";
  if (trouble.peek() === complaint) trouble.value = "";
  if (query.trim() === "" || !whole) {
    forgetHits();
    return;
  }
  const own = new AbortController();
  counting = own;
  isSearching.value = true;
  try {
    const asked = question("hits", { q: query, t0: whole.t0, t1: whole.t1, bins: BINS, timelines });
    const hits = await askJson<HitsAnswer>(trace, asked, own.signal);
    if (own.signal.aborted) return;
    found.value = hits;
    hitBins.value = hits.bins;
    counted.value = hits.count > 0 ? query : "";
  } catch (error) {
    if (isAbort(error)) return;
    forgetHits();
    if (error instanceof ApiError && error.status === 400) wrong.value = withoutName(error.message);
    else report(error);
  } finally {
    if (counting === own) isSearching.value = false;
  }
}

/** A refusal without the name that the query has in questions to the server. */
function withoutName(message: string): string {
  return message.replace(/^q: /, "");
}

/** Tells what is wrong with a query that was searched for, where it is seen whatever panel is open. */
function refuse(query: string, message: string): void {
  wrong.value = withoutName(message);
  complaint = `“${query}”: ${wrong.peek()}`;
  trouble.value = complaint;
}

/** What was last said to be wrong. */
let complaint = "";

async function search(dir: 1 | -1, from: string | number): Promise<void> {
  const { query, trace, timelines } = view.peek();
  // An answer that comes when something else is looked for, or looked at, is of no use any more.
  const isWanted = () => view.peek().query === query && view.peek().trace === trace;
  if (query.trim() === "") {
    document.getElementById("search")?.focus();
    return say("nothing is searched for yet");
  }
  isSearching.value = true;
  try {
    let at: string | number | null = from;
    for (let turn = 0; turn < MOST_TURNS && at !== null; turn++) {
      const answer: SearchAnswer = await askJson<SearchAnswer>(trace, question("search", { q: query, from: at, dir, timelines }));
      if (!isWanted()) return;
      keepDetail(trace, timelines, answer.hit);
      if (answer.hit) {
        select(answer.hit);
        if (answer.wrapped) say(dir > 0 ? "from the beginning again" : "from the end again");
        return;
      }
      at = answer.from ?? null;
    }
    say(`no hit of ${query}`);
    wrong.value = "no hit";
  } catch (error) {
    if (!isWanted()) return;
    if (error instanceof ApiError && error.status === 400) refuse(query, error.message);
    else report(error);
  } finally {
    isSearching.value = false;
  }
}

/** The hit after (1) or before (-1) the selected drawable, else after the begin of the window. */
export async function nextHit(dir: 1 | -1): Promise<void> {
  const from = current();
  await search(dir, from ? from.ref : dir > 0 ? span.peek().t0 : span.peek().t1);
}

export async function firstHit(): Promise<void> {
  await search(1, meta.peek()?.t0 ?? 0);
}
