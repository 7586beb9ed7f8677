import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, luminance, oklch, pack, unpack } from "../../src/color";
import { HATCH, palette, PALETTES, type KindLook } from "../../src/palette";

const CLASSES = ["p2p", "collective", "wait", "io", "rma", "mpi", "user", "disk", "other"];
const kinds: KindLook[] = Array.from({ length: 90 }, (_, nth) => ({
  name: `k${nth}`, color: `#${((nth * 2654435761) & 0xffffff).toString(16).padStart(6, "0")}`,
  class: CLASSES[nth % CLASSES.length] ?? "other", topology: "state",
}));
kinds.push({ name: "white", color: "#ffffff", class: "mpi", topology: "state" });

test("contrast as WCAG has it", () => {
  assert.ok(Math.abs(contrast(0, 0xffffff) - 21) < 1e-9);
  assert.ok(Math.abs(contrast(0x777777, 0xffffff) - 4.48) < 0.01);
  assert.equal(unpack(pack(0x123456)), 0x123456);
  assert.ok(Math.abs(luminance(oklch(1, 0, 0)) - 1) < 0.01);
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

test("by class a kind has one colour in every trace, and regions of one trace differ", () => {
  const kind = (name: string, of: string): KindLook => ({ name, color: "#000000", class: of, topology: "state" });
  const regions = ["assemble", "solve", "exchange", "output", "restart", "residual", "precondition", "norm"];
  const all = [...regions.map((name) => kind(name, "user")), ...["MPI_Recv", "MPI_Send", "MPI_Isend", "MPI_Irecv"].map((name) => kind(name, "p2p"))];
  for (const theme of ["light", "dark"] as const) {
    const whole = palette(all, "class", theme).fill;
    assert.equal(new Set(whole).size, all.length, `${theme}: all differ`);
    for (const [x, a] of whole.slice(0, 8).entries()) for (const [y, b] of whole.slice(0, 8).entries()) {
      if (x < y) assert.ok(difference(a, b) >= 2.5, `${theme}: ${regions[x]} and ${regions[y]}`);
    }
    // In another order, and a part of them, as an exported page has them.
    const turned = palette([...all].reverse(), "class", theme).fill.reverse();
    assert.deepEqual(turned, whole);
    for (const [nth, one] of all.entries()) assert.equal(palette([one], "class", theme, false, new Map(), regions).fill[0], whole[nth], `${theme} ${one.name}`);
  }
});

test("a colour that the reader chose is taken as it is", () => {
  assert.equal(palette(kinds, "class", "dark", false, new Map([[3, 0xabcdef]])).fill[3], 0xabcdef);
});

test("a class has the colour of what takes most of its time, and no two the same", () => {
  const state = (name: string, color: string, of: string, share: number): KindLook => ({ name, color, class: of, topology: "state", share, count: 1 });
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

test("by class: classes are told apart by every eye, and what the program does itself is quieter than what MPI does", () => {
  const usual: Record<string, string> = { p2p: "MPI_Send", collective: "MPI_Allreduce", wait: "MPI_Waitall", io: "MPI_File_write_at_all", rma: "MPI_Put", mpi: "MPI_Comm_split", user: "solve", disk: "pwrite" };
  const one = (name: string): KindLook => ({ name: usual[name] ?? name, color: "#000000", class: name, topology: "state" });
  for (const theme of ["light", "dark"] as const) {
    const names = ["p2p", "collective", "wait", "io", "rma", "mpi", "user", "disk"];
    const { fill, theme: { timeline } } = palette(names.map(one), "class", theme);
    for (const [eye, matrix] of [["every", null] as const, ...Object.entries(BLIND)]) {
      const seen = fill.map((color) => (matrix ? seenBy(matrix, color) : color));
      for (const [x, a] of names.entries()) for (const [y, b] of names.entries()) {
        // A region has any hue, and is paler than all else.
        if (x < y) assert.ok(difference(seen[x]!, seen[y]!) >= (a === "user" || b === "user" ? 9 : 15), `${theme}, ${eye} eye: ${a} and ${b}: ${difference(seen[x]!, seen[y]!).toFixed(1)}`);
      }
    }
    const user = contrast(fill[names.indexOf("user")]!, timeline);
    for (const name of ["p2p", "collective", "io"]) assert.ok(contrast(fill[names.indexOf(name)]!, timeline) > user, `${theme} ${name}`);
  }
});
