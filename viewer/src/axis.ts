// Where the ticks of a time axis are and what they are called; how times, lengths of time, counts and bytes are written.

export interface Tick {
  /** Seconds. */
  time: number;
  label: string;
  /** A tick with a number, or one of those between. */
  major: boolean;
}

export interface Axis {
  unit: string;
  factor: number;
  /** Where labels are counted from if their numbers would be too long, in seconds, as `text` says. */
  origin: { time: number; text: string } | null;
  ticks: Tick[];
}

/** Digits of a label before ticks are counted from near the window's begin. */
const MOST_DIGITS = 8;

/** Ticks at round numbers, at most `most` with a number and those between. */
export function axis(t0: number, t1: number, most: number): Axis {
  const span = t1 - t0;
  const none: Axis = { unit: "s", factor: 1, origin: null, ticks: [] };
  if (!(span > 0) || !Number.isFinite(span) || most < 1) return none;
  const step = roundAbove(span / most);
  const [unit, factor] = unitOf(step);
  const decimals = Math.min(9, Math.max(0, -Math.floor(Math.log10(step * factor * 1.000001))));
  const largest = Math.max(Math.abs(t0), Math.abs(t1)) * factor;
  const digits = Math.floor(Math.log10(Math.max(largest, 1))) + 1 + decimals;
  let origin: Axis["origin"] = null;
  if (digits > MOST_DIGITS) {
    const places = Math.min(9, Math.max(0, Math.ceil(1 - Math.log10(span))));
    const text = (Math.floor(t0 * 10 ** places) / 10 ** places).toFixed(places);
    origin = { time: Number(text), text: `${text} s` };
  }
  const zero = origin?.time ?? 0;
  const parts = between(step);
  const minor = step / parts;
  const first = Math.ceil((t0 - zero) / minor - 1e-9);
  const ticks: Tick[] = [];
  for (let nth = 0; nth <= (most + 1) * parts; nth++) {
    const from = (first + nth) * minor;
    const time = zero + from;
    if (time > t1 + span * 1e-9) break;
    const major = (first + nth) % parts === 0;
    const number = thin((from * factor).toFixed(decimals).replace(/^-(0(\.0*)?)$/, "$1"));
    ticks.push({ time, major, label: major ? (origin && from >= 0 ? `+${number}` : number) : "" });
  }
  return { unit, factor, origin, ticks };
}

/** The least 1, 2 or 5 times a power of ten that is not below this. */
export function roundAbove(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const digit of [1, 2, 5, 10]) if (digit * power >= least * (1 - 1e-9)) return digit * power;
  return 10 * power;
}

/** Into how many parts the stretch between two ticks is cut. */
function between(step: number): number {
  const digit = Math.round(step / 10 ** Math.floor(Math.log10(step * 1.000001)));
  return digit === 2 ? 4 : 5;
}

function unitOf(step: number): [string, number] {
  if (step >= 0.1) return ["s", 1];
  if (step >= 1e-4) return ["ms", 1e3];
  if (step >= 1e-7) return ["us", 1e6];
  return ["ns", 1e9];
}

/** Thousands set off by thin spaces. */
export function thin(number: string): string {
  const [whole = "", part] = number.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, "\u2009");
  return part === undefined ? grouped : `${grouped}.${part}`;
}

/** A length of time with four significant digits in its own unit. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  const size = Math.abs(seconds);
  if (size === 0) return "0 s";
  const [unit, factor] = size >= 0.99995 ? ["s", 1] : size >= 0.99995e-3 ? ["ms", 1e3] : size >= 0.99995e-6 ? ["us", 1e6] : ["ns", 1e9];
  const value = seconds * factor;
  const before = Math.floor(Math.log10(Math.abs(value) * 1.00005)) + 1;
  return `${thin(value.toFixed(Math.max(0, Math.min(3, 4 - Math.max(before, 1)))))}\u202f${unit}`;
}

/** A time with as many decimals as a picture of `span` seconds can show. */
export function instant(seconds: number, span: number): string {
  const places = Math.min(9, Math.max(3, Math.ceil(4 - Math.log10(Math.max(span, 1e-12)))));
  return `${thin(seconds.toFixed(places))}\u202fs`;
}

/** The span to write the times of something short by, so that its begin and end differ: that of the picture, or less. */
export function spanOf(length: number, picture: number): number {
  return length > 0 ? Math.min(picture, 100 * length) : picture;
}

/** The span to write times by that stand below one another: that of the picture, or less where two of them would else be the same text. */
export function spanBetween(times: readonly number[], picture: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  let least = Number.POSITIVE_INFINITY;
  for (let nth = 1; nth < sorted.length; nth++) {
    const gap = sorted[nth]! - sorted[nth - 1]!;
    if (gap > 0) least = Math.min(least, gap);
  }
  return Math.min(picture, 1000 * least);
}

/** Begin and end of a window, with as many decimals as its picture can show: "12.0353 – 12.0361 s". */
export function stretch(t0: number, t1: number, span = t1 - t0): string {
  return `${instant(t0, span).replace("\u202fs", "")} – ${instant(t1, span)}`;
}

/** Bytes in powers of 1024. */
export function bytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let value = count;
  let nth = 0;
  // Also what would be rounded to 1024.
  while (Math.abs(value) >= (nth === 0 ? 1024 : 1023.95) && nth < units.length - 1) {
    value /= 1024;
    nth++;
  }
  return `${nth === 0 ? thin(String(value < 10 ? Math.round(10 * value) / 10 : Math.round(value))) : value.toFixed(value < 10 ? 2 : 1)}\u202f${units[nth]}`;
}

/** A whole number. */
export function whole(count: number): string {
  return thin(String(Math.round(count)));
}
