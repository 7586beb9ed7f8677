import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, report, sayAgain } from "../../src/api";
import { mayPass, pauseAfter, poll } from "../../src/polling";
import { trouble } from "../../src/state";

/** Runs `act` with timers that pass at once; gives the pauses that were asked for. */
async function withoutTime(act: () => Promise<void>): Promise<number[]> {
  const pauses: number[] = [];
  const kept = globalThis.window;
  const setTimeout = (done: () => void, pause: number) => {
    pauses.push(pause);
    queueMicrotask(done);
    return 0;
  };
  Object.assign(globalThis, { window: { setTimeout } });
  try {
    await act();
  } finally {
    Object.assign(globalThis, { window: kept });
  }
  return pauses;
}

test("pauses grow with each failure, up to half a minute", () => {
  assert.deepEqual([1, 2, 3, 4, 5, 6, 7, 5000].map(pauseAfter), [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});

test("what may pass is that nobody answers, not that a question is refused", () => {
  assert.deepEqual([502, 503, 504].map((status) => mayPass(new ApiError(status, ""))), [true, true, true]);
  assert.deepEqual([400, 401, 404, 410, 413, 500].map((status) => mayPass(new ApiError(status, ""))), [false, false, false, false, false, false]);
  assert.deepEqual([mayPass(new TypeError("Failed to fetch")), mayPass(new Error("damaged"))], [true, false]);
});

test("a question goes on after failures, and says so", async () => {
  const nobody = new TypeError("Failed to fetch");
  const answers = [true, nobody, nobody, true, new ApiError(503, "there is much to do."), false];
  const said: string[] = [];
  const pauses = await withoutTime(() => poll(async () => {
    said.push(trouble.peek());
    const next = answers.shift();
    if (next instanceof Error) throw next;
    return next ?? false;
  }, { every: 700, isWanted: () => true }));
  assert.equal(answers.length, 0);
  assert.deepEqual(pauses, [700, 1000, 2000, 700, 1000]);
  assert.match(said[2] ?? "", /does not answer any more.* It is asked again in 1\u202fs\.$/);
  assert.match(said[3] ?? "", /It is asked again in 2\u202fs\.$/);
  assert.match(said[5] ?? "", /^there is much to do\. It is asked again in 1\u202fs\.$/);
});

test("a question ends when it is refused, and when nobody wants to know any more", async () => {
  const refused: unknown[] = [];
  const no = new ApiError(404, "no such trace");
  const never = () => Promise.reject(no);
  assert.deepEqual(await withoutTime(() => poll(never, { every: 1, isWanted: () => true, refused: (error) => void refused.push(error) })), []);
  assert.deepEqual(refused, [no]);
  let asked = 0;
  const pauses = await withoutTime(() => poll(async () => ++asked > 0, { every: 5, isWanted: () => asked < 3, refused: report }));
  assert.deepEqual([asked, pauses], [3, [5, 5, 5]]);
  sayAgain(new TypeError(""), 4000);
  assert.match(trouble.peek(), /in 4\u202fs\.$/);
});
