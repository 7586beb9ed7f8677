// Takes the pictures of docs/viewer.md, of a made-up trace, so that they can be taken again.
//
//   node test/pictures.mjs [FOLDER] [NAME...]      default: docs/pictures; needs MPITRACE or target/release/mpitrace

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { browser, folder, Page, run, serve } from "./browser/harness.mjs";

const [out = join(dirname(fileURLToPath(import.meta.url)), "../../docs/pictures"), ...wanted] = process.argv.slice(2);

/** By name: ranks, size, what the address says, and what is done before. */
const pictures = {
  "view-summary": { ranks: 64, fragment: () => "panel=summary" },
  "view-close": {
    ranks: 64, fragment: (t0, t1) => `t=${t0 + (t1 - t0) * 0.5}~${t0 + (t1 - t0) * 0.54}&row=26&arrows=all&panel=stats`,
    act: async (page) => {
      const { x, y, width } = await page.box();
      await page.own.mouse.click(x + width * 0.42, y + 26 * 4.5);
      await page.own.mouse.move(x + width * 0.7, y + 26 * 6.5);
    },
  },
  "view-1000": { ranks: 1000, fragment: () => "panel=rows" },
  "view-heat": { ranks: 1000, fragment: (t0, t1) => `t=${t0}~${t0 + (t1 - t0) / 3}&mode=heat:KIND&theme=dark&panel=stats`, kind: "MPI_Allreduce" },
};

const chrome = await browser();
const traces = new Map();
for (const [name, { ranks, fragment, act, kind }] of Object.entries(pictures)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  if (!traces.has(ranks)) {
    const trace = join(folder, `run-${ranks}.slog2`);
    run("synth", "--ranks", String(ranks), "--drawables", String(ranks * 600), trace);
    traces.set(ranks, await serve(trace));
  }
  const { address } = traces.get(ranks);
  const page = await Page.open(chrome, address, "", { viewport: { width: 1440, height: 810 } });
  const { t0, t1, categories } = await page.ask("meta");
  await page.look(fragment(t0, t1).replace("KIND", String(categories.findIndex((one) => one.name === kind))));
  await act?.(page);
  await page.own.waitForTimeout(1000);
  await page.true("every panel has its answer", () => !document.body.innerText.includes("Reading…"));
  await page.settled();
  await page.own.waitForTimeout(500);
  await page.own.screenshot({ path: join(out, `${name}.png`) });
  await page.context.close();
}
await chrome.close();
for (const server of traces.values()) server.stop();
