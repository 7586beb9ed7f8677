// The whole state of the page as text behind the # of its address, and back. What somebody else made of the text is
// checked: what cannot be read is left as it is by default, so that an old link still shows something.

import { alignedBy, type AlignedBy } from "./alignment";

export type Mode = "dominant" | "rare" | "heat" | "stack";
export type Arrows = "none" | "sel" | "worst" | "all";
export type Theme = "auto" | "light" | "dark";
export type PaletteName = "file" | "class" | "safe" | "grey";

export const MODES: readonly Mode[] = ["dominant", "rare", "heat", "stack"];
export const ARROWS: readonly Arrows[] = ["none", "sel", "worst", "all"];
export const THEMES: readonly Theme[] = ["auto", "light", "dark"];
export const PALETTES: readonly PaletteName[] = ["file", "class", "safe", "grey"];
export const PANELS = ["summary", "stats", "timelines", "matrix", "hits", "events", "io", "pins", "compare"] as const;
export type PanelName = (typeof PANELS)[number];
/** No panel is open. */
export const SHUT = "none";

/** End of a range on all timelines, however many there will be: the next layout is known only when the server has answered. */
export const ALL_TIMELINES = 1_000_000_000;

/** A stretch of time on the timelines [y0, y1) of the layout. */
export interface Range {
  t0: number;
  t1: number;
  y0: number;
  y1: number;
}

/** A text at a time of a timeline, which has the name that its own names are kept under. */
export interface Note {
  t: number;
  of: string;
  text: string;
}

/** Names that the reader gave, by what has them. */
export type Names = readonly (readonly [of: string, name: string])[];

/** What is on the screen. Everything that a link must restore stands here, nothing else. */
export interface View {
  /** Number of the trace among those of the server. */
  trace: number;
  /** Number of the trace that it is compared with; −1: of two traces the other one, else none; −2: none. */
  other: number;
  /** What it is laid by: its begin, its `phases`, or the calls of a `name:…`. */
  align: AlignedBy;
  /** Number of the phase or call by which it is laid, from 1; 0: the first of the window. */
  nth: number;
  /** Whether that phase or call is drawn as wide as in the first trace. */
  stretch: boolean;
  /** The window in seconds; NaN until the trace is known: all of it. */
  t0: number;
  t1: number;
  /** Timeline at the upper edge; a part of it may be above. */
  top: number;
  /** Pixels of a timeline; 0: as high as all timelines fit. */
  height: number;
  /** The timelines and their order, as the server's canonical text. */
  timelines: string;
  /** Kinds that are not shown, in ascending order. */
  hide: readonly number[];
  mode: Mode;
  /** The kind whose share mode `heat` shows. */
  heat: number;
  arrows: Arrows;
  /** Whether the critical path is drawn. */
  path: boolean;
  /** Tracks that are shown above the timelines; null: the ranks, if there are several. */
  tracks: readonly string[] | null;
  /** References of the selected drawables; the last one is the one that details are shown of. */
  sel: readonly string[];
  range: Range | null;
  query: string;
  /** What is summed up: `sum dur by rank where MPI_Recv`; empty for nothing. */
  sums: string;
  /** Key of the timeline that is shown in full below the others; empty for none. */
  full: string;
  /** The panel below the timeline, or SHUT. */
  panel: PanelName | typeof SHUT;
  palette: PaletteName;
  /** Kinds that have another colour than the palette's, in ascending order: `#rrggbb`. */
  own: readonly (readonly [kind: number, color: string])[];
  /** Other names: of a kind by its number, of a timeline by line map and key, `0.15` or `1.n3`. */
  names: Names;
  theme: Theme;
  notes: readonly Note[];
  /** References of the drawables that are kept in view. */
  pins: readonly string[];
}

/** No trace to compare with. */
export const NO_OTHER = -2;

export const START: View = {
  trace: 0, other: -1, align: "", nth: 0, stretch: false, t0: Number.NaN, t1: Number.NaN, top: 0, height: 0, timelines: "", hide: [], mode: "dominant", heat: -1,
  arrows: "worst", path: false, tracks: null, sel: [], range: null, query: "", sums: "", full: "", panel: SHUT, palette: "class", own: [], names: [], theme: "auto", notes: [], pins: [],
};

/** Ranges of numbers, "3,7-9", in ascending order. */
export function numbersText(numbers: readonly number[]): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let at = 0; at < sorted.length; ) {
    let end = at;
    while (sorted[end + 1] === sorted[end]! + 1) end++;
    parts.push(end > at + 1 ? `${sorted[at]}-${sorted[end]}` : sorted.slice(at, end + 1).join(","));
    at = end + 1;
  }
  return parts.join(",");
}

/** Above this there are no numbers of kinds. */
const MOST_NUMBER = 65_535;

/** What numbersText wrote, each number once; numbers above 65 535 and everything else that it does not write are left out. */
export function numbersOf(text: string): number[] {
  const numbers = new Set<number>();
  for (const part of text.split(",")) {
    const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part);
    if (!match || numbers.size > MOST_NUMBER) continue;
    const from = Number(match[1]);
    const to = Math.min(Number(match[2] ?? from), MOST_NUMBER);
    for (let number = from; number <= to; number++) numbers.add(number);
  }
  return [...numbers];
}

/** At most so many letters of a text, none of which is half of one. */
function shortened(text: string, letters: number): string {
  return wellFormed(text.slice(0, letters));
}

/** A text without halves of letters, which cannot stand in an address. */
function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "");
}

/** A text in which commas and what stands for them are escaped. */
function escaped(text: string): string {
  return text.replace(/[%,]/g, encodeURIComponent);
}

/** What `escaped` wrote. */
function unescaped(text: string): string {
  return text.replace(/%(25|2C)/g, (code) => decodeURIComponent(code));
}

/** A timeline by line map and key, as `escaped` writes it: the key of a group is a list, `0.1-3%2C7`. */
const ESCAPED_TIMELINE = /^\d{1,3}\.n?\d[-\d%C]{0,9999}$/;

function oneOf<T extends string>(text: string | null, of: readonly T[], otherwise: T): T {
  return of.find((one) => one === text) ?? otherwise;
}

function number(text: string | null | undefined, otherwise: number): number {
  if (text === null || text === undefined || text.trim() === "") return otherwise;
  const value = Number(text);
  return Number.isFinite(value) ? value : otherwise;
}

/** Drawables, `LINE.KIND.T0`, arrows, `LINE.KIND.T0~LINE.T1`: numbers and points, no more. Between two stands a `!`, and before a number behind one. */
const REFERENCE = /^[-0-9][-+0-9.eE]{0,99}(~[-0-9][-+0-9.eE]{0,99})?$/;

function references(text: string | null): string[] {
  const found: string[] = [];
  for (const part of (text ?? "").split("!")) {
    // A number alone tells which of several drawables the reference before it means that are alike.
    if (/^\d{1,9}$/.test(part) && found.length > 0 && !found.at(-1)!.includes("!")) found.push(`${found.pop()}!${part}`);
    else if (REFERENCE.test(part) && part.includes(".")) found.push(part);
  }
  return found.slice(0, 200);
}

/** `ranks,io`, or `none`. */
function tracksOf(text: string | null): string[] | null {
  if (text === null || text === "") return null;
  return text === "none" ? [] : text.split(",").slice(0, 100);
}

/** `3:ff8800,7:00aa00`: a kind and its colour. */
function ownColors(text: string): [number, string][] {
  const found = new Map<number, string>();
  for (const part of text.split(",").slice(0, 1000)) {
    const match = /^(\d{1,5}):([0-9a-f]{6})$/.exec(part);
    if (match) found.set(Number(match[1]), `#${match[2]}`);
  }
  return [...found].sort(([a], [b]) => a - b);
}

/** The text of colours, as `ownColors` reads it. */
export function ownText(own: View["own"]): string {
  return own.map(([kind, color]) => `${kind}:${color.slice(1)}`).join(",");
}

/** `3:Exchange,0.15:late rank`: a kind or a timeline and its name, in which commas and what stands for them are escaped. */
function namesText(names: Names): string {
  return names.map(([of, name]) => `${escaped(of)}:${escaped(name)}`).join(",");
}

function namesOf(text: string): Names {
  const found = new Map<string, string>();
  for (const part of text.split(",").slice(0, 1000)) {
    const [, of, name] = /^([^:]+):(.+)$/s.exec(part) ?? [];
    if (of === undefined || name === undefined) continue;
    if (/^\d{1,5}$/.test(of) || ESCAPED_TIMELINE.test(of)) found.set(unescaped(of), shortened(unescaped(name), MOST_NAME));
  }
  return [...found];
}

/** `0.0123@0.15:text,…`: time, timeline and text of each note. One that is still without a text is none. */
function notesText(notes: readonly Note[]): string {
  return notes.filter(({ text }) => text !== "").map(({ t, of, text }) => `${t}@${of}:${escaped(text)}`).join(",");
}

function notesOf(text: string): Note[] {
  return text.split(",").slice(0, MOST_NOTES).flatMap((part) => {
    const match = /^([-+0-9.eE]{1,30})@(\d{1,3}\.n?\d{1,7}):(.+)$/s.exec(part);
    const t = number(match?.[1], Number.NaN);
    const words = match?.[3];
    return match?.[2] !== undefined && words !== undefined && Number.isFinite(t) ? [{ t, of: match[2], text: shortened(unescaped(words), MOST_NOTE) }] : [];
  });
}

/** Notes of a link, and letters of one. */
const MOST_NOTES = 200;
export const MOST_NOTE = 300;

/** Letters of a name that a reader gives. */
export const MOST_NAME = 80;

/** Text behind the #, without it. Only what differs from the beginning is written. */
export function encode(view: View): string {
  const parts: [string, string][] = [];
  const put = (name: string, value: string | number, unless: string | number) => {
    if (value !== unless) parts.push([name, String(value)]);
  };
  put("trace", view.trace, 0);
  put("with", view.other === NO_OTHER ? "none" : view.other, START.other);
  put("align", view.align, START.align);
  put("nth", view.nth, START.nth);
  put("stretch", view.stretch ? "on" : "", "");
  if (!Number.isNaN(view.t0)) parts.push(["t", `${view.t0}~${view.t1}`]);
  put("top", Math.round(view.top * 100) / 100, 0);
  put("height", Math.round(view.height * 100) / 100, 0);
  put("timelines", view.timelines, "");
  put("hide", numbersText(view.hide), "");
  put("mode", view.mode === "heat" ? `heat:${view.heat}` : view.mode, START.mode);
  put("arrows", view.arrows, START.arrows);
  put("path", view.path ? "on" : "", "");
  if (view.tracks) put("tracks", view.tracks.join(",") || "none", "");
  put("sel", view.sel.join("!"), "");
  if (view.range) {
    const { t0, t1, y0, y1 } = view.range;
    put("range", y0 === 0 && y1 === ALL_TIMELINES ? `${t0}~${t1}` : `${t0}~${t1}~${y0}~${y1}`, "");
  }
  put("q", view.query, "");
  put("sum", view.sums, "");
  put("full", view.full, "");
  put("panel", view.panel, START.panel);
  put("colors", view.palette, START.palette);
  put("own", ownText(view.own), "");
  put("names", namesText(view.names), "");
  put("theme", view.theme, START.theme);
  put("notes", notesText(view.notes), "");
  put("pins", view.pins.join("!"), "");
  // Only what would end the fragment or the pair is escaped: links are read by people too.
  return parts.map(([name, value]) => `${name}=${encodeURIComponent(wellFormed(value)).replace(/%(3A|2C|3B|7E|40|2F)/g, (code) => decodeURIComponent(code))}`).join("&");
}

/** The view that a text behind the # stands for. Links of earlier versions call the height `row`, timelines and their panel `rows`. */
export function decode(fragment: string): View {
  const all = new URLSearchParams(fragment.replace(/^#/, "").replace(/\+/g, "%2B"));
  const [t0, t1] = (all.get("t") ?? "").split("~").map((part) => number(part, Number.NaN));
  const isWindow = t0 !== undefined && t1 !== undefined && t0 < t1;
  const range = (all.get("range") ?? "").split("~").map((part) => number(part, Number.NaN));
  const [from, to, y0, y1] = range.length === 2 ? [...range, 0, ALL_TIMELINES] : range;
  const mode = all.get("mode") ?? "";
  const heat = /^heat:(\d{1,5})$/.exec(mode);
  return {
    trace: Math.max(0, Math.floor(number(all.get("trace"), 0))),
    other: all.get("with") === "none" ? NO_OTHER : Math.max(-1, Math.floor(number(all.get("with"), -1))),
    align: alignedBy(all.get("align") ?? ""),
    nth: Math.min(1e6, Math.max(0, Math.floor(number(all.get("nth"), 0)))),
    stretch: all.get("stretch") === "on",
    t0: isWindow ? t0 : Number.NaN,
    t1: isWindow ? t1 : Number.NaN,
    top: Math.max(0, number(all.get("top"), 0)),
    height: Math.min(Math.max(0, number(all.get("height") ?? all.get("row"), 0)), 4000),
    timelines: all.get("timelines") ?? all.get("rows") ?? "",
    hide: numbersOf(all.get("hide") ?? ""),
    mode: heat ? "heat" : oneOf(mode, ["dominant", "rare", "stack"], START.mode),
    heat: heat ? Number(heat[1]) : START.heat,
    arrows: oneOf(all.get("arrows"), ARROWS, START.arrows),
    path: all.get("path") === "on",
    tracks: tracksOf(all.get("tracks")),
    sel: references(all.get("sel")),
    range: (range.length === 2 || range.length === 4) && range.every(Number.isFinite) && from! <= to! && y0! < y1!
      ? { t0: from!, t1: to!, y0: Math.max(0, y0!), y1: y1! } : null,
    query: shortened(all.get("q") ?? "", 1000),
    sums: shortened(all.get("sum") ?? "", 1000),
    full: /^n?\d{1,7}$/.exec(all.get("full") ?? "")?.[0] ?? "",
    panel: oneOf(all.get("panel") === "rows" ? "timelines" : all.get("panel"), [...PANELS, SHUT], START.panel),
    palette: oneOf(all.get("colors"), PALETTES, START.palette),
    own: ownColors(all.get("own") ?? ""),
    names: namesOf(all.get("names") ?? ""),
    theme: oneOf(all.get("theme"), THEMES, START.theme),
    notes: notesOf(all.get("notes") ?? ""),
    pins: references(all.get("pins")),
  };
}

/** A view of a whole trace as one of a part, which is alone in its page and in which kinds have other numbers: `kinds` has those by the old ones, −1 for none. */
export function withKinds(view: View, kinds: readonly number[]): View {
  const inPart = (kind: number | string) => kinds[Number(kind)] ?? -1;
  const references = (list: readonly string[]) =>
    list.flatMap((reference) => {
      const [, line, kind, rest] = /^(-?\d+)\.(\d+)\.(.*)$/.exec(reference) ?? [];
      return kind !== undefined && inPart(kind) >= 0 ? [`${line}.${inPart(kind)}.${rest}`] : [];
    });
  const { trace, other, align, nth, stretch } = START;
  return {
    ...view, trace, other, align, nth, stretch,
    hide: view.hide.map(inPart).filter((kind) => kind >= 0).sort((a, b) => a - b),
    heat: view.heat < 0 ? view.heat : inPart(view.heat),
    mode: view.mode === "heat" && inPart(view.heat) < 0 ? START.mode : view.mode,
    own: view.own.map(([kind, color]) => [inPart(kind), color] as const).filter(([kind]) => kind >= 0).sort(([a], [b]) => a - b),
    names: view.names.map(([of, name]) => [of.includes(".") ? of : String(inPart(of)), name] as const).filter(([of]) => of !== "-1"),
    sel: references(view.sel),
    pins: references(view.pins),
  };
}
