import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { CLASS_COLORS, REGION_COLORS, WAITING_COLORS } from "../../src/answers";
import { contrast, css, mix, pack, unpack, visibleOn } from "../../src/color";
import { HATCH, palette, PALETTES, THEMES, type ColorPair, type KindLook } from "../../src/palette";

const CLASSES = ["p2p", "collective", "wait", "io", "rma", "mpi", "user", "disk", "other"];
/** What kinds of a class have of its colours: as they are, darker, lighter. */
const TONES = [0, -0.16, 0.2, -0.3, 0.34];
/** The colours of a kind of this class by class, on light and on dark. */
function byClass(of: string, nth: number): ColorPair {
  if (of === "user") return [css(REGION_COLORS[nth % REGION_COLORS.length]![0]), css(REGION_COLORS[nth % REGION_COLORS.length]![1])];
  const [light, dark] = CLASS_COLORS[of as keyof typeof CLASS_COLORS];
  const tone = TONES[nth % TONES.length]!;
  const toned = (color: number, timeline: number) => css(visibleOn(mix(color, tone < 0 ? 0x000000 : 0xffffff, Math.abs(tone)), timeline, 1.25));
  return [toned(light, THEMES.light.timeline), toned(dark, THEMES.dark.timeline)];
}
const kinds: KindLook[] = Array.from({ length: 90 }, (_, nth) => ({
  name: `k${nth}`, color: `#${((nth * 2654435761) & 0xffffff).toString(16).padStart(6, "0")}`,
  class: CLASSES[nth % CLASSES.length] ?? "other", by_class: byClass(CLASSES[nth % CLASSES.length] ?? "other", Math.floor(nth / CLASSES.length)), topology: "state",
}));
kinds.push({ name: "white", color: "#ffffff", class: "mpi", by_class: byClass("mpi", 0), topology: "state" });

test("the style has the colours of the palette by class", () => {
  const style = readFileSync("src/style.css", "utf8");
  for (const [variable, colors] of [["waiting", WAITING_COLORS], ["mpi", CLASS_COLORS.p2p], ["files", CLASS_COLORS.io]] as const) {
    const found = [...style.matchAll(new RegExp(`--${variable}: (#[0-9a-f]{6})`, "g"))].map((match) => match[1]);
    assert.deepEqual(found, colors.map(css), variable);
  }
});

test("contrast as WCAG has it", () => {
  assert.ok(Math.abs(contrast(0, 0xffffff) - 21) < 1e-9);
  assert.ok(Math.abs(contrast(0x777777, 0xffffff) - 4.48) < 0.01);
  assert.equal(unpack(pack(0x123456)), 0x123456);
});

test("in each palette letters can be read, outlines and lines seen, waits told by their pattern", () => {
  for (const { name } of PALETTES) for (const theme of ["light", "dark"] as const) for (const strong of [false, true]) {
    const colors = palette(kinds, name, theme, strong);
    kinds.forEach((kind, nth) => {
      const where = `${name} ${theme} ${kind.name}`;
      const [fill, ink, edge, line] = [colors.fill[nth] ?? 0, colors.ink[nth] ?? 0, colors.edge[nth] ?? 0, colors.line[nth] ?? 0];
      assert.ok(contrast(fill, ink) >= 4.2, where);
      assert.ok(contrast(edge, fill) >= (strong ? 4.5 : name === "file" ? 1.7 : 3), `${where}: outline`);
      assert.ok(contrast(line, colors.theme.timeline) >= 3, `${where}: line`);
      assert.ok(contrast(fill, colors.theme.timeline) >= 1.2, `${where}: area`);
      assert.notEqual(colors.pattern[nth], HATCH, `${where}: the hatch of waiting is no category's pattern`);
    });
  }
});

/** What eyes without one of the three cones see: matrices of Machado, Oliveira and Fernandes (2009) for linear RGB, severity 1. */
const BLIND = {
  protan: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deutan: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritan: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

function seenBy(eye: readonly number[], color: number): number {
  const linear = [16, 8, 0].map((shift) => ((color >> shift) & 255) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  const seen = [0, 3, 6].map((at) => Math.min(1, Math.max(0, eye[at]! * linear[0]! + eye[at + 1]! * linear[1]! + eye[at + 2]! * linear[2]!)));
  const [r, g, b] = seen.map((c) => Math.round(255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055)));
  return (r! << 16) | (g! << 8) | b!;
}

test("the hatch of waiting is seen on every colour, in both themes and by colour-blind eyes", () => {
  for (const { name } of PALETTES) for (const theme of ["light", "dark"] as const) {
    const colors = palette(kinds, name, theme);
    kinds.forEach((kind, nth) => {
      const [fill, hatch] = [colors.hatched[nth] ?? 0, colors.hatch[nth] ?? 0];
      assert.ok(contrast(fill, hatch) >= 2.4, `${name} ${theme} ${kind.name}`);
      for (const [eye, matrix] of Object.entries(BLIND)) {
        assert.ok(contrast(seenBy(matrix, fill), seenBy(matrix, hatch)) >= 1.8, `${name} ${theme} ${kind.name} ${eye}`);
      }
    });
  }
});

test("safe palettes: equal colours have different patterns until those are used up", () => {
  for (const name of ["safe", "grey"] as const) {
    const colors = palette(kinds.slice(0, 24), name, "light");
    const looks = kinds.slice(0, 24).map((_, nth) => `${colors.fill[nth]}/${colors.pattern[nth]}`);
    assert.equal(new Set(looks).size, looks.length);
  }
});

test("a part of a trace has the colours that the whole gives its regions", () => {
  const kind = (name: string, of: string): KindLook => ({ name, color: "#000000", class: of, by_class: ["#101010", "#202020"], topology: "state" });
  const regions = new Map([["solve", ["#303030", "#404040"] as const], ["MPI_Send", ["#505050", "#606060"] as const]]);
  const some = [kind("solve", "user"), kind("norm", "user"), kind("MPI_Send", "p2p")];
  assert.deepEqual(palette(some, "class", "light", false, new Map(), regions).fill, [0x303030, 0x101010, 0x101010]);
  assert.deepEqual(palette(some, "class", "dark", false, new Map(), regions).fill, [0x404040, 0x202020, 0x202020]);
});

test("a colour that the reader chose is taken as it is", () => {
  assert.equal(palette(kinds, "class", "dark", false, new Map([[3, 0xabcdef]])).fill[3], 0xabcdef);
});

test("a class has the colour of what takes most of its time, and no two the same", () => {
  const state = (name: string, color: string, of: string, share: number): KindLook => ({ name, color, class: of, by_class: byClass(of, 0), topology: "state", share, count: 1 });
  const some = [
    state("MPI_Irecv", "#00cc44", "p2p", 0.1), state("MPI_Send", "#0000ff", "p2p", 3), state("MPI_Init", "#cccc00", "mpi", 1),
    state("MPI_Barrier", "#cccc00", "collective", 0.5), state("MPI_Allreduce", "#a020f0", "collective", 0.4), state("MPI_Put", "#0000ff", "rma", 0.2),
  ];
  const { classes } = palette(some, "file", "light");
  assert.deepEqual(["p2p", "mpi", "collective"].map((name) => classes.get(name)), [0x0000ff, 0xcccc00, 0xa020f0]);
  assert.equal(new Set(classes.values()).size, 4);
});

/** A colour in CIELAB, from sRGB under D65. */
function lab(color: number): [number, number, number] {
  const [r, g, b] = [16, 8, 0].map((shift) => ((color >> shift) & 255) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  const xyz = [
    (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047, 0.2126 * r + 0.7152 * g + 0.0722 * b, (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883,
  ].map((t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116)) as [number, number, number];
  return [116 * xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])];
}

/** How different two colours are: CIE76. */
function difference(a: number, b: number): number {
  const [x, y] = [lab(a), lab(b)];
  return Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

test("by class: classes and regions are told apart by every eye, and what the program does itself is quieter than what MPI does", () => {
  const names = ["p2p", "collective", "wait", "io", "rma", "mpi", "disk"] as const;
  for (const [nth, theme] of (["light", "dark"] as const).entries()) {
    const { timeline } = THEMES[theme];
    for (const [eye, matrix] of [["every", null] as const, ...Object.entries(BLIND)]) {
      const seen = (color: number) => (matrix ? seenBy(matrix, color) : color);
      const classes = names.map((name) => [name, seen(CLASS_COLORS[name][nth]!)] as const);
      for (const [x, [a, color]] of classes.entries()) {
        for (const [b, other] of classes.slice(x + 1)) {
          assert.ok(difference(color, other) >= 15, `${theme}, ${eye} eye: ${a} and ${b}: ${difference(color, other).toFixed(1)}`);
        }
        for (const region of REGION_COLORS) {
          const far = difference(seen(region[nth]!), color);
          assert.ok(far >= 15, `${theme}, ${eye} eye: region ${css(region[nth]!)} and ${a}: ${far.toFixed(1)}`);
        }
      }
    }
    for (const [x, region] of REGION_COLORS.entries()) {
      for (const other of REGION_COLORS.slice(x + 1)) assert.ok(difference(region[nth]!, other[nth]!) >= 6, `${theme}: ${css(region[nth]!)} and ${css(other[nth]!)}`);
      const [start, compute] = [difference(region[nth]!, CLASS_COLORS.start[nth]!), difference(region[nth]!, CLASS_COLORS.compute[nth]!)];
      assert.ok(Math.min(start, compute) >= 8, `${theme}: ${css(region[nth]!)} and no call at all, or the begin of MPI`);
      assert.ok(contrast(region[nth]!, timeline) >= 1.2, `${theme}: ${css(region[nth]!)} is seen`);
      for (const name of ["p2p", "collective", "io"] as const) assert.ok(contrast(CLASS_COLORS[name][nth]!, timeline) > contrast(region[nth]!, timeline), `${theme} ${name}`);
    }
  }
});
