// Keeps tracks in step with a window: those of the page, and those of the trace that is compared.

import { effect, untracked, type Signal } from "@preact/signals";
import { ApiError, Asker, question, report, sayAgain } from "./api";
import type { TracksAnswer, WaitsAnswer } from "./answers";
import { mayPass, pauseAfter } from "./polling";
import { columnsFor } from "./tracks";

/** Milliseconds until a server that has much to do is asked again. */
const AGAIN = 2000;

/** Which tracks are to be seen. */
export interface WantedTracks {
  trace: number;
  /** The window, seconds. */
  t0: number;
  t1: number;
  /** Names of the tracks. */
  shown: readonly string[];
  /** Pixels. */
  width: number;
  /** Whether it is known who waits: tracks know better then. */
  known: WaitsAnswer["state"] | undefined;
  /** The whole trace. */
  whole: { t0: number; t1: number } | null;
}

/** Asks for tracks whenever what `wanted` reads has changed; null where there is no trace. Those of the whole trace go into `whole`, too. */
export function followTracks(wanted: () => WantedTracks | null, found: Signal<TracksAnswer | null>, whole: Signal<TracksAnswer | null>): void {
  const asker = new Asker<TracksAnswer>();
  let last = "";
  const ask = (of: number, asked: string, key: string, isWhole: boolean, failures = 1): void => {
    const refused = (error: unknown) => {
      if (!mayPass(error)) return report(error);
      // A server that has much to do may have time later; tracks are the least that is to be looked at.
      const isBusy = error instanceof ApiError && error.status === 503;
      const pause = isBusy ? AGAIN : pauseAfter(failures);
      if (!isBusy) sayAgain(error, pause);
      window.setTimeout(() => last === key && ask(of, asked, key, isWhole, failures + 1), pause);
    };
    void asker.ask(of, asked, refused).then((answer) => {
      if (!answer || last !== key) return;
      found.value = answer;
      if (isWhole) whole.value = answer;
    });
  };
  effect(() => {
    const want = wanted();
    const { trace, t0, t1, shown, width } = want ?? { trace: -1, t0: 0, t1: 0, shown: [], width: 0 };
    const asked = shown.length > 0 && width >= 16 && t1 > t0 ? question("tracks", { t0, t1, w: columnsFor(width), show: shown.join(",") }) : "";
    const key = `${trace}/${asked}/${want?.known}`;
    if (key === last) return;
    last = key;
    untracked(() => {
      if (asked === "") found.value = null;
      else ask(trace, asked, key, want?.whole != null && t0 <= want.whole.t0 && t1 >= want.whole.t1);
    });
  });
}
