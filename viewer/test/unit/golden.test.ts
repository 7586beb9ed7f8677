// Pictures of the original's own files, byte for byte those of the painter that looks at each pixel anew. Needs the answers as
// WebAssembly (VIEW_WASM, made by ci/build-wasm); without them it says so.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { paint, type Shot } from "../../src/painter";
import { palette, type KindLook } from "../../src/palette";
import { decode } from "../../src/frame";
import { pixel } from "./brute";
import { skipped } from "./skipped";

/** The repository, for the tests run bundled, from viewer/ or from there. */
const root = [process.cwd(), resolve(process.cwd(), "..")].find((folder) => existsSync(join(folder, "ci/build-wasm"))) ?? ".";
const wasm = process.env["VIEW_WASM"] ? resolve(root, process.env["VIEW_WASM"]) : join(root, "viewer/dist/view.wasm");
const folder = join(root, "tests/golden/mpe");
const missing = existsSync(wasm) ? false : skipped(`${wasm} is not there: ci/build-wasm`);

interface Own {
  ask(question: string): Promise<ArrayBuffer>;
}

/** Opens a trace as an exported page does. */
function open(trace: Buffer): Own {
  const texts: Record<string, string> = { answers: readFileSync(wasm).toString("base64"), trace: trace.toString("base64"), names: "", waits: "" };
  const page: { __trace?: Own } = {};
  const found = { getElementById: (id: string) => ({ textContent: texts[id], dataset: { name: "golden.slog2" } }) };
  new Function("window", "document", readFileSync(join(root, "crates/mpitrace/src/view/page.js"), "utf8"))(page, found);
  assert.ok(page.__trace);
  return page.__trace;
}

test("pictures of the original's files", { skip: missing }, async () => {
  const json = async <T>(own: Own, question: string) => JSON.parse(new TextDecoder().decode(await own.ask(question))) as T;
  const files = readdirSync(folder).filter((name) => name.endsWith(".slog2"));
  assert.ok(files.length > 10, `${files.length} files`);
  let [pictures, states] = [0, 0];
  for (const [nth, name] of files.entries()) {
    const trace = readFileSync(join(folder, name));
    if (trace.length > 2 << 20) continue;
    const own = open(trace);
    const { t0, t1, categories } = await json<{ t0: number; t1: number; categories: KindLook[] }>(own, "meta");
    const { count } = await json<{ count: number }>(own, "timelines");
    if (!(t1 > t0) || count === 0) continue;
    const timelines = Math.min(count, 12);
    const colors = palette(categories, (["file", "class", "safe", "grey"] as const)[nth % 4] ?? "file", nth % 2 ? "dark" : "light");
    const mode = (["dominant", "stack"] as const)[nth % 2] ?? "dominant";
    for (const [from, to, timelineHeight] of [[0, 1, 17], [0.3, 0.55, 3.5]] as const) {
      const [a, b] = [t0 + (t1 - t0) * from, t0 + (t1 - t0) * to];
      const frame = decode(await own.ask(`picture?t0=${a}&t1=${b}&w=120&y0=0&y1=${timelines}&mode=${mode}&max=5000`));
      const shot: Shot = { width: 120, height: Math.ceil(timelines * timelineHeight), timelineHeight, unit: 1, mode, merged: () => false };
      const target = new Uint32Array(shot.width * shot.height);
      paint(frame, colors, shot, target);
      for (let at = 0; at < target.length; at++) {
        const [x, y] = [at % shot.width, Math.floor(at / shot.width)];
        const expected = pixel(frame, colors, shot, x, y);
        if (target[at] !== expected) assert.equal(target[at]?.toString(16), expected.toString(16), `${name} ${from}: ${x},${y}`);
      }
      pictures++;
      states += frame.states?.start.length ?? 0;
    }
  }
  assert.ok(pictures > 20 && states > 100, `${pictures} pictures with ${states} states`);
  console.log(`${pictures} pictures with ${states} states are the same`);
});
