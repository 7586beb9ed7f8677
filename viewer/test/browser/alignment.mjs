// Two traces laid so that a phase, or a call, of both lies above the other: against steps of which it is known when they begin.

import assert from "node:assert/strict";
import { violations } from "./access.mjs";
import { Page, test } from "./harness.mjs";

/** Which hundredths of the width of a canvas are in a state, on rank 0. */
const busy = (page, id) => page.own.evaluate((name) => {
  const canvas = document.getElementById(name);
  const ratio = canvas.width / canvas.getBoundingClientRect().width;
  const label = canvas.closest(".timeline").querySelector(".labels-field .label").getBoundingClientRect();
  const y = (label.top + label.height / 4 - canvas.getBoundingClientRect().top) * ratio;
  const { data } = canvas.getContext("2d").getImageData(0, Math.round(y), canvas.width, 1);
  return Array.from({ length: 100 }, (_, part) => data[4 * Math.floor(((part + 0.5) / 100) * canvas.width)] < 0xd0);
}, id);

/** Where it becomes busy after it was not. */
const begins = (parts) => parts.flatMap((is, part) => (is && part > 0 && !parts[part - 1] ? [part] : []));

export function alignment(chrome, { stepsAddress, address }) {
  const words = (page) => page.own.locator(".alignment > span");
  const drawn = async (page) => {
    await page.settled();
    await page.own.waitForSelector('#other[data-settled="yes"]', { state: "attached" });
  };
  /** Waits until the rulers of both traces say this of their scales. */
  const rulers = (page, wanted) => page.true(`rulers: ${wanted}`, (all) => [".timeline:not(.lower)", ".timeline.lower"].every((of, nth) => document.querySelector(`${of} .timeline-ruler`)?.title === all[nth]), wanted);
  // Steps of 10 ms from 5 ms on above, of 12 ms from 17.5 ms on below.
  const W = "with=1&theme=light&arrows=none&colors=grey&t=0.0205~0.0305";

  test("aligned by phases, the phase at the left of the window begins at the same place in both; by the begin it does not", async () => {
    const page = await Page.open(chrome, stepsAddress, W);
    await drawn(page);
    assert.equal(await words(page).textContent(), "aligned by the begin of both");
    assert.deepEqual(begins(await busy(page, "timeline")), [45]);
    // The second step below begins at 29.5 ms.
    assert.deepEqual(begins(await busy(page, "other")), [90]);
    await page.own.getByLabel("Aligned by").selectOption("phases");
    await words(page).filter({ hasText: "aligned by phase 3: of 10 above, of 8 below" }).waitFor();
    await drawn(page);
    await page.own.waitForTimeout(400);
    assert.deepEqual(begins(await busy(page, "timeline")), [45]);
    const other = await busy(page, "other");
    assert.deepEqual(begins(other), [45]);
    // The step before ends 2.4 ms before it, in place of 2 ms.
    assert.deepEqual([20, 22].map((part) => other[part]), [true, false]);
    await page.true("said", () => document.querySelector(".said")?.textContent.includes("aligned by phase 3"));
    // The next phase comes to the left, and is the one that lies above its own.
    await page.look(`${W.replace("0.0205~0.0305", "0.026~0.046")}&align=phases`);
    await words(page).filter({ hasText: "aligned by phase 4: of 10 above" }).waitFor();
    await drawn(page);
    await page.own.waitForTimeout(400);
    assert.deepEqual(begins(await busy(page, "timeline"))[0], 45);
    assert.deepEqual(begins(await busy(page, "other"))[0], 45);
    await page.close();
  });

  test("a chosen phase, or the calls of a name, are kept by the link; swap keeps them", async () => {
    const page = await Page.open(chrome, stepsAddress, `${W}&align=phases`);
    const field = page.own.getByLabel(/^Number of the phase/);
    await field.fill("5");
    await page.own.keyboard.press("Enter");
    await words(page).filter({ hasText: "aligned by phase 5: of 10 above, of 8 below" }).waitFor();
    // It begins at 45 ms, and comes into the window.
    await page.until((view) => view.align === "phases" && view.nth === 5 && Math.abs(view.t0 - 0.044) < 1e-9 && Math.abs(view.t1 - 0.054) < 1e-9, "the number");
    await page.look(`${W}&align=phases&nth=5`);
    await page.rest();
    const hash = new URL(page.own.url()).hash.slice(1);
    await page.close();
    const again = await Page.open(chrome, stepsAddress, hash);
    await words(again).filter({ hasText: "aligned by phase 5: of 10 above, of 8 below" }).waitFor();
    await again.own.getByLabel("Aligned by").selectOption("name:MPI_Barrier");
    // Barriers begin at 10, 20, 30 ms above: the third is in the window.
    await words(again).filter({ hasText: "aligned by MPI_Barrier 3: of 10 on rank 0 above, of 8 on rank 0 below" }).waitFor();
    await again.until((view) => view.align === "name:MPI_Barrier" && view.nth === 0, "the name");
    await again.own.getByRole("button", { name: "swap" }).click();
    // The third barrier below begins at 17.5 + 24 + 6 = 47.5 ms, so the window is 17.5 ms later.
    await again.until(({ trace, other, align, t0 }) => trace === 1 && other === 0 && align === "name:MPI_Barrier" && Math.abs(t0 - 0.038) < 1e-6, "swapped");
    await words(again).filter({ hasText: "aligned by MPI_Barrier 3: of 8 on rank 0 above, of 10 on rank 0 below" }).waitFor();
    await again.close();
  });

  test("phases that are not in both are told, and the begins lie above each other; axe finds nothing", async () => {
    for (const theme of ["light", "dark"]) {
      const page = await Page.open(chrome, stepsAddress, `${W.replace("theme=light", `theme=${theme}`)}&align=phases&nth=9`);
      await words(page).filter({ hasText: "aligned by the begin: there is no phase 9 in both, as ten.paje has 10 phases and eight.paje has 8 phases" }).waitFor();
      await drawn(page);
      await page.own.waitForTimeout(400);
      if (theme === "light") assert.deepEqual([begins(await busy(page, "timeline")), begins(await busy(page, "other"))], [[45], [90]]);
      assert.deepEqual(await violations(page), [], theme);
      await page.look(`with=2&theme=${theme}&align=phases`);
      await words(page).filter({ hasText: "aligned by the begin: two.paje has no phases, since no main loop was found in it" }).waitFor();
      await page.look(`with=2&theme=${theme}&align=name:nowhere`);
      await words(page).filter({ hasText: "aligned by the begin: neither trace has calls of nowhere" }).waitFor();
      await page.close();
    }
  });

  test("a phase that is drawn as wide as above ends at the same place, too; the link keeps that", async () => {
    const page = await Page.open(chrome, stepsAddress, `${W.replace("0.0205~0.0305", "0.0205~0.0405")}&align=phases`);
    await words(page).filter({ hasText: "aligned by phase 3" }).waitFor();
    await drawn(page);
    await page.own.waitForTimeout(400);
    // Phases 3 and 4 begin 10 ms after each other above, 12 ms below.
    assert.deepEqual([begins(await busy(page, "timeline")), begins(await busy(page, "other"))], [[22, 72], [22, 82]]);
    await page.own.getByLabel("as wide").check();
    await words(page).filter({ hasText: /aligned by phase 3: of 10 above, of 8 below, which is 1\.20\s× as long below and drawn as wide/u }).waitFor();
    await page.until((view) => view.stretch, "stretched");
    await page.rest();
    const hash = new URL(page.own.url()).hash.slice(1);
    await page.close();
    const again = await Page.open(chrome, stepsAddress, hash);
    await words(again).filter({ hasText: "drawn as wide" }).waitFor();
    await drawn(again);
    await again.own.waitForTimeout(400);
    assert.deepEqual([begins(await busy(again, "timeline")), begins(await busy(again, "other"))], [[22, 72], [22, 72]]);
    assert.deepEqual(await violations(again), []);
    // Two scales then: the ruler of each says so, and both have the time below the pointer.
    await rulers(again, ["same width below: 1.20\u202f× the time", "same width above: 0.833\u202f× the time"]);
    const { x, y, width } = await again.box();
    await again.own.mouse.move(Math.round(x + width * 0.2), y + 10);
    await again.true("the pointer's time below", ([name, at]) => {
      const canvas = document.getElementById(name);
      const box = canvas.getBoundingClientRect();
      // The bottom is empty, but for the line.
      const { data } = canvas.getContext("2d").getImageData(0, canvas.height - 2, canvas.width, 1);
      const light = (left) => data[4 * Math.round((left - box.left) * (canvas.width / box.width))];
      return light(at) < light(at - 4) - 20;
    }, ["other", Math.round(x + width * 0.2)]);
    await again.own.getByLabel("as wide").uncheck();
    await rulers(again, ["", ""]);
    await again.close();
  });

  test("a range that is dragged above is drawn below at the times that lie under it, in its timelines and tracks", async () => {
    const page = await Page.open(chrome, stepsAddress, `${W.replace("0.0205~0.0305", "0.0205~0.0405")}&align=phases&stretch=on`);
    await words(page).filter({ hasText: "drawn as wide" }).waitFor();
    await drawn(page);
    await page.own.locator("#other-tracks").waitFor();
    /** Which tenths of the width are tinted with the colour of a selection: near the upper edge of both timelines of the canvas, or in the track. */
    const tinted = (id, parts) => page.true(`${id}: ${parts}`, ([name, wanted]) => {
      const canvas = document.getElementById(name);
      const context = canvas.getContext("2d");
      const labels = [...canvas.closest(".timeline").querySelectorAll(".labels-field .label")].slice(0, 2);
      const [ratio, top] = [canvas.width / canvas.getBoundingClientRect().width, canvas.getBoundingClientRect().top];
      const rows = name === "other-tracks" ? [6] : labels.map((label) => label.getBoundingClientRect().top + 2 - top);
      const found = rows.map((y) => Array.from({ length: 10 }, (_, part) => {
        const [red, , blue] = context.getImageData(Math.round(((part + 0.5) / 10) * canvas.width), Math.round(y * ratio), 1, 1).data;
        return blue - red > 20 ? part : "";
      }).join(""));
      return found.join() === wanted.join();
    }, [id, parts]);
    await tinted("other", ["", ""]);
    const [from, to] = [await page.point(0.0265, 0, { t0: 0.0205, t1: 0.0405 }), await page.point(0.0325, 0, { t0: 0.0205, t1: 0.0405 })];
    await page.own.mouse.move(from.x, from.y);
    await page.own.mouse.down();
    await page.own.mouse.move(to.x, to.y + 2, { steps: 4 });
    // While it is dragged, too.
    for (const [id, parts] of [["other", ["345", "345"]], ["other-tracks", ["345"]]]) await tinted(id, parts);
    await page.own.mouse.up();
    await page.until((view) => view.range !== null && Math.abs(view.range.t1 - 0.0325) < 2e-4, "the range to its end");
    await tinted("other", ["345", "345"]);
    // That of one rank is that of the same rank below, where others stand above it.
    await page.look(`${W.replace("0.0205~0.0305", "0.0205~0.0405")}&align=phases&timelines=order:1&range=0.0265~0.0325~0~1`);
    await tinted("other", ["", "345"]);
    await page.press("Escape");
    await tinted("other", ["", ""]);
    await page.close();
  });

  test("the key lays a compared trace by its begin, by phases, by the calls of what is selected", async () => {
    const page = await Page.open(chrome, stepsAddress, W);
    await drawn(page);
    const { ref } = await page.ask("next?timeline=0&t=0.026&dir=1");
    await page.look(`${W}&sel=${ref}`);
    await page.press("A");
    await page.until((view) => view.align === "phases", "phases");
    await page.press("A");
    await page.until((view) => view.align === "name:MPI_Barrier", "calls");
    await page.press("A");
    await page.until((view) => view.align === "", "the begin");
    await page.close();
    const alone = await Page.open(chrome, address);
    await alone.press("A");
    await alone.true("said", () => document.querySelector(".said")?.textContent.includes("no trace to be compared with"));
    await alone.close();
  });

  test("all of the other trace can be looked at, however it is laid", async () => {
    const page = await Page.open(chrome, stepsAddress, "with=1&align=phases&nth=1");
    await words(page).filter({ hasText: "aligned by phase 1" }).waitFor();
    await drawn(page);
    await page.own.locator("#timeline").focus();
    await page.press("0");
    // Its first step begins 12.5 ms later than above, so it begins 12.5 ms before the trace above.
    await page.until(({ t0 }) => Math.abs(t0 + 0.0125) < 1e-6, "from the begin of the other one");
    // Beside the strip, which has both in it, stands how long the trace is.
    const { t0, t1 } = await page.ask("meta");
    assert.equal(await page.own.locator(".minimap-label").textContent(), `whole trace${page.modules.axis.duration(t1 - t0)}`);
    await page.close();
  });
}
