// The tests of the page in Chromium, against the real command. Arguments name some of them.
//
//   node test/browser/run.mjs [NAME...]
//
// Needs viewer/dist (npm run build) and mpitrace (target/release, or MPITRACE).

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { access } from "./access.mjs";
import { across } from "./across.mjs";
import { alignment } from "./alignment.mjs";
import { causes } from "./causes.mjs";
import { comparison } from "./comparison.mjs";
import { flows } from "./flows.mjs";
import { browser, folder, run, runAll, serve } from "./harness.mjs";
import { file } from "./file.mjs";
import { full } from "./full.mjs";
import { deep, hostile, late, steps, tree } from "./traces.mjs";
import { keys } from "./keys.mjs";
import { pointer } from "./pointer.mjs";
import { polling } from "./polling.mjs";
import { own } from "./own.mjs";
import { requests } from "./requests.mjs";
import { sums } from "./sums.mjs";
import { tracks } from "./tracks.mjs";

const trace = join(folder, "run.slog2");
run("synth", "--ranks", "16", "--drawables", "20000", trace);
const paje = (name, text) => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
const servers = await Promise.all([serve(trace), serve(paje("tree.paje", tree())), serve(paje("hostile.paje", hostile())), serve(paje("late.paje", late())), serve(join(folder, "late.paje"), paje("better.paje", late(0.001))), serve(paje("deep.paje", deep())), serve(paje("ten.paje", steps(0.005, 0.01, 10)), paje("eight.paje", steps(0.0175, 0.012, 8, 3)), paje("two.paje", steps(0.005, 0.01, 2)))]);
const chrome = await browser();
const known = { trace, address: servers[0].address, treeAddress: servers[1].address, hostileAddress: servers[2].address, lateAddress: servers[3].address, twoAddress: servers[4].address, deepAddress: servers[5].address, stepsAddress: servers[6].address };
await keys(chrome, known);
await pointer(chrome, known);
flows(chrome, known);
causes(chrome, known);
comparison(chrome, known);
alignment(chrome, known);
tracks(chrome, known);
own(chrome, known);
full(chrome, known);
file(chrome, known);
sums(chrome, known);
access(chrome, known);
across(chrome, known);
requests(chrome, known);
polling(chrome, known);
const isRight = await runAll(process.argv.slice(2));
await chrome.close();
for (const server of servers) server.stop();
process.exit(isRight ? 0 : 1);
