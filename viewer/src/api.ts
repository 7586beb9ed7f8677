// Questions to whoever knows the trace: the server that this page came from, or in an exported page the same code as WASM.
// Answers are kept, asked for once at a time and given up when nobody waits for them any more.

import { busy, trouble } from "./state";
import { ownTrace } from "./own";

export interface Category {
  name: string;
  topology: "state" | "event" | "arrow";
  color: string;
  alpha: number;
  class: string;
  /** Drawables in the whole trace, if the file says so. */
  count: number | null;
  /** Exclusive time in the whole trace, all lines together, by its length; null if the file does not say. */
  share: number | null;
  /** Inclusive time likewise. */
  incl: number | null;
  labels: string[];
}

export interface LineMap {
  name: string;
  columns: string[];
  leaves: number;
}

export interface Meta {
  name: string;
  format: string;
  t0: number;
  t1: number;
  drawables: number;
  bytes: number;
  lines: number;
  /** Ranks and their threads, or whatever else has its states in a nest of its own. */
  threads: number;
  maps: LineMap[];
  categories: Category[];
  lost: string[];
  index: { state: "none" | "building" | "ready"; percent: number };
  view_version: string | number;
}

/** The rows of a layout, as columns. */
export interface Rows {
  /** The canonical text of the layout. */
  spec: string;
  count: number;
  label: string[];
  key: string[];
  depth: number[];
  /** How many lines of the trace are in the row. */
  lines: number[];
  group: boolean[];
  open: boolean[];
  pinned: number;
  path: string[][];
}

export interface Detail {
  ref: string;
  topology: "state" | "event" | "arrow";
  kind: number;
  name: string;
  class: string;
  t0: number;
  t1: number;
  /** Position in the layout, -1 when it is not in it. */
  row: number;
  line: number;
  label: string;
  depth: number;
  /** Null of what is no state, and where it would take too long to find out. */
  excl: number | null;
  excl_is_estimate: boolean;
  info: [string, string][];
  callid: string | null;
  bytes: number | null;
  parents: { ref: string; name: string }[];
  to?: { line: number; row: number; t: number; label: string } | null;
  backward?: boolean;
}

export interface Overview {
  t0: number;
  t1: number;
  bins: number;
  classes: string[];
  share: number[][];
  exact: boolean;
}

export interface CategoryStats {
  kind: number;
  name: string;
  topology: string;
  count: number;
  incl: number;
  excl: number;
  /** Null where it is not known, or there is none. */
  min: number | null;
  mean: number | null;
  max: number | null;
  row_of_max: number | null;
  bytes: number;
}

export interface Stats {
  t0: number;
  t1: number;
  exact: boolean;
  categories: CategoryStats[];
  /** By row of the layout: seconds in states, threads, exclusive seconds in the largest kinds, end of the last state. */
  rows: { busy: number[]; threads: number[]; top: { kind: number; excl: number[] }[]; ends: (number | null)[] };
  span: number;
  threads: number;
}

export interface Matrix {
  cells: [number, number, number, number][];
  exact: boolean;
}

export interface Sizes {
  /** Least size in bytes, messages, bytes. */
  messages: [number, number, number][];
  /** Least duration in seconds, drawables. */
  durations: [number, number][];
  exact: boolean;
}

export interface Target {
  t0?: number;
  t1?: number;
  rows?: string;
  sel?: string;
  panel?: string;
}

export interface Summary {
  ranks: number;
  threads: number;
  nodes: number;
  duration: number;
  drawables: number;
  exact: boolean;
  /** Whether an exact one is being made. */
  pending: boolean;
  lost: string[];
  bar: { class: string; seconds: number; share: number }[];
  cards: {
    id: string;
    title: string;
    value: string;
    sentence: string;
    from: string;
    items: { text: string; value: string; target: Target | null }[];
  }[];
}

export interface SearchAnswer {
  hit: Detail | null;
  wrapped: boolean;
  nodes: number;
  /** Where to go on when the budget did not reach to a hit. */
  from?: number | null;
}

export interface Hits {
  count: number;
  exact: boolean;
  bins: number[];
}

/** Drawables of a window, a part of them after the other, as columns. */
export interface Listed {
  total: number;
  exact: boolean;
  ref: string[];
  kind: number[];
  t0: number[];
  t1: number[];
  row: number[];
  to_row: number[];
  info: string[];
}

/** A call, and what happened below it. */
export interface Call {
  call: Detail | null;
  /** The first ones of all `total`. */
  operations: Detail[];
  total: number;
  /** Of all of them together. */
  seconds: number;
  /** Whether the whole trace was looked through. */
  exact: boolean;
}

/** The arrows that leave a state, or arrive in it. */
export interface Followed {
  arrows: Detail[];
  total: number;
  partner: Detail | null;
}

/** A question that was refused, with what the other side says. */
export class Refusal extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

export type Value = string | number | boolean | null | undefined;

/** "picture?t0=0&t1=1": what is null, undefined or empty is left out. */
export function question(route: string, values: Record<string, Value> = {}): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === undefined || value === "") continue;
    parts.push(`${name}=${encodeURIComponent(value)}`);
  }
  return parts.length === 0 ? route : `${route}?${parts.join("&")}`;
}

/** Where an answer can be had as a file, for links; null where there is no server. */
export function address(trace: number, asked: string): string | null {
  return ownTrace() ? null : `t/${trace}/${asked}`;
}

/** Asks trace number `trace`; throws a Refusal, or an AbortError when `signal` says so. */
export async function ask(trace: number, asked: string, signal?: AbortSignal): Promise<ArrayBuffer> {
  busy.value = busy.peek() + 1;
  try {
    const own = ownTrace();
    if (own) return await own.ask(asked, signal);
    const answer = await fetch(`t/${trace}/${asked}`, { credentials: "same-origin", ...(signal ? { signal } : {}) });
    if (!answer.ok) throw new Refusal(answer.status, (await answer.text()).slice(0, 2000).trim() || answer.statusText);
    return await answer.arrayBuffer();
  } finally {
    busy.value = busy.peek() - 1;
  }
}

export async function askJson<T>(trace: number, asked: string, signal?: AbortSignal): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await ask(trace, asked, signal))) as T;
}

/** Whether an error only says that nobody wants to know any more. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Shows what went wrong, unless it was only given up. */
export function report(error: unknown): void {
  if (isAbort(error)) return;
  trouble.value = error instanceof Refusal && error.status === 401
    ? "Not logged in: open the address that mpitrace view has printed, with what is behind its #."
    : error instanceof TypeError ? "mpitrace view does not answer any more: has it been ended?"
    : error instanceof Error ? error.message : String(error);
}

/** Answers by question, the least lately used forgotten first. */
export class Cache<T> {
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

/** Forgets all answers: an index is there now that knows better, or another trace. */
export function forget(): void {
  answers.clear();
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
  const answer = askJson<unknown>(trace, asked, stop.signal).then((found) => {
    // What is not exact may be better when it is asked for again.
    if ((found as { exact?: boolean }).exact !== false && !stop.signal.aborted) answers.set(key, found);
    return found;
  }).finally(() => {
    if (pending.get(key) === own) pending.delete(key);
  });
  const own: Pending = { answer, stop, waiting: 1 };
  pending.set(key, own);
  return own;
}

/** One answer at a time: a new question gives up the one before, unless others wait for it. */
export class Asker<T> {
  private current: Waiting | null = null;

  /** Does not wait for the answer any more. */
  stop(): void {
    const { current } = this;
    if (!current?.isWanted) return;
    current.isWanted = false;
    if (--current.of.waiting > 0) return;
    current.of.stop.abort();
    if (pending.get(current.key) === current.of) pending.delete(current.key);
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
  if (!answer.ok) throw new Refusal(answer.status, await answer.text());
}

/** Names of the server's traces. */
export async function traceNames(): Promise<{ n: number; name: string }[]> {
  if (ownTrace()) return [];
  const answer = await fetch("traces", { credentials: "same-origin" });
  if (!answer.ok) throw new Refusal(answer.status, await answer.text());
  return ((await answer.json()) as { traces: { n: number; name: string }[] }).traces;
}
