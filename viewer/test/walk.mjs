// Measures the page on a trace: forty gestures by script in Chromium, frame times and the time until the exact picture.
//
//   node test/walk.mjs TRACE [--mpitrace PATH] [--size WxH] [--page DIR]
//
// Prints one line of JSON. Nothing is asserted: machines differ.

import { spawn } from "node:child_process";
import { chromium } from "playwright-core";

const [trace, ...rest] = process.argv.slice(2);
const option = (name, otherwise) => {
  const at = rest.indexOf(`--${name}`);
  return at >= 0 ? rest[at + 1] : otherwise;
};
if (!trace) throw new Error("which trace? node test/walk.mjs TRACE [--mpitrace PATH] [--size WxH] [--page DIR]");
const [width, height] = option("size", "1840x960").split("x").map(Number);
const page = option("page", null);
const server = spawn(option("mpitrace", "mpitrace"), ["view", "--no-open", ...(page ? ["--dev", page] : []), trace], {
  stdio: ["ignore", "pipe", "pipe"],
});
const ended = new Promise((_, fail) => server.once("exit", (code) => fail(new Error(`mpitrace view ended with ${code}`))));
ended.catch(() => undefined);
let browser;
try {
  const address = await Promise.race([ended, new Promise((found) => {
    let said = "";
    const read = (bytes) => {
      said += bytes;
      const match = /https?:\/\/\S+#k=\S+/.exec(said);
      if (match) found(match[0]);
    };
    server.stdout.on("data", read);
    server.stderr.on("data", read);
  })]);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
  const tab = await browser.newPage({ viewport: { width, height } });
  tab.on("pageerror", (error) => console.error(String(error)));
  const began = performance.now();
  const [before, token] = address.split("#");
  await tab.goto(`${before}?walk#${token}`);
  await tab.waitForFunction(() => document.querySelector("#timeline")?.dataset.drawn === "yes", null, { timeout: 60_000 });
  const first = performance.now() - began;
  await tab.waitForFunction(() => window.__walk, null, { timeout: 600_000, polling: 500 });
  console.log(JSON.stringify({ first_picture: Math.round(first), ...(await tab.evaluate(() => window.__walk)) }));
} finally {
  await browser?.close();
  server.kill("SIGINT");
}
