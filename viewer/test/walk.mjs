// Measures the page on a trace: forty gestures by script in Chromium, frame times and the time until the exact picture.
//
//   node test/walk.mjs TRACE [--mpitrace PATH] [--size WxH] [--page DIR]
//
// Prints one line of JSON. Nothing is asserted: machines differ. `ci/bench view` compares with what is to be reached.

import { pathToFileURL } from "node:url";
import { launch } from "./chromium.mjs";
import { serve } from "./served.mjs";

/** Walks over the trace that is served at this address. */
export async function walk(address, [width, height] = [1840, 960]) {
  const browser = await launch(process.getuid?.() === 0 ? ["--no-sandbox"] : []);
  try {
    const tab = await browser.newPage({ viewport: { width, height } });
    tab.on("pageerror", (error) => console.error(String(error)));
    const began = performance.now();
    const [before, token] = address.split("#");
    await tab.goto(`${before}?walk#${token}`);
    await tab.waitForFunction(() => document.querySelector("#timeline")?.dataset.drawn === "yes", null, { timeout: 60_000 });
    const first = performance.now() - began;
    await tab.waitForFunction(() => window.__walk, null, { timeout: 600_000, polling: 500 });
    return { first_picture: Math.round(first), ...(await tab.evaluate(() => window.__walk)) };
  } finally {
    await browser.close();
  }
}

async function main([trace, ...rest]) {
  const option = (name, otherwise) => {
    const at = rest.indexOf(`--${name}`);
    return at >= 0 ? rest[at + 1] : otherwise;
  };
  if (!trace) throw new Error("which trace? node test/walk.mjs TRACE [--mpitrace PATH] [--size WxH] [--page DIR]");
  const page = option("page", null);
  const server = await serve(option("mpitrace", "mpitrace"), trace, { arguments: page ? ["--dev", page] : [] });
  try {
    console.log(JSON.stringify(await walk(server.address, option("size", "1840x960").split("x").map(Number))));
  } finally {
    await server.stop();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main(process.argv.slice(2));
