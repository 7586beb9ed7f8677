// A window as people write it.

import { stretch } from "./axis";

const UNITS: Record<string, number> = { s: 1, ms: 1e-3, "µs": 1e-6, us: 1e-6, "μs": 1e-6, ns: 1e-9, m: 60, min: 60, "": 1 };

/** A time in seconds: `12.5`, `12 500 ms`; NaN if it is none. */
export function parseTime(text: string): number {
  const match = /^([-+]?[\d\s\u2009\u202f]*\.?\d+(?:e[-+]?\d+)?)\s*([a-zµμ]*)$/i.exec(text.trim());
  const unit = UNITS[match?.[2]?.toLowerCase() ?? "?"];
  return match && unit !== undefined ? Number(match[1]!.replace(/[\s\u2009\u202f]/g, "")) * unit : Number.NaN;
}

/** A time of a trace: in seconds, or as part of it, `50%`. */
function parsePlace(text: string, whole: { t0: number; t1: number }): number {
  const part = /^(\d*\.?\d+)\s*%$/.exec(text.trim());
  return part ? whole.t0 + (Number(part[1]) / 100) * (whole.t1 - whole.t0) : parseTime(text);
}

/** The words of a window that people write: begin, what joins them, end or length. */
function words(text: string): [string, string, string] | null {
  const split = /^(.+?)\s*(–|\.\.|\s-\s|\sto\s|\+)\s*(.+)$/.exec(text);
  if (split) return [split[1]!, split[2]!, split[3]!];
  // `3.2-3.4`: the minus sign of neither an exponent nor of the first time.
  const close = /^(.*[^\se])\s*-\s*(.+)$/i.exec(text);
  return close ? [close[1]!, "-", close[2]!] : null;
}

/** How a window may be written. */
export const WINDOW_HELP = "begin – end, such as 12.03 – 12.05, 3200ms-3400ms or 50%-60%; begin + length, such as 12.03 + 5 ms; or the middle";

/**
 * `12.03 – 12.05`, `12.03 .. 12.05`, `12.03-12.05`, `50%-60%` of the trace, `12.03 + 5 ms` (from there so long), or a time, which goes into
 * the middle.
 */
export function parseWindow(text: string, now: { t0: number; t1: number }, whole: { t0: number; t1: number }): { t0: number; t1: number } | null {
  const middle = parsePlace(text, whole);
  if (!Number.isNaN(middle)) {
    const half = (now.t1 - now.t0) / 2;
    return { t0: middle - half, t1: middle + half };
  }
  const [from, joint, to] = words(text.trim()) ?? ["", "", ""];
  const first = parsePlace(from, whole);
  const end = joint === "+" ? first + parseTime(to) : parsePlace(to, whole);
  return end > first ? { t0: first, t1: end } : null;
}

/**
 * The window that people ask for, with begin and end no farther than there is something to be seen; else what is wrong with the text. A middle may lie so
 * close to the end of the trace that the window reaches beyond it.
 */
export function askedWindow(text: string, now: { t0: number; t1: number }, whole: { t0: number; t1: number }, room: { t0: number; t1: number }): { t0: number; t1: number } | string {
  const asked = parseWindow(text, now, whole);
  if (!asked) return `“${text}” is no window. Write ${WINDOW_HELP}.`;
  const middle = parsePlace(text, whole);
  const isMiddle = !Number.isNaN(middle);
  const isOutside = isMiddle ? middle < room.t0 || middle > room.t1 : asked.t1 <= room.t0 || asked.t0 >= room.t1;
  if (isOutside) return `“${text}” lies outside the trace, which is at ${stretch(room.t0, room.t1)}.`;
  return isMiddle ? asked : { t0: Math.max(asked.t0, room.t0), t1: Math.min(asked.t1, room.t1) };
}
