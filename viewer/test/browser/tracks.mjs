// Tracks above the timelines: against a run of which it is known when who waits.

import assert from "node:assert/strict";
import { Page, test } from "./harness.mjs";

/** Puts the pointer over the tracks at a time of the window. */
async function point(page, t, t0, t1, nth = 0) {
  const box = await page.own.locator("#tracks").boundingBox();
  await page.own.mouse.move(box.x + ((t - t0) / (t1 - t0)) * box.width, box.y + nth * 32 + 16);
}

export function tracks(chrome, { address, lateAddress, stepsAddress, twoAddress }) {
  /** The value beside a track of the trace above or below. */
  const value = (page, what, wanted, where) => page.true(`${what} ${wanted}`, ([start, of, name]) => document.querySelector(`.timeline${of} .track-value[data-track="${name}"]`)?.textContent.startsWith(start), [wanted, where, what]);

  test("a track says at the pointer how many ranks wait, are in MPI and in files", async () => {
    const page = await Page.open(chrome, lateAddress, "t=0~0.05");
    await page.own.locator("#tracks").waitFor();
    // Three wait for rank 2; all are in the call; all compute; rank 2 writes while the others wait.
    for (const [t, text] of [
      [0.0025, "3 waiting, 0 in MPI, 1 computing"], [0.0045, "0 waiting, 4 in MPI, 0 computing"], [0.007, "0 waiting, 0 in MPI, 4 computing"],
      [0.046, "3 waiting, 0 in MPI, 1 files, 0 computing"],
    ]) {
      await point(page, t, 0, 0.05);
      await page.true(text, (wanted) => document.querySelector('.track-value[data-track="ranks"]')?.textContent === wanted, text);
      await page.true("in full", (wanted) => document.querySelector(".tracks .timeline-tip")?.textContent.includes(`of 4 ranks ${wanted}`), text);
    }
    // Over the timelines, too.
    const { x, y } = await page.point(0.0025, 1, { t0: 0, t1: 0.05 });
    await page.own.mouse.move(x, y);
    await page.true("over a timeline", () => document.querySelector('.track-value[data-track="ranks"]')?.textContent.startsWith("3 waiting"));
    assert.match(await page.own.locator("#tracks").getAttribute("aria-label"), /ranks: .* waiting, .* computing in the mean/);
    await page.close();
  });

  test("the compared trace has the same tracks, read at the time below the pointer", async () => {
    const page = await Page.open(chrome, twoAddress, "t=0.001~0.041");
    await page.own.locator("#other-tracks").waitFor();
    // Rank 2 comes 4 ms after the begin of a step above, 2 ms below; all others 1 ms; all leave 5 ms after it.
    for (const [t, above, below] of [[0.0135, "3 waiting, 0 in MPI, 1 computing", "0 waiting, 4 in MPI, 0 computing"], [0.0115, "3 waiting, 0 in MPI, 1 computing", "3 waiting, 0 in MPI, 1 computing"]]) {
      await point(page, t, 0.001, 0.041);
      await value(page, "ranks", above, ":not(.lower)");
      await value(page, "ranks", below, ".lower");
    }
    const box = await page.own.locator("#other-tracks").boundingBox();
    await page.own.mouse.move(box.x + ((0.0135 - 0.001) / 0.04) * box.width, box.y + 16);
    await page.true("in full", () => document.querySelector(".lower .tracks .timeline-tip")?.textContent.includes("of 4 ranks 0 waiting, 4 in MPI"));
    assert.match(await page.own.locator("#other-tracks").getAttribute("aria-label"), /^Tracks of better\.paje over the window\. ranks: .* waiting/);
    // A drag moves both, as one over the timelines does.
    await page.own.mouse.down();
    await page.own.mouse.move(box.x + ((0.0035 - 0.001) / 0.04) * box.width, box.y + 16, { steps: 4 });
    await page.own.mouse.up();
    await page.until(({ t0 }) => Math.abs(t0 - 0.011) < 0.0005, "moved");
    await page.press("j");
    await page.own.locator(".lower .track-label").nth(1).waitFor();
    await page.press("j");
    await page.own.locator("#other-tracks").waitFor({ state: "hidden" });
    await page.close();
  });

  test("who waits in the compared trace is told when that is known, though its tracks were asked for before", async () => {
    const context = await chrome.newContext({ viewport: { width: 1400, height: 900 } });
    let isKnown = false;
    await context.route("**/t/1/waits", async (route) => (isKnown ? route.continue() : route.fulfill({ json: { ...(await (await route.fetch()).json()), state: "pending" } })));
    await context.route("**/t/1/tracks?*", async (route) => {
      const answer = await (await route.fetch()).json();
      await route.fulfill({ json: isKnown ? answer : { ...answer, use: { ...answer.use, waiting: null } } });
    });
    const page = await Page.open({ newContext: async () => context }, twoAddress, "t=0.001~0.041");
    await page.own.locator("#other-tracks").waitFor();
    await point(page, 0.0135, 0.001, 0.041);
    await value(page, "ranks", "4 in MPI or waiting", ".lower");
    isKnown = true;
    await value(page, "ranks", "0 waiting, 4 in MPI", ".lower");
    await page.close();
  });

  test("a quantity has one scale in both traces, and tracks are shifted as the timelines are", async () => {
    // A message in each step above, three below, in columns of the same length.
    const page = await Page.open(chrome, stepsAddress, "with=1&tracks=messages&t=0.0205~0.0405");
    await page.own.locator("#other-tracks").waitFor();
    const tops = (where) => page.own.locator(`.timeline${where} .track-top`).allTextContents();
    await page.true("known", () => document.querySelectorAll(".track-top").length === 2 && [...document.querySelectorAll(".track-top")].every((one) => one.textContent !== ""));
    const columns = (await page.ask("tracks?show=messages&t0=0.0205&t1=0.0405&w=512")).messages;
    const most = Math.max(...columns);
    await page.true("one scale", () => new Set([...document.querySelectorAll(".track-top")].map((one) => one.textContent)).size === 1);
    const [top] = await tops(":not(.lower)");
    const width = (await page.own.locator("#tracks").boundingBox()).width;
    // One message in a column of the width that the page asks for.
    const one = most * (2 ** Math.floor(Math.log2(width)) / 512);
    assert.equal(top, `${((3 * one) / 1000).toPrecision(3)}\u202fk/s`);
    await page.close();
    // Phase 3 begins at 25 ms above and at 41.5 ms below; MPI follows 5 and 6 ms later.
    const steps = await Page.open(chrome, stepsAddress, "with=1&align=phases&t=0.0205~0.0405");
    await steps.own.locator(".alignment", { hasText: "aligned by phase 3" }).waitFor();
    for (const [t, above, below] of [[0.0277, "0 waiting, 0 in MPI, 2 computing", "0 waiting, 0 in MPI, 2 computing"], [0.0305, "0 waiting, 2 in MPI", "0 waiting, 0 in MPI, 2 computing"], [0.0315, "0 waiting, 2 in MPI", "0 waiting, 2 in MPI"], [0.0336, "0 waiting, 0 in MPI, 2 computing", "0 waiting, 2 in MPI"]]) {
      await point(steps, t, 0.0205, 0.0405);
      await value(steps, "ranks", above, ":not(.lower)");
      await value(steps, "ranks", below, ".lower");
    }
    await steps.close();
  });

  test("tracks of a close window are those that its link shows in a page opened anew", async () => {
    // All ranks leave MPI_Allreduce at 5 ms, within a column of the tracks of the whole trace: in the window they compute.
    const link = "theme=light&t=0.00501~0.0052";
    const page = await Page.open(chrome, lateAddress, "theme=light");
    await page.true("the whole trace", () => document.querySelector('.track-value[data-track="ranks"]')?.textContent.includes("waiting"));
    await page.look(link);
    await page.true("the window", () => document.querySelector('.track-value[data-track="ranks"]')?.textContent === "mean 0 waiting, 0 in MPI, 4 computing");
    await page.rest();
    const colors = await page.own.evaluate(() => {
      const canvas = document.getElementById("tracks");
      const { data } = canvas.getContext("2d").getImageData(0, canvas.height - 4, canvas.width, 1);
      return [...new Set(new Uint32Array(data.buffer))].length;
    });
    assert.equal(colors, 1);
    await page.close();
  });

  test("means are those of the time that a trace has, not of the window beside it", async () => {
    const page = await Page.open(chrome, lateAddress, "t=0.085~0.095");
    // From 85 to 92 ms rank 1 waits for rank 3 until 90 ms, and is in MPI_Recv for two more; rank 3 sends for half a millisecond.
    const { use, columns } = await page.ask("tracks?show=ranks&t0=0.085&t1=0.095&w=1024");
    const waiting = (use.waiting.reduce((sum, one) => sum + one, 0) / columns) * (10 / 7);
    await page.true("the mean", (wanted) => document.querySelector('.track-value[data-track="ranks"]')?.textContent.startsWith(`mean ${wanted} waiting`), String(Number(waiting.toPrecision(2))));
    await point(page, 0.094, 0.085, 0.095);
    await page.true("beside the trace", () => document.querySelector('.track-value[data-track="ranks"]')?.textContent === "outside of the trace");
    await page.close();
  });

  test("tracks are chosen in the menu, and the link keeps them", async () => {
    const page = await Page.open(chrome, address);
    await page.own.locator(".menu summary").click();
    const boxes = page.own.locator(".menu input");
    assert.deepEqual(await page.own.locator(".menu label").allTextContents(), ["ranks", "messages/s", "bytes/s of messages", "bytes/s of files"]);
    await boxes.nth(2).check();
    await boxes.nth(0).uncheck();
    await page.until((view) => view.tracks?.join() === "bytes", "one track");
    assert.equal(await page.own.locator(".track-label").count(), 1);
    await page.press("Escape");
    assert.equal(await page.own.locator(".menu-items").isVisible(), false);
    // All bytes of all messages are those that the command counts.
    const { t0, t1 } = await page.ask("meta");
    const { bytes, columns } = await page.ask(`tracks?show=bytes&w=64`);
    const matrix = await page.ask("matrix");
    const all = bytes.reduce((sum, rate) => sum + rate, 0) * ((t1 - t0) / columns);
    const counted = matrix.cells.reduce((sum, [, , , moved]) => sum + moved, 0);
    assert.ok(Math.abs(all - counted) < 1e-4 * counted, `${all} ${counted}`);
    await page.rest();
    const hash = new URL(page.own.url()).hash.slice(1);
    await page.close();
    const again = await Page.open(chrome, address, hash);
    await again.own.locator(".track-label").waitFor();
    assert.match(await again.own.locator(".track-name").textContent(), /bytes/);
    await again.own.locator("#timeline").focus();
    for (const [wanted, count] of [["ranks,messages,bytes,io", 4], ["", 0], ["ranks", 1]]) {
      await again.press("j");
      await again.until((view) => view.tracks?.join() === wanted, wanted);
      await again.true(`${count} tracks`, (many) => document.querySelectorAll(".track-label").length === many, count);
    }
    await again.close();
  });

  test("a drag over the tracks selects a stretch of time on all timelines", async () => {
    const page = await Page.open(chrome, lateAddress, "t=0~0.05");
    await point(page, 0.01, 0, 0.05);
    await page.own.mouse.down();
    await point(page, 0.015, 0, 0.05);
    await point(page, 0.02, 0, 0.05);
    await page.own.mouse.up();
    // While it is dragged the address has shorter ones.
    const { range } = await page.until((view) => view.range !== null && Math.abs(view.range.t1 - 0.02) < 2e-4, "the range to its end");
    assert.ok(Math.abs(range.t0 - 0.01) < 2e-4, JSON.stringify(range));
    assert.deepEqual([range.y0, range.y1], [0, 4]);
    await page.close();
  });

  test("with the ranks as track the answer and the timeline are above the fold of a small screen", async () => {
    const page = await Page.open(chrome, lateAddress, "", { viewport: { width: 1024, height: 700 } });
    for (const selector of [".verdict-room", "#tracks"]) {
      const box = await page.own.locator(selector).boundingBox();
      assert.ok(box && box.y + box.height < 350, selector);
    }
    const timeline = await page.own.locator("#timeline").boundingBox();
    assert.ok(timeline.height >= 100 && timeline.y + timeline.height <= 700, JSON.stringify(timeline));
    await page.close();
  });
}
