// The tracks above the timelines: which there are, what they are called, what is stacked in each, and their values in words. Pure.

import type { TracksAnswer } from "./answers";
import { bytes, duration, whole } from "./axis";
import { mix, type Rgb } from "./color";
import { colorOfClass, waitingColor, type Palette } from "./palette";

/** Pixels of a track. */
export const TRACK_HEIGHT = 32;
/** Columns at most. */
const MOST_COLUMNS = 1024;

/** The tracks that are shown: those of the link, else the ranks where there are several. Always in the order of `available`. */
export function shownOf(asked: readonly string[] | null, available: readonly string[]): string[] {
  return available.filter((name) => (asked ? asked.includes(name) : name === "ranks"));
}

/** Columns for so many pixels: a power of two, so that those of the whole trace are whole columns of what is kept of it. */
export function columnsFor(width: number): number {
  return Math.min(MOST_COLUMNS, 2 ** Math.max(4, Math.floor(Math.log2(Math.max(16, width)))));
}

const TITLES: Record<string, [title: string, hint: string]> = {
  ranks: ["ranks", "How many ranks wait, are in MPI and in files; the rest computes"],
  messages: ["messages/s", "Messages sent per second"],
  bytes: ["bytes/s of messages", "Bytes of messages per second, each message spread over the time from its send to its receive"],
  io: ["bytes/s of files", "Bytes that file operations of the ranks read and write per second"],
};

/** Name of a track for people, and what it shows. */
export function titleOf(name: string): [title: string, hint: string] {
  const counter = name.startsWith("counter:") ? name.slice(8) : null;
  if (counter !== null) return [`${counter}/s`, `${counter} per second, counted in calls of MPI by all ranks`];
  return TITLES[name] ?? [name, name];
}

/** Values by column, stacked on those before it. */
export interface TrackPart {
  name: string;
  color: Rgb;
  values: readonly number[];
}

export interface Track {
  name: string;
  parts: readonly TrackPart[];
  /** What the full height stands for. */
  top: number;
  isExact: boolean;
}

/** What is drawn of a track; null where the answer does not have it. */
export function trackOf(name: string, answer: TracksAnswer, look: Palette): Track | null {
  const parts = partsOf(name, answer, look);
  if (!parts) return null;
  const lengths = parts[0]?.values.length ?? 0;
  let most = 0;
  for (let column = 0; column < lengths; column++) most = Math.max(most, sumAt(parts, column));
  const isExact = answer.exact && (name !== "ranks" || !answer.use?.lacks_short_waits);
  return { name, parts, top: name === "ranks" ? Math.max(1, answer.ranks) : most, isExact };
}

function partsOf(name: string, answer: TracksAnswer, look: Palette): TrackPart[] | null {
  const { use, messages, bytes: moved, io, counters } = answer;
  const plain = mix(look.theme.timeline, look.theme.faint, 0.75);
  if (name === "ranks" && use) {
    return [
      ...(use.waiting ? [{ name: "waiting", color: waitingColor(look), values: use.waiting }] : []),
      { name: use.waiting ? "in MPI" : "in MPI or waiting", color: colorOfClass(look, "p2p"), values: use.mpi },
      { name: "files", color: colorOfClass(look, "io"), values: use.files },
      { name: "starting or ending MPI", color: colorOfClass(look, "start"), values: use.starting },
    ];
  }
  if (name === "messages" && messages) return [{ name: "sent", color: plain, values: messages }];
  if (name === "bytes" && moved) return [{ name: "on their way", color: plain, values: moved }];
  if (name === "io" && io) {
    return [
      { name: "written", color: colorOfClass(look, "io"), values: io.written },
      { name: "read", color: colorOfClass(look, "disk"), values: io.read },
    ];
  }
  const counter = counters.find((one) => `counter:${one.name}` === name);
  return counter ? [{ name: counter.name, color: plain, values: counter.rate }] : null;
}

function sumAt(parts: readonly TrackPart[], column: number): number {
  return parts.reduce((sum, { values }) => sum + (values[column] ?? 0), 0);
}

/** The parts of [from, to) that do not lie in a gap. */
export function outside(from: number, to: number, gap: readonly [number, number] | null): [number, number][] {
  if (!gap || gap[1] <= from || gap[0] >= to) return [[from, to]];
  const parts: [number, number][] = [[from, gap[0]], [gap[1], to]];
  return parts.filter(([begin, end]) => end > begin);
}

/** The column of a time, or −1 outside of the window of an answer. */
export function columnAt(t: number, { t0, t1, columns }: Pick<TracksAnswer, "t0" | "t1" | "columns">): number {
  if (!(t >= t0 && t <= t1)) return -1;
  return Math.min(columns - 1, Math.floor(((t - t0) / (t1 - t0)) * columns));
}

/** At most three significant digits: 0, 0.42, 3.1, 128. */
function few(value: number): string {
  if (value === 0) return "0";
  if (value >= 99.95) return String(Math.round(value));
  return String(Number(value.toPrecision(value >= 9.95 ? 3 : 2)));
}

/** A number of ranks: of less than a hundredth of one only that. */
function ranksText(value: number): string {
  return value > 0 && value < 0.005 ? "<0.01" : value < 999.5 ? few(value) : whole(value);
}

/** A rate of things that are counted: 420, 12.3 k, 4.56 M. */
function rate(value: number): string {
  if (value < 1000) return few(value);
  const power = value < 999_500 ? 1 : value < 999.5e6 ? 2 : value < 999.5e9 ? 3 : 4;
  return `${(value / 1000 ** power).toPrecision(3)}\u202f${["", "k", "M", "G", "T"][power]}`;
}

/** Bytes per second; parts of a byte are none. */
function byteRate(value: number): string {
  return `${bytes(value < 1024 ? Number(few(value)) : value)}/s`;
}

/** Uses of ranks that are told only where there are any. */
const RARE: readonly string[] = ["files", "starting or ending MPI"];

/** The values of a track in words, given the value of each of its parts. */
function words(name: string, parts: readonly (readonly [name: string, value: number])[], ranks: number, isShort: boolean): string {
  if (name === "ranks") {
    const computing = Math.max(0, ranks - parts.reduce((sum, [, value]) => sum + value, 0));
    const told = [...parts, ["computing", computing] as const].filter(([part, value]) => value > 0 || !RARE.includes(part));
    if (isShort) return told.map(([part, value]) => `${ranksText(value)} ${part}`).join(", ");
    return `of ${whole(ranks)} ranks ${told.map(([part, value]) => `${ranksText(value)} ${part}`).join(", ")}`;
  }
  const [only] = parts;
  const value = only?.[1] ?? 0;
  if (name === "messages") return `${rate(value)} messages/s sent`;
  if (name === "bytes") return `${byteRate(value)} on their way`;
  if (name === "io") return parts.map(([part, number]) => `${byteRate(number)} ${part}`).join(", ");
  return `${rate(value)} ${only?.[0] ?? ""}/s`;
}

/** The values of a track in a column. */
export function wordsAt({ name, parts, isExact }: Track, column: number, ranks: number, isShort = false): string {
  return `${isExact ? "" : "≈ "}${words(name, parts.map((part) => [part.name, part.values[column] ?? 0]), ranks, isShort)}`;
}

/** What is said of a time at which there is no trace. */
export const NO_TRACE = "outside of the trace";

/** The means of a track over the part of its window in which there is a trace, `whole`. */
export function meanWords({ name, parts, isExact }: Track, { t0, t1, columns, ranks }: Pick<TracksAnswer, "t0" | "t1" | "columns" | "ranks">, whole: { t0: number; t1: number }): string {
  const room = Math.min(t1, whole.t1) - Math.max(t0, whole.t0);
  if (room < 0) return NO_TRACE;
  // Where there is no trace, all values are 0.
  const part = room > 0 ? room / (t1 - t0) : 1;
  const mean = ({ values }: TrackPart) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, columns) / part;
  return `${isExact ? "" : "≈ "}${words(name, parts.map((one) => [one.name, mean(one)]), ranks, true)}`;
}

/** What the full height of a track stands for. */
export function topOf({ name, top }: Track): string {
  if (top === 0) return "";
  if (name === "ranks") return whole(top);
  return name === "bytes" || name === "io" ? byteRate(top) : `${rate(top)}/s`;
}

/** How long a column is. */
export function columnLength({ t0, t1, columns }: Pick<TracksAnswer, "t0" | "t1" | "columns">): string {
  return duration((t1 - t0) / Math.max(1, columns));
}
