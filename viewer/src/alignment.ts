// How a compared trace is laid below the first one: so that the begins of both, a phase or a call of both lies above the other. Pure.

import type { MomentsAnswer, TimelinesAnswer } from "./answers";

/** What a trace is laid by: its begin, a phase of the program, or a call of a name. */
export type AlignedBy = "" | "phases" | `name:${string}`;

/** When something of a trace was; `absent` if it has no category of that name. */
export interface Moments extends Pick<MomentsAnswer, "rank" | "each" | "t0" | "t1"> {
  state: MomentsAnswer["state"] | "absent";
}

/** A trace that is laid above or below another one. */
export interface Side {
  /** Name for people. */
  name: string;
  /** Begin and end of the trace, seconds. */
  t0: number;
  t1: number;
  /** What it is to be laid by; null until that has been answered. */
  moments: Moments | null;
}

/** What is asked for. */
export interface Wish {
  by: AlignedBy;
  /** Number of the phase or call, from 1; 0: the first that begins in the window. */
  nth: number;
  /** Whether the phase or call is drawn as wide below as it is above. */
  isStretched: boolean;
}

export interface Alignment {
  /** A time of the trace above, and the time of the one below that is drawn under it. */
  above: number;
  below: number;
  /** Seconds below in the width of a second above. */
  scale: number;
  /** Number of the phase or call by which they are laid, from 1; 0 for the begins. */
  nth: number;
  /** How they are laid, and why by the begins where something else was asked for. */
  words: string;
  /** Whether something else than the begins was asked for and cannot be had. */
  isRefused: boolean;
}

/** The time of the trace below that is drawn under a time of the trace above. */
export function under({ above, below, scale }: Alignment, t: number): number {
  return below + (t - above) * scale;
}

/** The time of the trace above over a time of the trace below. */
function over({ above, below, scale }: Alignment, t: number): number {
  return above + (t - below) / scale;
}

/** The name behind `name:`, or null for phases and begins. */
export function nameIn(by: AlignedBy): string | null {
  return by.startsWith("name:") ? by.slice(5) : null;
}

/** What a text says that traces are laid by; the begin where it says nothing. */
export function alignedBy(text: string): AlignedBy {
  return text === "phases" || (text.startsWith("name:") && text.length > 5) ? (text.slice(0, 305) as AlignedBy) : "";
}

/** Part of the window by which a moment may lie before it and yet begin in it. */
const TOLERANCE = 1e-4;

/** Number, from 1, of the first moment that begins in a window; where none does, of the last one before it, else the first. `begins` ascends. */
export function atLeft(begins: readonly number[], { t0, t1 }: { t0: number; t1: number }): number {
  const from = t0 - (t1 - t0) * TOLERANCE;
  let [low, high] = [0, begins.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (begins[middle]! < from) low = middle + 1;
    else high = middle;
  }
  const isInside = low < begins.length && begins[low]! <= t1;
  return isInside ? low + 1 : Math.max(1, low);
}

/** Why moments of these traces cannot be compared; null if they can. Another word for what is missing: `phases` or a name. */
function refusal(by: AlignedBy, above: Side, below: Side): string | null {
  const name = nameIn(by);
  const thing = name === null ? "phases" : `calls of ${name}`;
  for (const { moments, name: of } of [above, below]) {
    if (!moments || moments.state === "pending") return `until the ${thing} of ${of} are known`;
    if (moments.state === "unknown") return `: ${of} is too large for its ${thing} to be found while somebody waits`;
    if (moments.state === "many") return `: ${of} has too many ${thing} to be numbered`;
  }
  const lacks = [above, below].filter(({ moments }) => moments?.t0.length === 0).map((side) => side.name);
  const why = name === null ? ", since no main loop was found in it" : "";
  if (lacks.length === 2) return `: neither trace has ${thing}`;
  if (lacks.length === 1) return `: ${lacks[0]} has no ${thing}${why}`;
  const [each, of] = [above.moments?.each, below.moments?.each];
  return each === of ? null : `: a phase is ${each} iteration${each === 1 ? "" : "s"} above and ${of} below`;
}

/** A number as people read it before "as long". */
const ratio = (value: number) => `${value.toPrecision(3)}\u202f×`;

/** What a ruler says where a second is not as wide above as it is below; empty where it is. */
export function scaleWords({ scale }: Alignment, place: "above" | "below"): string {
  if (scale === 1) return "";
  const [other, times] = place === "above" ? ["below", scale] : ["above", 1 / scale];
  return `same width ${other}: ${ratio(times)} the time`;
}

/** How many times as long as above a phase below may be, or the other way round, to be drawn as wide. */
const MOST_STRETCH = 50;

/** Seconds below in the width of a second above where number `number` is drawn as wide below, and in words; 1 if one of them is far too short. */
function stretch(number: number, above: Moments, below: Moments): [scale: number, words: string] {
  const length = ({ t0, t1 }: Moments) => t1[number - 1]! - t0[number - 1]!;
  const scale = length(below) / length(above);
  if (scale >= 1 / MOST_STRETCH && scale <= MOST_STRETCH) return [scale, `, which is ${ratio(scale)} as long below and drawn as wide`];
  return [1, `, not as wide: its lengths differ by more than ${MOST_STRETCH}\u202f×`];
}

/** How the trace below is laid so that the same phase or call of both begins at the same place, in a window of the trace above. */
export function align({ by, nth, isStretched }: Wish, window: { t0: number; t1: number }, above: Side, below: Side): Alignment {
  const begins = (words: string, isRefused: boolean): Alignment => ({ above: above.t0, below: below.t0, scale: 1, nth: 0, words, isRefused });
  if (by === "") return begins("aligned by the begin of both", false);
  const why = refusal(by, above, below);
  if (why !== null) return begins(`aligned by the begin ${why}`.replace(" :", ":"), !why.startsWith("until"));
  const [first, second] = [above.moments!, below.moments!];
  const [many, others] = [first.t0.length, second.t0.length];
  const name = nameIn(by);
  const what = (number: number) => (name === null ? `phase ${number}` : `${name} ${number}`);
  const number = nth > 0 ? nth : atLeft(first.t0, window);
  if (number > Math.min(many, others)) {
    const counted = name === null ? (of: number) => `${of} phase${of === 1 ? "" : "s"}` : (of: number) => `${of} call${of === 1 ? "" : "s"}`;
    return begins(`aligned by the begin: there is no ${what(number)} in both, as ${above.name} has ${counted(many)} and ${below.name} has ${counted(others)}`, true);
  }
  const onRank = ({ rank }: Moments) => (rank === null ? "" : ` on rank ${rank}`);
  const isAlike = many === others && first.rank === second.rank;
  const words = isAlike ? `${what(number)} of ${many}${onRank(first)}` : `${what(number)}: of ${many}${onRank(first)} above, of ${others}${onRank(second)} below`;
  const [scale, wide] = isStretched ? stretch(number, first, second) : [1, ""];
  return { above: first.t0[number - 1]!, below: second.t0[number - 1]!, scale, nth: number, words: `aligned by ${words}${wide}`, isRefused: false };
}

/** From when to when there is anything of the trace below, in times of the trace above, where it is laid by its first or last phase. */
export function reach(wish: Wish, above: Side, below: Side): { t0: number; t1: number } {
  const { by, nth } = wish;
  const many = Math.min(above.moments?.t0.length ?? 0, below.moments?.t0.length ?? 0);
  const isOne = by === "" || nth > 0 || many === 0;
  const all = (isOne ? [nth] : [1, many]).map((number) => align({ ...wish, nth: number }, above, above, below));
  // Where a window has a phase that the other trace lacks, they are laid by their begins.
  if (!isOne && many < (above.moments?.t0.length ?? 0)) all.push(align({ ...wish, by: "" }, above, above, below));
  return { t0: Math.min(...all.map((one) => over(one, below.t0))), t1: Math.max(...all.map((one) => over(one, below.t1))) };
}

/** Timelines as they are told apart: by their names and those above them. */
type Named = Pick<TimelinesAnswer, "label" | "path">;

/** For each timeline above the one below that has the same name, or −1; of several of one name, the first for the first, and so on. */
export function counterparts(above: Named, below: Named): number[] {
  const names = ({ label, path }: Named) => {
    const seen = new Map<string, number>();
    return label.map((own, timeline) => {
      const name = JSON.stringify([...(path[timeline] ?? []), own]);
      const nth = seen.get(name) ?? 0;
      seen.set(name, nth + 1);
      return `${name}${nth}`;
    });
  };
  const where = new Map(names(below).map((name, timeline) => [name, timeline]));
  return names(above).map((name) => where.get(name) ?? -1);
}

/** The timelines below that [y0, y1) above are, by `counterparts`; all `count` where these are all above, or none of them is below. */
export function beneath({ y0, y1 }: { y0: number; y1: number }, others: readonly number[], count: number): { y0: number; y1: number } {
  const found = y0 <= 0 && y1 >= others.length ? [] : others.slice(Math.max(0, y0), y1).filter((timeline) => timeline >= 0);
  if (found.length === 0) return { y0: 0, y1: count };
  const [first, last] = found.reduce(([low, high], one) => [Math.min(low, one), Math.max(high, one)], [count, 0]);
  return { y0: first, y1: last + 1 };
}
