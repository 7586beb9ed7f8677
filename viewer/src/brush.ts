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

/** Of each rank, as the timelines [y0, y1) without open headings name it, the threads; null where one of them has no rank. */
function threadsOf(timelines: Timelines, y0: number, y1: number): Map<string, number[]> | null {
  const ofRank = new Map<string, number[]>();
  for (let nth = 0; nth < timelines.ranks.length; nth++) {
    if (nth < y0 || nth >= y1 || timelines.open[nth]) continue;
    const rank = timelines.ranks[nth] ?? "";
    if (rank === "") return null;
    ofRank.set(rank, [...(ofRank.get(rank) ?? []), timelines.thread[nth] ?? -1]);
  }
  return ofRank;
}

/** What a search with the conditions of `linesOf` finds beside what is on these timelines, in words; empty if nothing. */
export function beyondLines(timelines: Timelines, y0: number, y1: number): string {
  const ofRank = threadsOf(timelines, y0, y1);
  if (!ofRank) return "on all timelines";
  const lists = [...ofRank.values()];
  // −1 stands for all threads of a rank.
  const isOne = new Set(lists.map(numbersText)).size <= 1;
  return isOne || lists.every((list) => list.includes(-1)) ? "" : "on all threads of these ranks";
}

/** The conditions on ranks and threads that timelines [y0, y1) of these have, without headings that are open; none where one of them has no rank. */
export function linesOf(timelines: Timelines, y0: number, y1: number): string {
  const ofRank = threadsOf(timelines, y0, y1);
  if (!ofRank || ofRank.size === 0) return "";
  // Of each rank the threads that are meant: one condition says it where they are the same ones of all.
  const lists = new Set([...ofRank.values()].map(numbersText));
  const [list = ""] = lists;
  const isEach = lists.size === 1 && [...ofRank.values()].flat().every((thread) => thread >= 0);
  return ` rank:${numbersText([...ofRank.keys()].flatMap(numbersOf))}${isEach ? ` thread:${list}` : ""}`;
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
