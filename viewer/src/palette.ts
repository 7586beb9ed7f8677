// What colour a kind of drawable has: the file's own, by class, safe for colour-blind eyes, greys for paper; on light or dark.
// A palette also says what letters on a kind, its outline and its lines look like, and which pattern it has. No meaning is told by
// colour alone: where a call waits it is hatched in every palette.

import { CLASS_COLORS, WAITING_COLORS } from "./answers";
import { contrast, ink, mix, pack, parse, visibleOn, type Rgb } from "./color";

export type PaletteName = "file" | "class" | "safe" | "grey";
export const PALETTES: readonly { name: PaletteName; title: string }[] = [
  { name: "class", title: "By class" },
  { name: "file", title: "As the file says" },
  { name: "safe", title: "Safe for colour-blind eyes" },
  { name: "grey", title: "Greys, for paper" },
];

export type ThemeName = "light" | "dark";

/** Colours of everything that is no drawable. Timeline and ground are those of `mpitrace draw`. */
export interface Theme {
  name: ThemeName;
  ground: Rgb;
  timeline: Rgb;
  grid: Rgb;
  text: Rgb;
  faint: Rgb;
  /** Cursor, selection, measured stretches. */
  accent: Rgb;
  /** Hits of the search. */
  hit: Rgb;
  /** What is wrong: backward messages. */
  alarm: Rgb;
  /** The critical path. */
  path: Rgb;
}

export const THEMES: Record<ThemeName, Theme> = {
  light: {
    name: "light", ground: 0xffffff, timeline: 0xf2f4f7, grid: 0xd5dae1, text: 0x1d232b, faint: 0x59636f,
    accent: 0x0b62d6, hit: 0xc4007a, alarm: 0xc01c1c, path: 0xc2185b,
  },
  dark: {
    name: "dark", ground: 0x15181d, timeline: 0x1f242b, grid: 0x353c46, text: 0xe6e9ee, faint: 0x9aa5b1,
    accent: 0x6db3ff, hit: 0xff5fc4, alarm: 0xff7b72, path: 0xff5c93,
  },
};

/** A colour on light and one on dark, as CSS has them. */
export type ColorPair = readonly [light: string, dark: string];

/** What a palette must know of a category of the trace. */
export interface KindLook {
  name: string;
  color: string;
  class: string;
  /** Colours of the category by class: on light, on dark. */
  by_class: ColorPair;
  topology: string;
  count?: number | null;
  share?: number | null;
}

/** Patterns: where `patterned(n, x, y)` is true the pixel is drawn towards the ink. HATCH is left to the waiting part of calls. */
const PLAIN = 0;
export const HATCH = 1;
const PATTERNS = 6;
/** Contrast of the hatch to the area that it lies on. */
const LEAST_HATCH = 2.5;

export interface Palette {
  name: PaletteName;
  theme: Theme;
  /** By kind: area, outline of an area, letters on it, lines and marks, pattern. */
  fill: Rgb[];
  edge: Rgb[];
  ink: Rgb[];
  line: Rgb[];
  pattern: Uint8Array;
  /** Lines of the hatch where a state waits, and the area that they lie on: far enough from each other for every eye. */
  hatch: Rgb[];
  hatched: Rgb[];
  /** What stands for a whole class of kinds: the colour of the states that take most of its time, as most of it is in the timeline. */
  classes: ReadonlyMap<string, Rgb>;
  /** Colour of a cell by `(kind + 1) * SHADES + shade`, as ImageData has it; kind −1 is an empty timeline. */
  shades: Uint32Array;
  /** Colours of the heat map, from nothing to all. */
  heat: Uint32Array;
}

/** Shades of a kind, one for each step of how busy a cell is. */
export const SHADES = 64;

/** Colours and patterns of these kinds. `overrides` are colours that the reader chose, `regions` the colours by class that regions have in the trace which this is a part of. */
export function palette(
  kinds: readonly KindLook[],
  name: PaletteName,
  themeName: ThemeName,
  strong = false,
  overrides: ReadonlyMap<number, Rgb> = new Map(),
  regions: ReadonlyMap<string, ColorPair> = new Map(),
): Palette {
  const theme = THEMES[themeName];
  const looks = chosen(kinds, name, theme, regions);
  const fill = looks.map((look, kind) => overrides.get(kind) ?? look.color);
  const own = name === "file" ? 1.7 : 3;
  const hatch = name === "class" ? fill.map(() => inTheme(WAITING_COLORS, theme)) : fill.map((color) => towards(color, ink(color), LEAST_HATCH));
  return {
    name,
    theme,
    fill,
    edge: fill.map((color) => outline(color, strong ? 4.5 : own)),
    ink: fill.map(ink),
    line: fill.map((color, kind) => overrides.get(kind) ?? line(color, kinds[kind]?.topology === "arrow", theme, strong ? 4.5 : 3)),
    pattern: Uint8Array.from(looks, ({ pattern }) => pattern),
    hatch,
    hatched: fill.map((color, kind) => farFrom(hatch[kind] ?? 0, color, theme.ground, LEAST_HATCH)),
    classes: classes(kinds, fill, name, theme),
    shades: shades(fill, theme),
    heat: heat(theme),
  };
}

/** Arrows of a colour that would not be seen, such as Jumpshot's white ones on light, are drawn like letters. */
function line(color: Rgb, isArrow: boolean, theme: Theme, least: number): Rgb {
  return isArrow && contrast(color, theme.timeline) < least ? theme.text : visibleOn(color, theme.timeline, least);
}

function classes(kinds: readonly KindLook[], fill: readonly Rgb[], name: PaletteName, theme: Theme): Map<string, Rgb> {
  const found = new Map<string, Rgb>();
  const isByClass = name === "class" || name === "grey";
  const states = kinds.map((_, kind) => kind).filter((kind) => kinds[kind]?.topology === "state");
  const much = (kind: number): [number, number] => [kinds[kind]?.share ?? 0, kinds[kind]?.count ?? 0];
  states.sort((a, b) => much(b)[0] - much(a)[0] || much(b)[1] - much(a)[1]);
  // Two classes side by side must not look the same: whoever has less time takes another of its colours, or its class's own.
  const taken = new Set<Rgb>();
  for (const isLast of [false, true]) {
    for (const kind of states) {
      const { class: own } = kinds[kind]!;
      if (found.has(own)) continue;
      const color = isByClass || isLast ? classColor(own, theme, name === "grey") : (fill[kind] ?? 0);
      if (taken.has(color) && !isLast) continue;
      found.set(own, color);
      taken.add(color);
    }
  }
  return found;
}

/** The colour of a class in this palette. */
export function colorOfClass(palette: Palette, name: string): Rgb {
  return palette.classes.get(name) ?? classColor(name, palette.theme, palette.name === "grey");
}

/** A darker colour with that contrast, or a lighter one where darker ones do not reach it. */
function outline(color: Rgb, least: number): Rgb {
  for (const away of [0x000000, 0xffffff]) {
    for (let step = 1; step <= 20; step++) {
      const toned = mix(color, away, step / 20);
      if (contrast(toned, color) >= least) return toned;
    }
  }
  return ink(color);
}

/** The colour between two that is nearest to the first and has that contrast to it, or the second. */
function towards(color: Rgb, end: Rgb, least: number): Rgb {
  for (let step = 1; step < 20; step++) {
    const toned = mix(color, end, step / 20);
    if (contrast(toned, color) >= least) return toned;
  }
  return end;
}

/** The colour between two that is nearest to the first and has that contrast to `other`, or the second. */
function farFrom(other: Rgb, color: Rgb, end: Rgb, least: number): Rgb {
  for (let step = 0; step < 20; step++) {
    const toned = mix(color, end, step / 20);
    if (contrast(toned, other) >= least) return toned;
  }
  return end;
}

interface Look {
  color: Rgb;
  pattern: number;
}

function chosen(kinds: readonly KindLook[], name: PaletteName, theme: Theme, regions: ReadonlyMap<string, ColorPair>): Look[] {
  switch (name) {
    case "file":
      return kinds.map((kind) => ({ color: visibleOn(parse(kind.color), theme.timeline, 1.2), pattern: PLAIN }));
    case "class":
      return kinds.map((kind) => ({ color: parse(inTheme((kind.class === "user" && regions.get(kind.name)) || kind.by_class, theme)), pattern: PLAIN }));
    case "safe":
      return cycled(kinds, OKABE_ITO.map((color) => visibleOn(color, theme.timeline, 1.5)), theme);
    case "grey":
      return cycled(kinds, greys(theme), theme);
  }
}

/** The colour of waiting as a whole; in greys it stands out by strength. */
export function waitingColor({ name, theme }: Palette): Rgb {
  return name === "grey" ? theme.text : inTheme(WAITING_COLORS, theme);
}

/** The colour of a class as a whole. */
function classColor(name: string, theme: Theme, isGrey = false): Rgb {
  if (isGrey) {
    const order = Object.keys(CLASS_COLORS).indexOf(name);
    const greyed = greys(theme);
    return greyed[(order + greyed.length) % greyed.length] ?? theme.faint;
  }
  return inTheme(CLASS_COLORS[name as keyof typeof CLASS_COLORS] ?? CLASS_COLORS.other, theme);
}

function inTheme<T>([light, dark]: readonly [light: T, dark: T], theme: Theme): T {
  return theme.name === "light" ? light : dark;
}

const OKABE_ITO: readonly Rgb[] = [0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xd55e00, 0xf0e442, 0x7f7f7f];

function greys(theme: Theme): Rgb[] {
  const levels = theme.name === "light" ? [0x33, 0xb0, 0x70, 0xd0, 0x50, 0x90] : [0xe8, 0x78, 0xb0, 0x58, 0xcc, 0x94];
  return levels.map((level) => level * 0x10101);
}

/** Colours in turn; the second time round with a pattern. Patterns of waits are left to waits. */
function cycled(kinds: readonly KindLook[], colors: readonly Rgb[], theme: Theme): Look[] {
  const order = kinds.map((_, kind) => kind).filter((kind) => kinds[kind]?.topology === "state");
  const looks: Look[] = kinds.map(() => ({ color: theme.text, pattern: PLAIN }));
  order.forEach((kind, nth) => {
    const round = Math.floor(nth / colors.length);
    const pattern = round === 0 ? PLAIN : 2 + ((round - 1) % (PATTERNS - 2));
    looks[kind] = { color: colors[nth % colors.length] ?? theme.text, pattern };
  });
  return looks;
}

/** Whether this pixel of a pattern is drawn; `unit` is how many pixels make one of the page. */
export function patterned(pattern: number, x: number, y: number, unit: number): boolean {
  const [u, v] = [Math.floor(x / unit), Math.floor(y / unit)];
  switch (pattern) {
    case 1:
      return (u + v) % 6 < 2;
    case 2:
      return (((u - v) % 7) + 7) % 7 === 0;
    case 3:
      return u % 4 === 0 && v % 4 === 0;
    case 4:
      return v % 4 === 0;
    case 5:
      return u % 5 === 0;
    default:
      return false;
  }
}

function shades(fill: readonly Rgb[], theme: Theme): Uint32Array {
  const words = new Uint32Array((fill.length + 1) * SHADES);
  words.fill(pack(theme.timeline), 0, SHADES);
  fill.forEach((color, kind) => {
    for (let shade = 0; shade < SHADES; shade++) {
      // The least busy cell that is not empty can be told from an empty one.
      const part = 0.22 + 0.78 * (shade / (SHADES - 1)) ** 0.8;
      words[(kind + 1) * SHADES + shade] = pack(mix(theme.timeline, color, part));
    }
  });
  return words;
}

/** Five points of a ramp whose lightness rises (dark theme) or falls (light theme) evenly: readable without hue. */
function heat(theme: Theme): Uint32Array {
  const light = [0xf2f4f7, 0xfdd49e, 0xfc8d59, 0xd7301f, 0x7f0000];
  const dark = [0x1f242b, 0x57106e, 0xbc3754, 0xf98e09, 0xfcffa4];
  const stops = theme.name === "light" ? light : dark;
  return Uint32Array.from({ length: SHADES }, (_, shade) => {
    const at = (shade / (SHADES - 1)) * (stops.length - 1);
    const below = Math.min(Math.floor(at), stops.length - 2);
    return pack(mix(stops[below] ?? 0, stops[below + 1] ?? 0, at - below));
  });
}
