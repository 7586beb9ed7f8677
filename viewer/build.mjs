// Bundles the page into dist/, which is committed: whoever installs the tool from source has no node. The same sources give
// the same bytes, so that CI can compare.
//
//   node build.mjs          dist/
//   node build.mjs --watch  dist/ again after each change, for `mpitrace view --dev viewer/dist`

import { context, build } from "esbuild";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");
/** Bytes that all of dist may have when compressed. */
const MOST = 150 * 1024;

const options = {
  absWorkingDir: here,
  entryPoints: { viewer: "src/main.tsx", style: "src/style.css" },
  outdir: "dist",
  bundle: true,
  format: "esm",
  target: ["chrome111", "firefox115", "safari16.4"],
  minify: true,
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
};

/** The licences of what is inside the bundle, each once. */
async function licences() {
  const parts = [];
  for (const name of ["preact", "@preact/signals", "@preact/signals-core"]) {
    const folder = join(here, "node_modules", name);
    const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    parts.push(`viewer.js contains ${name} ${version}:\n\n${(await readFile(join(folder, "LICENSE"), "utf8")).trim()}\n`);
  }
  return parts.join("\n\n");
}

await mkdir(dist, { recursive: true });
if (process.argv.includes("--watch")) {
  await copyFile(join(here, "index.html"), join(dist, "index.html"));
  await (await context(options)).watch();
} else {
  // All but what ci/build-wasm puts there.
  for (const name of await readdir(dist)) if (!name.endsWith(".wasm")) await rm(join(dist, name), { recursive: true });
  await build(options);
  for (const name of ["index.html", "icon.svg"]) await copyFile(join(here, name), join(dist, name));
  await writeFile(join(dist, "LICENSES.txt"), await licences());
  let total = 0;
  for (const name of ["index.html", "icon.svg", "style.css", "viewer.js"]) {
    const size = gzipSync(await readFile(join(dist, name)), { level: 9 }).length;
    console.log(`${name.padEnd(12)} ${String(size).padStart(7)} bytes gzipped`);
    total += size;
  }
  if (total > MOST) throw new Error(`dist has ${total} bytes gzipped, more than ${MOST}`);
}
