// What the table says of the pointer: wheel, drags, clicks.

import assert from "node:assert/strict";
import { inOrder, ownModules, Page, test } from "./harness.mjs";

const W = { t0: 0.02, t1: 0.03 };
const FROM = `t=${W.t0}~${W.t1}`;
const length = ({ t0, t1 }) => t1 - t0;
const near = (a, b, within = length(W) * 0.03) => Math.abs(a - b) < within;

async function wheel(page, by, ...held) {
  const at = await page.point(0.025, 2, W);
  await page.own.mouse.move(at.x, at.y);
  for (const key of held) await page.own.keyboard.down(key);
  await page.own.mouse.wheel(0, by);
  for (const key of held) await page.own.keyboard.up(key);
}

/** Drags, and hesitates for so many milliseconds on the way. */
async function drag(page, from, to, { button = "left", held = [], hesitates = 0 } = {}) {
  await page.own.mouse.move(from.x, from.y);
  for (const key of held) await page.own.keyboard.down(key);
  await page.own.mouse.down({ button });
  await page.own.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 3 });
  if (hesitates > 0) await page.own.waitForTimeout(hesitates);
  await page.own.mouse.move(to.x, to.y, { steps: 3 });
  await page.own.mouse.up({ button });
  for (const key of held) await page.own.keyboard.up(key);
}

/** A state long enough to be clicked at in the window. */
async function longState(page, timeline) {
  let at = await page.ask(`next?timeline=${timeline}&t=${W.t0}&dir=1`);
  while (at && at.t1 - at.t0 < length(W) / 100) at = await page.ask(`next?ref=${encodeURIComponent(at.ref)}&dir=1`);
  assert.ok(at && at.t1 < W.t1, "a state to click at");
  const inside = await page.ask(`at?t=${(at.t0 + at.t1) / 2}&timeline=${timeline}&dt=0`);
  return { ref: inside.ref, t: (at.t0 + at.t1) / 2, found: inside };
}

/** An arrow between far timelines that takes long, so that nothing else lies at its middle. */
async function longArrow(page) {
  let best = null;
  for (const timeline of [0, 15]) {
    let at = await page.ask(`next?timeline=${timeline}&t=${W.t0}&dir=1`);
    for (let step = 0; step < 40 && at && at.t1 < W.t1; step++) {
      const { arrows } = await page.ask(`follow?ref=${encodeURIComponent(at.ref)}&dir=1`);
      for (const arrow of arrows) {
        const isLong = arrow.t1 < W.t1 && Math.abs(arrow.to.timeline - arrow.timeline) > 5;
        if (isLong && (best === null || arrow.t1 - arrow.t0 > best.t1 - best.t0)) best = arrow;
      }
      at = await page.ask(`next?ref=${encodeURIComponent(at.ref)}&dir=1`);
    }
  }
  assert.ok(best, "an arrow to click at");
  return best;
}

const CHECKS = {
  "wheel-timelines": async (page) => {
    await page.look(`${FROM}&height=60`);
    await wheel(page, 300);
    await page.until((view) => view.top > 1, "scrolled timelines");
  },
  "wheel-zoom": async (page) => {
    await wheel(page, -240, "Control");
    const view = await page.until((found) => length(found) < length(W) * 0.95, "zoomed in");
    assert.ok(near((view.t0 + view.t1) / 2, 0.025, length(W) * 0.1), "the time at the pointer stays");
  },
  "wheel-pan": async (page) => {
    await wheel(page, 240, "Shift");
    await page.until((view) => view.t0 > W.t0 && near(length(view), length(W)), "later");
  },
  "wheel-timeline-height": async (page) => {
    await page.look(`${FROM}&height=30`);
    await wheel(page, -240, "Alt");
    await page.until((view) => view.height > 31, "higher timelines");
  },
  "drag-range": async (page) => {
    // What is told of a range above the picture does not move it below the pointer, however late it is told.
    const late = (route) => setTimeout(() => route.continue().catch(() => {}), 1200);
    await page.own.route("**/verdict?*", late);
    const [from, to] = [await page.point(0.022, 2, W), await page.point(0.026, 6, W)];
    await drag(page, from, to, { hesitates: 600 });
    await page.own.unroute("**/verdict?*", late);
    // While it is dragged the address has shorter ones.
    const { range } = await page.until((view) => view.range !== null && near(view.range.t1, 0.026), "the range to its end");
    assert.ok(near(range.t0, 0.022) && range.y0 === 2 && range.y1 === 7, JSON.stringify(range));
    const inside = await page.point(0.024, 4, W);
    await page.own.mouse.dblclick(inside.x, inside.y);
    await page.until((view) => near(view.t0, range.t0) && near(view.t1, range.t1) && view.range === null, "double click zooms to the range");
  },
  "drag-measure": async (page) => {
    await drag(page, await page.point(0.022, 5, W), await page.point(0.026, 5, W), { held: ["Shift"] });
    await page.rest();
    assert.equal(page.view().range, null, "a measure is no selection");
    assert.ok(near(page.view().t0, W.t0) && near(page.view().t1, W.t1), "nor does it move anything");
  },
  "drag-pan": async (page) => {
    await drag(page, await page.point(0.026, 5, W), await page.point(0.022, 5, W), { button: "middle" });
    await page.until((view) => near(view.t0, W.t0 + 0.004) && near(view.t1, W.t1 + 0.004), "moved");
    await page.look(FROM);
    const { x, y, width } = await page.own.locator(".timeline-ruler").boundingBox();
    await drag(page, { x: x + width * 0.6, y: y + 10 }, { x: x + width * 0.2, y: y + 10 });
    await page.until((view) => near(view.t0, W.t0 + 0.004), "moved on the ruler");
  },
  "click-select": async (page) => {
    await page.look(`${FROM}&arrows=none`);
    const state = await longState(page, 4);
    const at = await page.point(state.t, 4, W);
    await page.own.mouse.click(at.x, at.y);
    await page.until((view) => view.sel[0] === state.ref, "selected");
    await page.true("its details", (name) => document.querySelector(".details h2")?.textContent === name, state.found.name);
    await page.look(`${FROM}&arrows=all`);
    const arrow = await longArrow(page);
    const [from, to] = [await page.point(arrow.t0, arrow.timeline, W), await page.point(arrow.t1, arrow.to.timeline, W)];
    await page.own.mouse.click((from.x + to.x) / 2, (from.y + to.y) / 2);
    await page.until((view) => view.sel[0] === arrow.ref, "an arrow");
  },
  "click-extend": async (page) => {
    const [first, second] = [await longState(page, 4), await longState(page, 7)];
    await page.look(`${FROM}&sel=${first.ref}`);
    const at = await page.point(second.t, 7, W);
    await page.own.keyboard.down("Shift");
    await page.own.mouse.click(at.x, at.y);
    await page.own.keyboard.up("Shift");
    const { range } = await page.until((view) => view.range !== null, "a range");
    assert.deepEqual([range.y0, range.y1], [4, 8]);
  },
  "click-add": async (page) => {
    const [first, second] = [await longState(page, 4), await longState(page, 7)];
    await page.look(`${FROM}&arrows=none&sel=${first.ref}`);
    const at = await page.point(second.t, 7, W);
    await page.own.keyboard.down("Control");
    await page.own.mouse.click(at.x, at.y);
    await page.own.keyboard.up("Control");
    const { sel } = await page.until((view) => view.sel.length === 2, "two selected");
    assert.deepEqual([...sel], [first.ref, second.ref]);
  },
  "double-click": async (page) => {
    const state = await longState(page, 4);
    const at = await page.point(state.t, 4, W);
    await page.own.mouse.dblclick(at.x, at.y);
    await page.until((view) => view.t0 <= state.found.t0 && view.t1 >= state.found.t1 && length(view) < (state.found.t1 - state.found.t0) * 1.6, "zoomed to the state");
  },
  minimap: async (page) => {
    const meta = await page.ask("meta");
    const { x, y, width, height } = await page.own.locator(".minimap canvas").boundingBox();
    const at = (t) => ({ x: x + ((t - meta.t0) / (meta.t1 - meta.t0)) * width, y: y + height / 2 });
    await drag(page, at(0.025), at(0.045));
    await page.until((view) => near(view.t0, 0.04, 0.001) && near(length(view), length(W)), "the frame was dragged");
    await page.look(FROM);
    await drag(page, at(W.t1), at(0.05));
    await page.until((view) => near(view.t0, W.t0, 0.001) && near(view.t1, 0.05, 0.001), "its edge was dragged");
  },
  "timeline-labels": async (page) => {
    const middle = async (timeline) => {
      const { x, y, height } = await page.own.locator(`.label[data-timeline="${timeline}"] .label-name`).boundingBox();
      return { x: x + 5, y: y + height / 2 };
    };
    const before = (await page.ask("timelines")).label;
    await drag(page, await middle(2), await middle(5));
    const { timelines } = await page.until((view) => /order:/.test(view.timelines), "another order");
    const { label } = await page.ask(`timelines?timelines=${encodeURIComponent(timelines)}`);
    assert.deepEqual(label.slice(0, 6), [0, 1, 3, 4, 2, 5].map((timeline) => before[timeline]));
  },
};

export async function pointer(chrome, { address, lateAddress }) {
  const { keys: table } = await ownModules();
  inOrder(() => {
    let page = null;
    for (const action of table.ACTIONS.filter((one) => one.pointer)) {
      test(`pointer::${action.id}`, async () => {
        assert.ok(CHECKS[action.id], `the table has ${action.id}, but no test tries it`);
        page ??= await Page.open(chrome, address, FROM);
        for (let nth = 0; nth < 4; nth++) await page.own.keyboard.press("Escape");
        await page.look(FROM);
        await CHECKS[action.id](page);
      });
    }
    test("pointer: no test is of what the table does not have, and nothing failed", async () => {
      assert.deepEqual(Object.keys(CHECKS).filter((id) => !table.ACTIONS.some((one) => one.id === id && one.pointer)), []);
      await page?.close();
    });
  });
  test("the verdict of the whole run that comes while a range is dragged does not move the picture below the pointer", async () => {
    const context = await chrome.newContext({ viewport: { width: 1400, height: 900 } });
    // Held back until it is let go.
    let hold = null;
    const asked = new Promise((found) => (hold = found));
    let isHeld = true;
    await context.route("**/summary*", (route) => (isHeld ? hold(route) : route.continue()));
    const page = await Page.open({ newContext: async () => context }, lateAddress, "t=0.02~0.03");
    const route = await asked;
    await page.own.locator(".verdict-room", { hasText: "Reading the trace" }).waitFor();
    const window = { t0: 0.02, t1: 0.03 };
    const [from, to] = [await page.point(0.022, 1, window), await page.point(0.026, 2, window)];
    const before = await page.box();
    await page.own.mouse.move(from.x, from.y);
    await page.own.mouse.down();
    await page.own.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 3 });
    const came = page.own.waitForResponse("**/summary*");
    isHeld = false;
    await route.continue();
    await (await came).finished();
    // Several frames, in which it would be shown.
    await page.own.evaluate(() => new Promise((done) => {
      let left = 10;
      const next = () => (--left === 0 ? done() : requestAnimationFrame(next));
      next();
    }));
    assert.deepEqual(await page.box(), before, "where the picture is");
    await page.own.mouse.move(to.x, to.y, { steps: 3 });
    await page.own.mouse.up();
    const { range } = await page.until((view) => view.range !== null && near(view.range.t1, 0.026, 1e-4), "the range to its end");
    assert.deepEqual([range.y0, range.y1], [1, 3]);
    await page.press("Escape");
    await page.own.locator(".verdict-room button.loss").first().waitFor();
    await page.close();
  });
}
