// Asking again for what the server is still finding out. A question that failed since nobody answered, or since the server had no time, is asked again
// after a pause, which grows with each failure: a server may be stopped for a while, and a way to it be broken.

import { ApiError, report, sayAgain } from "./api";

/** Milliseconds at most between two questions the first of which failed. */
const MOST_PAUSE = 30_000;
/** Milliseconds at least until a question that failed is asked again. */
const LEAST_PAUSE = 1000;

/** Milliseconds until a question is asked again after so many failures in a row, the first of which is 1. */
export function pauseAfter(failures: number): number {
  return Math.min(MOST_PAUSE, LEAST_PAUSE * 2 ** Math.min(failures - 1, 10));
}

/** Whether the same question may be answered later: nobody answered, nobody behind a proxy did, or the server had no time. */
export function mayPass(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof ApiError && [502, 503, 504].includes(error.status));
}

/** How something is asked for again and again. */
interface Polling {
  /** Milliseconds between two answers. */
  every: number;
  /** Whether somebody still wants to know. */
  isWanted(): boolean;
  /** Hears why there will be no answer. */
  refused?(error: unknown): void;
}

/** Asks until `ask` says that no more will become known, nobody wants to know any more, or the question is refused. */
export async function poll(ask: () => Promise<boolean>, { every, isWanted, refused = report }: Polling): Promise<void> {
  let failures = 0;
  while (isWanted()) {
    let pause = every;
    try {
      if (!(await ask())) return;
      failures = 0;
    } catch (error) {
      if (!isWanted()) return;
      if (!mayPass(error)) return refused(error);
      pause = pauseAfter(++failures);
      sayAgain(error, pause);
    }
    await new Promise((done) => window.setTimeout(done, pause));
  }
}
