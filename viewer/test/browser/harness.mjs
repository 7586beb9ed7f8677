// What the tests of the page stand on: the real command serving real traces, one Chromium, and the page's own tables, bundled
// so that what is expected of keys is what the page does.

import { build } from "esbuild";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { launch } from "../chromium.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const viewer = join(here, "..", "..");
const root = join(viewer, "..");

/** The command: `MPITRACE`, else the one that cargo built for release. */
export const mpitrace = process.env.MPITRACE ?? join(root, "target", "release", "mpitrace");
if (!existsSync(mpitrace)) throw new Error(`${mpitrace} is not there: cargo build --release --bin mpitrace, or set MPITRACE`);

export const folder = mkdtempSync(join(tmpdir(), "viewer-"));
// Each server that is started ends with this process.
process.setMaxListeners(40);
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** What answers in exported pages. */
export const answers = join(viewer, "dist", "view.wasm");

/** Runs mpitrace and gives its output. */
export function run(...args) {
  return execFileSync(mpitrace, args, { encoding: "utf8", maxBuffer: 1 << 26, stdio: ["ignore", "pipe", "pipe"] });
}

/** Modules of the page. */
export async function ownModules() {
  const out = join(folder, "own.mjs");
  const lines = ["keys", "url", "spec", "axis"].map((name) => `export * as ${name} from ${JSON.stringify(join(viewer, "src", name))};`);
  await build({
    stdin: { contents: lines.join("\n"), resolveDir: viewer }, outfile: out, bundle: true, platform: "node", format: "esm",
    jsx: "automatic", jsxImportSource: "preact", logLevel: "warning",
  });
  return import(pathToFileURL(out).href);
}

/** Serves traces with the page as it was built last; ends with this process. */
export async function serve(...traces) {
  const server = spawn(mpitrace, ["view", "--no-open", "--dev", join(viewer, "dist"), ...traces], { stdio: ["ignore", "pipe", "pipe"] });
  process.on("exit", () => server.kill());
  let said = "";
  const address = await new Promise((found, fail) => {
    const hear = (part) => {
      said += part;
      const match = /http:\/\/\S+#k=\S+/.exec(said);
      if (match) found(match[0]);
    };
    server.stdout.on("data", hear);
    server.stderr.on("data", hear);
    server.once("exit", (code) => fail(new Error(`mpitrace view ended with ${code}: ${said}`)));
  });
  return { address, stop: () => server.kill() };
}

export async function browser() {
  return launch(["--no-sandbox", "--disable-gpu"]);
}

/** Milliseconds that something may take to come true on a busy machine. */
const PATIENCE = 20_000;

/** A page in a context of its own, that fails its test when its script fails or anything is refused. */
export class Page {
  static async open(chrome, address, fragment = "", options = {}) {
    const context = await chrome.newContext({ viewport: { width: 1400, height: 900 }, ...options });
    const page = new Page(context, await context.newPage(), await ownModules());
    await page.own.goto(fragment === "" ? address : `${address}${address.includes("#") ? "&" : "#"}${fragment}`);
    await page.settled();
    return page;
  }

  constructor(context, own, modules) {
    this.context = context;
    this.own = own;
    this.modules = modules;
    this.failures = [];
    this.allowed = [];
    own.on("pageerror", (error) => this.failures.push(`script: ${error.stack ?? error}`));
    own.on("console", (message) => {
      // Those of refused requests come without the address.
      if (message.type() === "error" && !message.text().startsWith("Failed to load")) this.failures.push(`console: ${message.text()}`);
    });
    own.on("response", (answer) => {
      if (answer.status() >= 400) this.failures.push(`${answer.status()} ${answer.url()}`);
    });
    own.on("dialog", (dialog) => {
      this.failures.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    own.setDefaultTimeout(PATIENCE);
  }

  async close() {
    const failures = this.failures.filter((text) => !this.allowed.some((pattern) => pattern.test(text)));
    await this.context.close();
    if (failures.length > 0) throw new Error(`the page failed: ${[...new Set(failures)].join("\n")}`);
  }

  /** Waits until the picture is that of the window. */
  async settled() {
    await this.own.waitForSelector('#timeline[data-settled="yes"]', { state: "attached" });
  }

  /** What the address says. */
  view() {
    return this.modules.url.decode(new URL(this.own.url()).hash);
  }

  /** Looks at what a fragment says, without loading the page again. */
  async look(fragment) {
    await this.rest();
    // A page that has much to do is told of it later, and shows it in the frame after.
    await this.own.evaluate((text) => new Promise((shown) => {
      const next = () => requestAnimationFrame(() => requestAnimationFrame(shown));
      const before = location.href;
      location.hash = text;
      if (location.href === before) next();
      else addEventListener("hashchange", next, { once: true });
    }), fragment);
    await this.rest();
    await this.settled();
    await this.own.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
  }

  /** Waits until the address has followed the view. */
  async rest() {
    await this.own.waitForTimeout(420);
  }

  /** Waits until the view is as `test` wants it. */
  async until(test, what) {
    const end = Date.now() + PATIENCE;
    for (;;) {
      const view = this.view();
      if (test(view)) return view;
      if (Date.now() > end) throw new Error(`${what}: the view stayed ${this.own.url().replace(/.*#/, "#")}`);
      await this.own.waitForTimeout(25);
    }
  }

  /** Waits until something in the page is true. */
  async true(what, test, argument) {
    await this.own.waitForFunction(test, argument, { polling: 50 }).catch(() => {
      throw new Error(`${what} did not come true`);
    });
  }

  /** What the server answers to a question about the first trace. */
  async ask(question) {
    return this.own.evaluate(async (asked) => {
      const answer = await fetch(`t/0/${asked}`);
      if (!answer.ok) throw new Error(`${asked}: ${answer.status} ${await answer.text()}`);
      return answer.json();
    }, question);
  }

  /** Presses a key as the table writes it. */
  async press(key) {
    const names = { "+": "Shift++", "?": "Shift+?", U: "Shift+U", P: "Shift+P", N: "Shift+N", A: "Shift+A", H: "Shift+H" };
    await this.own.keyboard.press(names[key] ?? key.replace("Ctrl+", "Control+"));
  }

  /** Where the picture is. */
  async box() {
    return (await this.own.locator("#timeline").boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  }

  /** The point of the screen of a time and a timeline in the window [t0, t1] with timelines of this height. */
  async point(t, timeline, { t0, t1 }) {
    const { x, y, width } = await this.box();
    const height = await this.own.locator(`.label[data-timeline="${timeline}"]`).first().boundingBox();
    return { x: x + ((t - t0) / (t1 - t0)) * width, y: height ? height.y + height.height / 2 : y };
  }
}

/** Lists of tests; those of a list run one after the other. */
const lists = [];

/** The list of tests that are being made, if they belong together. */
let together = null;

/** A test; its name is what holds. */
export function test(name, body) {
  if (together) together.push({ name, body });
  else lists.push([{ name, body }]);
}

/** Makes tests by `add` that run one after the other, as they share pages. */
export function inOrder(add) {
  together = [];
  lists.push(together);
  add();
  together = null;
}

/** So many tests run at a time: a page rests, most of the time. */
const AT_A_TIME = 4;

/** Runs all tests whose name contains one of the words given; prints as cargo does, so that they are counted alike. */
export async function runAll(words) {
  let [passed, failed] = [0, 0];
  const run = async ({ name, body }) => {
    const began = Date.now();
    try {
      await body();
      passed++;
      console.log(`test ${name} ... ok (${Date.now() - began} ms)`);
    } catch (error) {
      failed++;
      console.log(`${error.stack ?? error}\ntest ${name} ... FAILED`);
    }
  };
  const isWanted = ({ name }) => words.length === 0 || words.some((word) => name.includes(word));
  const waiting = lists.map((list) => list.filter(isWanted));
  const work = async () => {
    for (let list = waiting.shift(); list !== undefined; list = waiting.shift()) for (const one of list) await run(one);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  console.log(`test result: ${failed === 0 ? "ok" : "FAILED"}. ${passed} passed; ${failed} failed; 0 ignored`);
  return failed === 0 && passed > 0;
}
