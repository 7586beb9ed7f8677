// Colours as numbers 0xRRGGBB: mixing, contrast of WCAG 2, toning until something can be seen on what lies behind it.

export type Rgb = number;

/** This much of the way from one colour to another, 0 to 1. */
export function mix(a: Rgb, b: Rgb, part: number): Rgb {
  const channel = (shift: number) => {
    const from = (a >> shift) & 0xff;
    return Math.round(from + (((b >> shift) & 0xff) - from) * part) << shift;
  };
  return channel(16) | channel(8) | channel(0);
}

/** Relative luminance, 0 to 1. */
function luminance(color: Rgb): number {
  const linear = (shift: number) => {
    const part = ((color >> shift) & 0xff) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0);
}

/** Contrast, 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** Black or white, whichever can be read on it. */
export function ink(color: Rgb): Rgb {
  return contrast(color, 0x111111) >= contrast(color, 0xffffff) ? 0x111111 : 0xffffff;
}

/** This colour, or as near to it as there is this much contrast to what is behind it. */
export function visibleOn(color: Rgb, ground: Rgb, least: number): Rgb {
  const away = ink(ground);
  for (let step = 0; step <= 20; step++) {
    const toned = mix(color, away, step / 20);
    if (contrast(toned, ground) >= least) return toned;
  }
  return away;
}

export function parse(text: string): Rgb {
  return /^#[0-9a-f]{6}$/i.test(text) ? Number.parseInt(text.slice(1), 16) : 0x808080;
}

export function css(color: Rgb): string {
  return `#${color.toString(16).padStart(6, "0")}`;
}

/** As ImageData has it: bytes red, green, blue, alpha, read as a little-endian word. */
export function pack(color: Rgb): number {
  return (0xff000000 | ((color & 0xff) << 16) | (color & 0xff00) | (color >> 16)) >>> 0;
}

export function unpack(word: number): Rgb {
  return ((word & 0xff) << 16) | (word & 0xff00) | ((word >> 16) & 0xff);
}

/** The most of a colour that is mixed into the ground of a number, in percent: letters stay readable. */
const MOST_HEAT = 45;

/** How much of a colour is mixed into the ground of a number, given the largest one of its column: nothing for 0, and where all are 0. */
export function heatOf(value: number, most: number): number {
  if (!(value > 0) || !(most > 0)) return 0;
  return Math.round(MOST_HEAT * Math.min(1, value / most));
}
