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
      const [fill, hatch] = [colors.fill[nth] ?? 0, colors.hatch[nth] ?? 0];
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
