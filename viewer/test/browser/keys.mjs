// Every key of the page's own table does what it says.

import assert from "node:assert/strict";
import { inOrder, ownModules, Page, test } from "./harness.mjs";

const [T0, T1] = [0.02, 0.03];
const W = `t=${T0}~${T1}`;
const near = (a, b, within = (T1 - T0) * 0.02) => Math.abs(a - b) < within;
const isWindow = (t0, t1) => (view) => near(view.t0, t0) && near(view.t1, t1);

/** A state of the middle of the run, and its timeline. */
async function someState(page, timeline = 3, t = 0.04) {
  return page.ask(`next?timeline=${timeline}&t=${t}&dir=1`);
}

/** A state that a message leaves or reaches. */
async function withMessage(page, dir) {
  for (let timeline = 0; timeline < 16; timeline++) {
    let at = await page.ask(`next?timeline=${timeline}&t=${T0}&dir=1`);
    for (let step = 0; step < 30 && at; step++) {
      const { partner } = await page.ask(`follow?ref=${encodeURIComponent(at.ref)}&dir=${dir}`);
      if (partner) return { at, partner };
      at = await page.ask(`next?ref=${encodeURIComponent(at.ref)}&dir=1`);
    }
  }
  throw new Error("no state with a message");
}

/** A call that waited for another rank. */
async function waiting(page) {
  let { hit } = await page.ask(`search?q=MPI_Allreduce&from=${T0}&dir=1`);
  for (let step = 0; step < 30 && hit && !hit.waits.length; step++) hit = await page.ask(`next?ref=${encodeURIComponent(hit.ref)}&dir=1`);
  if (!hit?.waits.length) throw new Error("no call that waited");
  return hit;
}

const focus = (id) => async (page) => page.true(`focus on ${id}`, (wanted) => document.activeElement?.id === wanted, id);

const cursorAt = (timeline) => (page) => page.true(`cursor on timeline ${timeline}`, (wanted) => document.querySelector(`.label-cursor[data-timeline="${wanted}"]`) !== null, timeline);

/** By action: where it begins (a fragment, or one made of the page), what comes before the key, and what must be true then. */
const CHECKS = {
  "zoom-in": { is: isWindow(0.0225, 0.0275) },
  "zoom-out": { is: isWindow(0.015, 0.035) },
  "pan-left": { is: isWindow(0.0175, 0.0275) },
  "pan-right": { is: isWindow(0.0225, 0.0325) },
  "pan-left-little": { is: isWindow(0.019, 0.029) },
  "pan-right-little": { is: isWindow(0.021, 0.031) },
  whole: { is: (view, { meta }) => near(view.t0, meta.t0) && near(view.t1, meta.t1) },
  begin: { is: (view, { meta }) => near(view.t0, meta.t0) && near(view.t1 - view.t0, T1 - T0) },
  end: { is: (view, { meta }) => near(view.t1, meta.t1) && near(view.t1 - view.t0, T1 - T0) },
  show: {
    from: async (page) => `${W}&sel=${(await someState(page, 3, 0.06)).ref}`,
    is: async (view, { page }) => {
      const { t0, t1 } = await someState(page, 3, 0.06);
      return view.t0 <= t0 && view.t1 >= t1 && near(view.t1 - view.t0, T1 - T0);
    },
  },
  "zoom-selection": {
    from: async (page) => `${W}&sel=${(await someState(page)).ref}`,
    is: async (view, { page }) => {
      const { t0, t1 } = await someState(page);
      return view.t0 <= t0 && view.t1 >= t1 && view.t1 - view.t0 < (t1 - t0) * 1.3;
    },
  },
  undo: { before: (page) => page.press("w").then(() => page.rest()), is: isWindow(T0, T1) },
  redo: { before: async (page) => { await page.press("w"); await page.rest(); await page.press("u"); await page.rest(); }, is: isWindow(0.0225, 0.0275) },

  "timeline-down": { before: (page) => page.press("ArrowDown"), done: cursorAt(1) },
  "timeline-up": { before: async (page) => { for (let n = 0; n < 3; n++) await page.press("ArrowDown"); }, done: cursorAt(1) },
  "page-down": { from: `${W}&height=60`, is: (view) => view.top >= 3 },
  "page-up": { from: `${W}&height=60&top=9`, is: (view) => view.top < 7 },
  "timelines-higher": { from: `${W}&height=20`, is: (view) => view.height > 25 },
  "timelines-lower": { from: `${W}&height=40`, is: (view) => view.height < 35 },
  "pin-timeline": { before: (page) => page.press("ArrowDown"), is: (view) => view.timelines === "pin:0" },
  "hide-timeline": { before: (page) => page.press("ArrowDown"), is: (view) => view.timelines === "hide:0" },
  "rename-timeline": {
    before: (page) => page.press("ArrowDown"),
    done: async (page) => {
      await page.own.locator(".labels .name-field").fill("the root, 100% of it");
      await page.own.keyboard.press("Enter");
      await page.true("the name", () => document.querySelector('.label[data-timeline="0"] .label-name')?.textContent === "the root, 100% of it");
    },
    is: (view) => JSON.stringify(view.names) === '[["0.0","the root, 100% of it"]]',
  },
  full: {
    before: (page) => page.press("ArrowDown"), is: (view) => view.full === "0",
    after: async (page) => { await page.press("q"); await page.until((view) => view.full === "", "no longer in full"); },
  },
  groups: { done: (page) => page.own.locator("dialog.groups textarea").waitFor(), after: (page) => page.press("Escape") },
  "next-map": { is: (view) => view.timelines.startsWith("map:1") },
  group: { tree: true, is: (view) => /fold:\d/.test(view.timelines) },
  collapse: { tree: true, before: (page) => page.press("ArrowDown"), is: (view) => /shut:n\d/.test(view.timelines) },
  expand: {
    tree: true, before: async (page) => { await page.press("ArrowDown"); await page.press("c"); await page.until((view) => view.timelines.includes("shut"), "shut"); await page.settled(); },
    is: (view) => !view.timelines.includes("shut"),
  },

  enter: { before: (page) => page.press("ArrowDown"), is: (view) => view.sel.length === 1 },
  next: { from: async (page) => `${W}&sel=${(await someState(page)).ref}`, is: async (view, { page }) => view.sel[0] === (await page.ask(`next?ref=${(await someState(page)).ref}&dir=1`)).ref },
  previous: { from: async (page) => `${W}&sel=${(await someState(page)).ref}`, is: async (view, { page }) => view.sel[0] === (await page.ask(`next?ref=${(await someState(page)).ref}&dir=-1`)).ref },
  sender: { from: async (page) => `${W}&sel=${(await withMessage(page, -1)).at.ref}`, is: async (view, { page }) => view.sel[0] === (await withMessage(page, -1)).partner.ref },
  cause: {
    from: async (page) => `${W}&sel=${(await waiting(page)).ref}`,
    is: async (view, { page }) => {
      const [wait] = (await waiting(page)).waits;
      return view.sel[0] === (wait.doing?.ref ?? wait.call);
    },
  },
  receiver: { from: async (page) => `${W}&sel=${(await withMessage(page, 1)).at.ref}`, is: async (view, { page }) => view.sel[0] === (await withMessage(page, 1)).partner.ref },
  "hide-kind": { from: async (page) => `${W}&sel=${(await someState(page)).ref}`, is: async (view, { page }) => view.hide.length === 1 && view.hide[0] === (await someState(page)).kind },
  keep: { from: async (page) => `${W}&sel=${(await someState(page)).ref}`, is: (view) => view.pins.length === 1 && view.panel === "pins" },
  note: {
    from: async (page) => `${W}&sel=${(await someState(page)).ref}`,
    done: async (page) => {
      await page.own.locator(".notes .name-field").fill("what is this");
      await page.own.keyboard.press("Enter");
    },
    is: async (view, { page }) => view.notes.length === 1 && view.notes[0].text === "what is this" && near(view.notes[0].t, (await someState(page)).t0),
  },
  range: { is: (view) => view.range !== null && near(view.range.t0, T0) && view.range.y1 === 16 },
  cancel: { from: `${W}&range=0.021~0.022~1~3`, is: (view) => view.range === null },

  search: { done: focus("search") },
  "next-hit": { from: `${W}&q=MPI_Waitall`, is: async (view, { page }) => (await nameOf(page, view.sel[0])) === "MPI_Waitall" },
  "previous-hit": { from: `${W}&q=MPI_Allreduce`, is: async (view, { page }) => (await nameOf(page, view.sel[0])) === "MPI_Allreduce" },

  arrows: { is: (view) => view.arrows === "all" },
  path: {
    is: (view) => view.path,
    after: async (page) => { await page.press("l"); await page.until((view) => !view.path, "no path"); },
  },
  tracks: {
    is: (view) => view.tracks?.join() === "ranks,messages,bytes,io",
    after: async (page) => { await page.press("j"); await page.until((view) => view.tracks?.length === 0, "no tracks"); },
  },
  align: {
    two: true, is: (view) => view.align === "phases",
    after: async (page) => { await page.press("A"); await page.until((view) => view.align === "", "by the begin"); },
  },
  mode: { is: (view) => view.mode === "rare" },
  theme: { done: (page) => page.true("dark", () => document.documentElement.dataset["theme"] === "dark"), from: `${W}&theme=light` },
  regions: {
    before: (page) => page.own.locator("#timeline").focus(),
    done: (page) => page.true("focus in the tabs", () => document.activeElement?.getAttribute("role") === "tab"),
  },
  link: {
    done: (page) => page.true("the link in the clipboard", async () => (await navigator.clipboard.readText()).includes("t=0.02~0.03")),
  },
  palette: { done: (page) => page.own.locator("dialog.commands input").waitFor(), after: (page) => page.press("Escape") },
  help: { done: (page) => page.own.locator("dialog.help").waitFor(), after: (page) => page.press("Escape") },
  tab: {
    before: (page) => page.own.locator("#timeline").focus(),
    done: (page) => page.true("the focus elsewhere", () => document.activeElement?.id !== "timeline" && document.activeElement !== document.body),
  },
};

async function nameOf(page, ref) {
  return ref ? (await page.ask(`ref?ref=${encodeURIComponent(ref)}`))?.name : null;
}

export async function keys(chrome, { address, treeAddress, twoAddress }) {
  const { keys: table, url } = await ownModules();
  for (const panel of url.PANELS) CHECKS[`panel-${panel}`] = { from: `${W}&panel=${panel === "pins" ? "io" : "pins"}`, is: (view) => view.panel === panel };
  inOrder(() => {
    const open = { flat: null, tree: null, two: null };
    for (const action of table.ACTIONS) {
      if (action.keys.length === 0) continue;
      test(`keys::${action.id}`, async () => {
        const check = CHECKS[action.id];
        assert.ok(check, `the table of keys has ${action.id}, but no test tries it`);
        const kind = check.tree ? "tree" : check.two ? "two" : "flat";
        open[kind] ??= await Page.open(chrome, { flat: address, tree: treeAddress, two: twoAddress }[kind], check.tree ? "timelines=map:3" : W, { permissions: ["clipboard-read", "clipboard-write"] });
        const page = open[kind];
        const meta = await page.ask("meta");
        for (const key of action.keys) {
          const from = typeof check.from === "function" ? await check.from(page) : (check.from ?? (check.tree ? "timelines=map:3" : W));
          // What is no part of a link, the cursor and what is measured, is taken away first.
          for (let nth = 0; nth < 4; nth++) await page.own.keyboard.press("Escape");
          await page.look(from);
          await check.before?.(page);
          await page.press(key);
          if (check.done) await check.done(page);
          if (check.is) {
            const end = Date.now() + 15_000;
            while (!(await check.is(page.view(), { page, meta }))) {
              if (Date.now() > end) throw new Error(`${key}: ${page.own.url()}`);
              await page.own.waitForTimeout(50);
            }
          }
          await check.after?.(page);
        }
      });
    }
    test("keys: no test is of a key that does not exist, and nothing failed", async () => {
      const unknown = Object.keys(CHECKS).filter((id) => !table.ACTIONS.some((one) => one.id === id && one.keys.length > 0));
      assert.deepEqual(unknown, []);
      for (const page of Object.values(open)) await page?.close();
    });
  });
}
