// The trace that is shown below the first one to be compared with it: which one that is, and what the server says about it.

import { computed, effect, signal, untracked } from "@preact/signals";
import { askJson, isAbort, question, report } from "./api";
import type { MetaAnswer, TimelinesAnswer, TraceName, WaitsAnswer } from "./answers";
import { otherLength, view } from "./state";
import { NO_OTHER } from "./url";

/** Milliseconds between two looks at what the server is still finding out. */
const AGAIN = 2000;

/** The server's traces. */
export const names = signal<readonly TraceName[]>([]);

/** Number of the other trace, or null where one trace is shown alone. Of two traces it is the second one unless the link says otherwise. */
export const other = computed<number | null>(() => {
  const { trace, other: asked } = view.value;
  const many = names.value.length;
  if (asked >= 0) return asked < many && asked !== trace ? asked : null;
  return asked === NO_OTHER || many !== 2 ? null : 1 - trace;
});

export const otherMeta = signal<MetaAnswer | null>(null);
export const otherTimelines = signal<TimelinesAnswer | null>(null);
/** Counts what has become known about the other trace, so that its pictures are asked for again. */
export const otherKnown = signal(0);

/** Asks for the other trace whenever it is another one. */
export function loadOther(): void {
  effect(() => {
    const number = other.value;
    untracked(() => {
      otherMeta.value = null;
      otherTimelines.value = null;
      otherLength.value = 0;
      if (number !== null) void load(number).catch((error) => isAbort(error) || report(error));
    });
  });
}

async function load(number: number): Promise<void> {
  const [meta, timelines] = await Promise.all([
    askJson<MetaAnswer>(number, "meta"), askJson<TimelinesAnswer>(number, question("timelines")),
  ]);
  if (other.peek() !== number) return;
  otherTimelines.value = timelines;
  otherMeta.value = meta;
  otherLength.value = meta.t1 - meta.t0;
  await follow(number, meta.index.state === "building");
}

/** Asks until the index and the waits of the other trace are there. */
async function follow(number: number, wasBuilding: boolean): Promise<void> {
  const [meta, waits] = await Promise.all([askJson<MetaAnswer>(number, "meta"), askJson<WaitsAnswer>(number, "waits")]);
  if (other.peek() !== number) return;
  const isBuilding = meta.index.state === "building";
  if (waits.state === "known" || wasBuilding !== isBuilding) otherKnown.value++;
  if (waits.state === "pending" || isBuilding) window.setTimeout(() => void follow(number, isBuilding).catch(report), AGAIN);
}
