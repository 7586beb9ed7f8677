// Durations that are brushed in a histogram, as a search: what lasts so long is marked in the timelines and listed. Pure.

import { numbersOf, numbersText } from "./url";

export interface Brush {
  /** Name of the category, as the trace has it. */
  name: string;
  /** Seconds; what lasts at least `from` and less than `to`. */
  from: number;
  to: number;
}

/** Units, and how many there are in a second. */
const UNITS = [["s", 1], ["ms", 1e3], ["us", 1e6], ["ns", 1e9]] as const;

/** A duration that a search reads as just this number: with the unit that suits it, else in seconds. */
export function durationText(seconds: number): string {
  for (const [unit, factor] of UNITS) {
    const number = Number((seconds * factor).toPrecision(4));
    if (number >= 1 && number / factor === seconds) return `${number}${unit}`;
  }
  return String(seconds);
}

/** The number that a search reads: divided, as it does. */
function secondsOf(text: string): number {
  const match = /^([\d.e+-]+)(ms|us|ns|s)?$/.exec(text);
  const factor = UNITS.find(([unit]) => unit === match?.[2])?.[1] ?? 1;
  return match ? Number(match[1]) / factor : Number.NaN;
}

/** The search for all of a category. */
export function ofCategory(name: string): string {
  return `category:"${name.replaceAll('"', '""')}"`;
}

/** The search for what is brushed; only what begins in the window, where that is not the whole trace, and on `lines`, as `linesOf` has them. */
export function queryOf({ name, from, to }: Brush, window: { t0: number; t1: number } | null, lines = ""): string {
  const times = window ? ` t>=${window.t0} t<${window.t1}` : "";
  return `${ofCategory(name)} dur>=${durationText(from)} dur<${durationText(to)}${lines}${times}`;
}

/** Timelines, by position. */
interface Timelines {
  ranks: readonly string[];
  thread: readonly number[];
  open: readonly boolean[];
}

/** The conditions on ranks and threads that timelines [y0, y1) of these have, without headings that are open; none where one of them has no rank. */
export function linesOf(timelines: Timelines, y0: number, y1: number): string {
  const isIn = <T,>(_: T, timeline: number) => timeline >= y0 && timeline < y1 && !timelines.open[timeline];
  const [own, threads] = [timelines.ranks.filter(isIn), timelines.thread.filter(isIn)];
  if (own.length === 0 || own.includes("")) return "";
  // Of each rank the threads that are meant: one condition says it where they are the same ones of all.
  const ofRank = new Map<string, number[]>();
  own.forEach((rank, nth) => void ofRank.set(rank, [...(ofRank.get(rank) ?? []), threads[nth] ?? -1]));
  const lists = new Set([...ofRank.values()].map(numbersText));
  const [list = ""] = lists;
  return ` rank:${numbersText(own.flatMap(numbersOf))}${lists.size === 1 && threads.every((thread) => thread >= 0) ? ` thread:${list}` : ""}`;
}

/** The brush that a search was made of, or null. */
export function brushOf(query: string): Brush | null {
  const match = /^category:"((?:[^"]|"")*)" dur>=(\S+) dur<(\S+)(?: rank:\S+)?(?: thread:\S+)?(?: t>=\S+ t<\S+)?$/.exec(query.trim());
  if (!match) return null;
  const [from, to] = [secondsOf(match[2] ?? ""), secondsOf(match[3] ?? "")];
  return from >= 0 && to > from ? { name: (match[1] ?? "").replaceAll('""', '"'), from, to } : null;
}

/** The classes [first, last] of a histogram that a brush covers; null if none. `least` has the least duration of each, and the end of the last. */
export function classesOf({ from, to }: Brush, least: readonly number[]): [number, number] | null {
  const near = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(a, b);
  const inside = least.slice(0, -1).flatMap((low, nth) => {
    const high = least[nth + 1] ?? low;
    return (low >= from || near(low, from)) && (high <= to || near(high, to)) ? [nth] : [];
  });
  return inside.length > 0 ? [inside[0]!, inside.at(-1)!] : null;
}
