// Bundles the tests of what needs no browser and runs them by node's own runner. Arguments name some of them.
//
//   node test/run.mjs [NAME...]

import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "out");
const wanted = process.argv.slice(2);
const tests = readdirSync(join(here, "unit"))
  .filter((name) => name.endsWith(".test.ts") && (wanted.length === 0 || wanted.some((part) => name.includes(part))));
if (tests.length === 0) throw new Error(`no test is named ${wanted.join(", ")}`);

rmSync(out, { recursive: true, force: true });
await build({
  entryPoints: tests.map((name) => join(here, "unit", name)),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: "inline",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
});
const files = tests.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...files], { stdio: "inherit", cwd: join(here, "..") });
process.exit(status ?? 1);
