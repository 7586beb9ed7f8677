// One action asks once: no question goes to the server twice for what was clicked, pressed or chosen.

import assert from "node:assert/strict";
import { Page, test } from "./harness.mjs";

const W = { t0: 0.02, t1: 0.03 };
const FROM = `t=${W.t0}~${W.t1}`;

/** The questions that are asked while `action` runs and until the page has rested. */
async function asked(page, action) {
  const questions = [];
  const hear = (request) => {
    const route = /\/t\/\d+\/(.*)$/.exec(request.url())?.[1];
    if (route) questions.push(route);
  };
  page.own.on("request", hear);
  await action();
  await page.rest();
  await page.settled();
  page.own.off("request", hear);
  return questions;
}

const of = (questions, route) => questions.filter((question) => question.startsWith(`${route}?`));

function eachOnce(questions) {
  const twice = questions.filter((question, nth) => questions.indexOf(question) !== nth);
  assert.deepEqual(twice, [], "asked twice");
}

/** A state long enough to be clicked at in the window, on a timeline. */
async function longState(page, timeline) {
  let at = await page.ask(`next?timeline=${timeline}&t=${W.t0}&dir=1`);
  while (at && at.t1 - at.t0 < (W.t1 - W.t0) / 100) at = await page.ask(`next?ref=${encodeURIComponent(at.ref)}&dir=1`);
  assert.ok(at && at.t1 < W.t1, "a state to click at");
  return page.ask(`at?t=${(at.t0 + at.t1) / 2}&timeline=${timeline}&dt=0`);
}

export function requests(chrome, { address }) {
  test("a click on a state asks once what is there, and nothing more to select it", async () => {
    const page = await Page.open(chrome, address, FROM);
    await page.look(`${FROM}&height=30`);
    const state = await longState(page, 2);
    const place = await page.point((state.t0 + state.t1) / 2, 2, W);
    const questions = await asked(page, async () => {
      await page.own.mouse.move(place.x, place.y);
      await page.own.locator(".timeline-tip").waitFor();
      await page.own.mouse.click(place.x, place.y);
      await page.until((view) => view.sel[0] === state.ref, "the state");
      await page.true("its details", (name) => document.querySelector(".details h2")?.textContent === name, state.name);
    });
    eachOnce(questions);
    assert.equal(of(questions, "at").length, 1, questions.join("\n"));
    assert.equal(of(questions, "ref").length, 0, questions.join("\n"));
    await page.close();
  });

  test("a key that selects the next state asks for it once", async () => {
    const page = await Page.open(chrome, address, FROM);
    const state = await longState(page, 2);
    await page.look(`${FROM}&height=30&sel=${state.ref}`);
    await page.own.locator("#timeline").focus();
    const questions = await asked(page, async () => {
      await page.press(".");
      await page.until((view) => view.sel.length === 1 && view.sel[0] !== state.ref, "the next state");
    });
    eachOnce(questions);
    assert.equal(of(questions, "next").length, 1, questions.join("\n"));
    assert.equal(of(questions, "ref").length, 0, questions.join("\n"));
    await page.close();
  });

  test("a filter of the timelines asks once for them", async () => {
    const page = await Page.open(chrome, address, FROM);
    const filter = page.own.locator(".labels-filter");
    await filter.fill("0-7");
    const questions = await asked(page, async () => {
      await filter.press("Enter");
      await page.until((view) => view.timelines === "only:0-7", "the timelines");
    });
    eachOnce(questions);
    assert.equal(of(questions, "timelines").length, 1, questions.join("\n"));
    await page.close();
  });

  test("a finding asks once for what it leads to", async () => {
    const page = await Page.open(chrome, address, "panel=summary");
    const place = page.own.locator(".finding li button.link").first();
    await place.waitFor();
    const questions = await asked(page, () => place.click());
    eachOnce(questions);
    await page.close();
  });
}
