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
      assert.equal(colors.pattern[nth] === HATCH, kind.class === "wait", where);
    });
  }
});

test("safe palettes: equal colours have different patterns until those are used up", () => {
  for (const name of ["safe", "grey"] as const) {
    const colors = palette(kinds.slice(0, 24), name, "light");
    const looks = kinds.slice(0, 24).flatMap((kind, nth) => (kind.class === "wait" ? [] : [`${colors.fill[nth]}/${colors.pattern[nth]}`]));
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
