// `ci/bench view`: how fast the viewer shows a large trace, from the start of the command and in the browser. Prints the table
// of docs/user/benchmarks.md; exit status 1 if a figure is not reached.
//
//   node test/bench.mjs DRAWABLES MPITRACE [TRACE]
//
// TRACE is used as it is; else one is made in the folder for temporary files, and removed.

import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, linkSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { serve } from "./served.mjs";
import { walk } from "./walk.mjs";

const [drawables, mpitrace, given] = process.argv.slice(2);
if (!/^\d+$/.test(drawables ?? "") || !mpitrace || !existsSync(mpitrace)) {
  console.error("usage: node test/bench.mjs DRAWABLES MPITRACE [TRACE]");
  process.exit(2);
}
/** Timelines of the trace. */
const RANKS = 10_000;
/** Drawables that the figures are for; with fewer they are only a look. */
const WHOLE = 100_000_000;
/** An iteration about a third into the trace; one has some ten drawables of each rank. */
const STEP = Math.floor(Number(drawables) / RANKS / 30);
/** The picture that the page asks for first, on a screen of 1840 x 960: each of its lines shows 16 ranks. */
const PICTURE = "picture?w=1500&timelines=block:16&most=50000&seq=1";
/** Milliseconds after which an index does not come any more. */
const BENCH_TIMEOUT_MS = 600_000;

const folder = mkdtempSync(join(tmpdir(), "bench-view-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

let isReached = true;
/** Prints a line of the table; `goal` is a most, or null. */
function row(what, figure, unit, goal, digits = 0) {
  const isGood = goal === null || figure <= goal;
  isReached &&= isGood;
  console.log(`| ${what} | ${figure.toFixed(digits)} ${unit} | ${goal === null ? "" : `at most ${goal} ${unit}`}${isGood ? "" : " **missed**"} |`);
}

/** Flags of a frame: 1 exact, 16 from the index. */
const flags = (frame) => frame.readUInt32LE(20);

/** The median of how long these questions take, each asked some times. */
async function times(server, questions, rounds = 5) {
  const found = [];
  for (let round = 0; round < rounds; round++) {
    for (const question of questions) found.push((await server.ask(question)).milliseconds);
  }
  found.sort((a, b) => a - b);
  return found[Math.floor(found.length / 2)];
}

/** A trace with nothing beside it that an earlier run has left. */
function trace() {
  const path = join(folder, "run.slog2");
  if (given) {
    try {
      linkSync(given, path);
    } catch {
      copyFileSync(given, path);
    }
  } else {
    const began = performance.now();
    execFileSync(mpitrace, ["synth", "--quiet", "--ranks", `${RANKS}`, "--drawables", drawables, "--leaf", "auto", path]);
    row("synth makes the trace", (performance.now() - began) / 1e3, "s", null, 1);
  }
  // So that it is read from memory: what disks do is not what is measured.
  execFileSync("cat", [path], { stdio: ["ignore", "ignore", "inherit"] });
  return path;
}

/** Where it would keep an index that has no place beside the trace: no other run is to find it. */
const environment = { XDG_CACHE_HOME: folder };

/** From the start of the command, without index: the first picture, then the index beside it, then the exact one. */
async function without(path) {
  const server = await serve(mpitrace, path, { environment });
  const since = () => performance.now() - server.began;
  await server.ask(PICTURE);
  row("from the start of the command to the first picture", since(), "ms", 500);
  let [index, last] = [(await server.json("meta")).index, -1];
  if (index.state === "none") {
    await server.stop();
    console.log("| so small that it is read for every picture: no index | | |");
    return;
  }
  while (index?.state !== "ready" && since() < BENCH_TIMEOUT_MS) {
    await new Promise((done) => setTimeout(done, 20));
    index = (await server.json("meta")).index;
    last = index.percent;
  }
  if (index?.state !== "ready") throw new Error(`no index after ${BENCH_TIMEOUT_MS / 1e3} s, at ${last} %`);
  const seconds = since() / 1e3;
  const frame = (await server.ask(PICTURE)).body;
  if ((flags(frame) & 17) === 0) throw new Error("a picture that is not of all drawables, with an index");
  row("to a picture of all drawables, without index", since() / 1e3, "s", 3, 2);
  row("the index: drawables a second", (await server.json("meta")).drawables / seconds / 1e6, "million", null, 1);
  // It is written when it is already used.
  let kept;
  while (!(kept = readdirSync(folder).find((name) => name.endsWith(".idx"))) && since() < BENCH_TIMEOUT_MS) {
    await new Promise((done) => setTimeout(done, 100));
  }
  await server.stop();
  if (!kept) throw new Error("the index was not kept");
  row("memory beyond mapped pages while it is made", server.memory / 2 ** 20, "MiB", 512);
  row("the index as a file", statSync(join(folder, kept)).size / 1e6, "MB", null);
}

/** With the index that is kept: pictures, searches, tables, and the walk. */
async function indexed(path) {
  const server = await serve(mpitrace, path, { environment });
  const frame = (await server.ask(PICTURE)).body;
  const milliseconds = performance.now() - server.began;
  if ((flags(frame) & 17) === 0) throw new Error("the index that was kept is not used");
  row("from the start of the command to the picture of all drawables, with index", milliseconds, "ms", 500);
  row("that picture again", await times(server, [PICTURE]), "ms", null);
  const { t0, t1 } = await server.json("meta");
  const part = (share) => [0.11, 0.37, 0.52, 0.83].map((at) => {
    const from = t0 + at * (t1 - t0);
    return `${PICTURE}&t0=${from}&t1=${from + share * (t1 - t0)}`;
  });
  row("a tenth of the time", await times(server, part(0.1)), "ms", null);
  row("a thousandth of it", await times(server, part(1e-3)), "ms", null);
  // What there is once for each rank. One that is decided by values may take several answers.
  const one = async (query, dir) => {
    const asked = `search?dir=${dir}&q=${encodeURIComponent(query)}`;
    const began = performance.now();
    let nodes = 0;
    for (let from = ""; ;) {
      const answer = await server.json(`${asked}${from}`);
      nodes += answer.nodes;
      if (answer.hit) return [performance.now() - began, nodes];
      if (answer.from === null) throw new Error(`no hit of ${query}`);
      from = `&from=${answer.from}`;
    }
  };
  for (const [query, dir, goal] of [["MPI_Finalize rank:7341", 1, 100], ["MPI_Init rank:2718", -1, 100], [`iteration rank:4711 step=${STEP}`, 1, null]]) {
    await one(query, dir);
    const [milliseconds, nodes] = await one(query, dir);
    row(`search finds one state, ${query}${dir < 0 ? ", backwards" : ""}, reading ${nodes} nodes`, milliseconds, "ms", goal);
  }
  for (const question of ["overview", "stats", "matrix", "summary"]) {
    row(`answer: ${question} of everything`, await times(server, [question], 2), "ms", null);
  }
  const found = await walk(server.address);
  row("browser: first picture", found.first_picture, "ms", null);
  row("browser: 40 gestures, frame, 95 %", found.frame.p95, "ms", 33, 1);
  row("browser: 40 gestures, until exact, median", found.settle.median, "ms", 80, 1);
  row("browser: 40 gestures, until exact, 95 %", found.settle.p95, "ms", 200, 1);
  await server.stop();
  row("memory beyond mapped pages meanwhile", server.memory / 2 ** 20, "MiB", 512);
}

/** All that the page loads, as a network would carry it: not what exported pages have inside. */
function page() {
  const dist = join(dirname(fileURLToPath(import.meta.url)), "..", "dist");
  const files = readdirSync(dist).filter((name) => !name.endsWith(".wasm")).map((name) => join(dist, name));
  const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(file), { level: 9 }).length, 0);
  row("the page, gzip", bytes / 1024, "KB", 150);
}

console.log("| what | figure | to reach |\n|---|---:|---:|");
const path = trace();
row(`the trace, ${RANKS} lines`, statSync(path).size / 1e9, "GB", null, 2);
await without(path);
await indexed(path);
page();
if (Number(drawables) < WHOLE && !given) console.log(`\nThe figures are for ${WHOLE / 1e6} million drawables.`);
console.log(isReached ? "\nall figures reached" : "\nNOT all figures reached");
process.exit(isReached ? 0 : 1);
