// Questions to whoever knows the trace: the server that this page came from, or in an exported page the same code as WASM.
// Answers are kept, asked for once at a time and given up when nobody waits for them any more.

import type { DrawableDetail, TraceName, TracesAnswer } from "./answers";
import { busy, gone, isUnknownHere, trouble } from "./state";
import { ownTrace } from "./own";

/** An error that the server answers with: the status of HTTP and a message for the user. */
export class ApiError extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

export type Value = string | number | boolean | null | undefined;

/** "picture?t0=0&t1=1": what is null, undefined or empty is left out. `route` may be a question that gets further values. */
export function question(route: string, values: Record<string, Value> = {}): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === undefined || value === "") continue;
    parts.push(`${name}=${encodeURIComponent(value)}`);
  }
  return parts.length === 0 ? route : `${route}${route.includes("?") ? "&" : "?"}${parts.join("&")}`;
}

/** Where an answer can be had as a file, for links; null where there is no server. */
export function address(trace: number, asked: string): string | null {
  return ownTrace() ? null : `t/${trace}/${asked}`;
}

/** The status of a trace whose file has changed. */
const GONE = 410;

async function refusalOf(answer: Response): Promise<ApiError> {
  return new ApiError(answer.status, (await answer.text()).slice(0, 2000).trim() || answer.statusText);
}

/** Has a trace opened again whose file has changed; gives the number that it has now. */
export async function askReopened(trace: number): Promise<TraceName> {
  const answer = await fetch(`t/${trace}/reopen`, { method: "POST", credentials: "same-origin" });
  if (!answer.ok) throw await refusalOf(answer);
  return (await answer.json()) as TraceName;
}

/** Asks trace number `trace`; throws a ApiError, or an AbortError when `signal` says so. */
export async function ask(trace: number, asked: string, signal?: AbortSignal): Promise<ArrayBuffer> {
  busy.value = busy.peek() + 1;
  try {
    const own = ownTrace();
    if (own) return await own.ask(asked, signal).catch(refused);
    const answer = await fetch(`t/${trace}/${asked}`, { credentials: "same-origin", ...(signal ? { signal } : {}) });
    if (!answer.ok) {
      const refusal = await refusalOf(answer);
      const known = gone.peek();
      if (refusal.status === GONE && (known?.trace !== trace || known.why !== refusal.message)) gone.value = { trace, why: refusal.message, refusal: "" };
      throw refusal;
    }
    const found = await answer.arrayBuffer();
    answered();
    return found;
  } finally {
    busy.value = busy.peek() - 1;
  }
}

/** What answers in a page gives the status beside the message, as the server does. */
function refused(error: unknown): never {
  if (error instanceof Error && "status" in error) throw new ApiError(Number(error.status) & 0xffff, error.message);
  throw error;
}

export async function askJson<T>(trace: number, asked: string, signal?: AbortSignal): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await ask(trace, asked, signal))) as T;
}

/** Whether an error only says that nobody wants to know any more. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** What is said when nobody answers. */
const NO_ANSWER = "mpitrace view does not answer any more: has it been ended?";
/** What was said last of a question that is asked again. */
let saidAgain = "";

/** Shows that there was no answer, and when the question is asked again; once there is an answer to any question, it is so no longer. */
export function sayAgain(error: unknown, pause: number): void {
  const what = error instanceof TypeError ? NO_ANSWER : `${(error instanceof Error ? error.message : String(error)).replace(/\.$/, "")}.`;
  saidAgain = `${what} It is asked again in ${Math.round(pause / 1000)}\u202fs.`;
  trouble.value = saidAgain;
}

/** Takes back that nobody answers. */
function answered(): void {
  const said = trouble.peek();
  if (said !== "" && (said === NO_ANSWER || said === saidAgain)) trouble.value = "";
}

/** Shows what went wrong, unless it was only given up. */
export function report(error: unknown): void {
  // Of a trace that has changed more is told than this.
  if (isAbort(error) || (error instanceof ApiError && error.status === GONE)) return;
  if (error instanceof ApiError && error.status === 401) isUnknownHere.value = true;
  trouble.value = error instanceof ApiError && error.status === 401
    ? "Not logged in: open the address that mpitrace view has printed, with what is behind its #."
    : error instanceof TypeError ? NO_ANSWER
    : error instanceof Error ? error.message : String(error);
}

/** Answers by question, the least lately used forgotten first. */
class Cache<T> {
  private readonly kept = new Map<string, T>();

  constructor(private readonly most: number) {}

  get(key: string): T | undefined {
    const found = this.kept.get(key);
    if (found !== undefined) {
      this.kept.delete(key);
      this.kept.set(key, found);
    }
    return found;
  }

  set(key: string, value: T): void {
    this.kept.delete(key);
    this.kept.set(key, value);
    if (this.kept.size > this.most) this.kept.delete(this.kept.keys().next().value!);
  }

  clear(): void {
    this.kept.clear();
  }
}

const answers = new Cache<unknown>(200);

/** How often answers were forgotten. */
let forgotten = 0;

/** Forgets all answers, those that are under way, too: an index is there now that knows better, or another trace. */
export function forget(): void {
  forgotten++;
  answers.clear();
  pending.clear();
}

/** A question that is under way, and how many wait for its answer. */
interface Pending {
  answer: Promise<unknown>;
  stop: AbortController;
  waiting: number;
}

/** Somebody who waits. */
interface Waiting {
  key: string;
  of: Pending;
  isWanted: boolean;
}

const pending = new Map<string, Pending>();

/** Asks, unless the same is under way already. */
function join(key: string, trace: number, asked: string): Pending {
  const known = pending.get(key);
  if (known) {
    known.waiting++;
    return known;
  }
  const stop = new AbortController();
  const age = forgotten;
  const answer = askJson<unknown>(trace, asked, stop.signal).then((found) => {
    // What is not exact may be better when it is asked for again.
    if ((found as { exact?: boolean } | null)?.exact !== false && !stop.signal.aborted && age === forgotten) answers.set(key, found);
    return found;
  }).finally(() => {
    if (pending.get(key) === own) pending.delete(key);
  });
  const own: Pending = { answer, stop, waiting: 1 };
  pending.set(key, own);
  return own;
}

/** Takes a waiting one away; the question is given up when it was the last. */
function leave(own: Waiting): void {
  if (!own.isWanted) return;
  own.isWanted = false;
  if (--own.of.waiting > 0) return;
  own.of.stop.abort();
  if (pending.get(own.key) === own.of) pending.delete(own.key);
}

/** Asks for what several parts of the page need: the answer that is kept, or the one that is under way, so that one action
 * asks once. Throws an ApiError, or an AbortError when `signal` says so. */
export async function askShared<T>(trace: number, asked: string, signal?: AbortSignal): Promise<T> {
  const key = `${trace}/${asked}`;
  const known = answers.get(key);
  if (known !== undefined) return known as T;
  const own: Waiting = { key, of: join(key, trace, asked), isWanted: true };
  const given = () => leave(own);
  signal?.addEventListener("abort", given, { once: true });
  try {
    const found = (await own.of.answer) as T;
    signal?.throwIfAborted();
    return found;
  } finally {
    own.isWanted = false;
    signal?.removeEventListener("abort", given);
  }
}

/** Details of the drawable that a reference names, on the timelines of a layout. */
export function askReference(trace: number, ref: string, timelines: string): Promise<DrawableDetail | null> {
  return askShared<DrawableDetail | null>(trace, question("ref", { ref, timelines }));
}

/** Keeps details that came with another answer: whoever asks for their reference next has them. */
export function keepDetail(trace: number, timelines: string, found: DrawableDetail | null): void {
  if (found) answers.set(`${trace}/${question("ref", { ref: found.ref, timelines })}`, found);
}

/** One answer at a time: a new question gives up the one before, unless others wait for it. */
export class Asker<T> {
  private current: Waiting | null = null;

  /** Does not wait for the answer any more. */
  stop(): void {
    if (this.current) leave(this.current);
  }

  /** The answer, or null when a newer question came in between or it was refused (which is shown). */
  async ask(trace: number, asked: string, refused: (error: unknown) => void = report): Promise<T | null> {
    this.stop();
    const key = `${trace}/${asked}`;
    const known = answers.get(key);
    if (known !== undefined) return known as T;
    const own: Waiting = { key, of: join(key, trace, asked), isWanted: true };
    this.current = own;
    try {
      const found = (await own.of.answer) as T;
      return own.isWanted ? found : null;
    } catch (error) {
      if (own.isWanted) refused(error);
      return null;
    } finally {
      own.isWanted = false;
    }
  }
}

/** Posts the token of the printed address, `#k=…`, gets a cookie for it, and drops it from the address. */
export async function logIn(): Promise<void> {
  const rest = location.hash.replace(/^#/, "").split("&");
  const token = rest.find((part) => part.startsWith("k="))?.slice(2);
  if (token === undefined) return;
  const left = rest.filter((part) => !part.startsWith("k=")).join("&");
  history.replaceState(null, "", left === "" ? location.pathname + location.search : `#${left}`);
  const answer = await fetch("login", { method: "POST", body: token, credentials: "same-origin", headers: { "content-type": "text/plain" } });
  if (!answer.ok) throw new ApiError(answer.status, await answer.text());
}

/** Names of the server's traces. */
export async function traceNames(): Promise<TraceName[]> {
  if (ownTrace()) return [];
  const answer = await fetch("traces", { credentials: "same-origin" });
  if (!answer.ok) throw new ApiError(answer.status, await answer.text());
  return ((await answer.json()) as TracesAnswer).traces;
}
