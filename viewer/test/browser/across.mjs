// What belongs to one trace, one window or one search does not get into another: names, tables, answers that come late, links.

import assert from "node:assert/strict";
import { Page, test } from "./harness.mjs";

export function across(chrome, { address, twoAddress, lateAddress, stepsAddress }) {
  /** The lines of the table of drawables, when it has some. */
  const listed = async (page) => {
    await page.own.locator(".panel-room tbody tr[data-nth]").first().waitFor();
    await page.true("nothing on its way", () => document.querySelector(".table-room.old") === null && document.querySelector(".busy.on") === null);
    return page.own.locator(".panel-room tbody tr[data-nth]").allTextContents();
  };

  test("names that are given in one trace are not those of another one that Undo goes back to", async () => {
    const page = await Page.open(chrome, twoAddress, "with=none&names=0:first");
    await page.own.getByLabel("Trace", { exact: true }).selectOption("1");
    await page.until((view) => view.trace === 1 && view.names.length === 0, "the other trace");
    await page.settled();
    await page.look("trace=1&with=none&names=2:second");
    await page.own.locator(".legend", { hasText: "second" }).waitFor();
    await page.own.locator("#timeline").focus();
    await page.press("u");
    await page.press("u");
    const { names } = await page.until((view) => view.trace === 0, "the first trace");
    assert.deepEqual(names, [["0", "first"]]);
    await page.close();
  });

  test("another trace that is chosen is shown with the same panel and tracks, and alone if the one before was", async () => {
    const page = await Page.open(chrome, twoAddress, "with=none&panel=timelines&tracks=ranks,messages");
    const choose = (trace) => page.own.getByLabel("Trace", { exact: true }).selectOption(trace);
    await choose("1");
    const shown = await page.until((view) => view.trace === 1, "the other trace");
    assert.deepEqual([shown.panel, shown.tracks, shown.other], ["timelines", ["ranks", "messages"], page.modules.url.NO_OTHER]);
    assert.equal(await page.own.locator("#other").count(), 0);
    await page.look("trace=1&with=0");
    await page.own.locator("#other").waitFor();
    await choose("0");
    await page.until((view) => view.trace === 0 && view.other !== page.modules.url.NO_OTHER, "both");
    await page.own.locator(".lower-head b", { hasText: "better.paje" }).waitFor();
    await page.close();
  });

  test("the table of drawables is that of the trace above after a change of places", async () => {
    const page = await Page.open(chrome, twoAddress, "panel=events&t=0.001~0.041");
    const before = await listed(page);
    await page.own.getByRole("button", { name: "swap" }).click();
    await page.until((view) => view.trace === 1, "swapped");
    await page.settled();
    await page.rest();
    const after = await listed(page);
    await page.close();
    const fresh = await Page.open(chrome, twoAddress, "trace=1&with=0&panel=events&t=0.001~0.041");
    const wanted = await listed(fresh);
    await fresh.close();
    assert.notDeepEqual(before, wanted);
    assert.deepEqual(after, wanted);
  });

  test("the picture of a trace is not shown as that of another one whose picture has not come yet", async () => {
    const page = await Page.open(chrome, twoAddress, "with=none&arrows=none&t=0.02~0.03");
    let isHeld = true;
    await page.own.route("**/t/1/picture?*", async (route) => {
      while (isHeld) await page.own.waitForTimeout(20);
      await route.continue();
    });
    // The columns of each timeline, between the lines of the time axis: computing and MPI_Allreduce.
    const colors = () => page.own.evaluate(() => {
      const canvas = document.getElementById("timeline");
      const context = canvas.getContext("2d");
      const at = (part) => context.getImageData(Math.round(part * canvas.width), Math.round(canvas.height * 0.05), 1, 1).data.join();
      return new Set([0.04, 0.33, 0.46, 0.93].map(at)).size;
    });
    assert.ok(await colors() > 1);
    const asked = page.own.waitForRequest("**/t/1/picture?*");
    await page.own.evaluate(() => void (location.hash = "trace=1&with=none&arrows=none&t=0.02~0.03"));
    await asked;
    await page.rest();
    assert.equal(await colors(), 1);
    isHeld = false;
    await page.settled();
    assert.ok(await colors() > 1);
    await page.close();
  });

  test("a search that is answered late selects nothing when another one has been made", async () => {
    const page = await Page.open(chrome, address, "with=none");
    let isHeld = true;
    await page.own.route(/\/search\?q=MPI_Finalize/, async (route) => {
      while (isHeld) await page.own.waitForTimeout(20);
      await route.continue();
    });
    const search = page.own.locator("#search");
    const late = page.own.waitForRequest(/\/search\?q=MPI_Finalize/);
    await search.fill("MPI_Finalize");
    await search.press("Enter");
    await late;
    await search.fill("MPI_Init");
    await search.press("Enter");
    await page.true("the hit", () => document.querySelector(".details h2")?.textContent === "MPI_Init");
    const answered = page.own.waitForResponse(/\/search\?q=MPI_Finalize/);
    isHeld = false;
    await answered;
    await page.rest();
    assert.equal(await page.own.locator(".details h2").textContent(), "MPI_Init");
    await page.close();
  });

  test("hits are marked in the strip where they are in the trace, also beside a longer one and where the strip has no shares", async () => {
    const context = await chrome.newContext({ viewport: { width: 1400, height: 900 } });
    await context.route("**/overview?*", (route) => route.fulfill({ status: 503, body: "busy" }));
    const page = await Page.open({ newContext: async () => context }, stepsAddress, "trace=2&with=1&theme=light&q=MPI_Send%7CMPI_Recv%7CMPI_Barrier%7Csolve");
    page.allowed.push(/^503 .*overview/);
    await page.own.locator(".search .link", { hasText: /\d/ }).waitFor();
    const [own, other] = await page.own.evaluate(() => Promise.all([2, 1].map(async (trace) => (await fetch(`t/${trace}/meta`)).json())));
    const end = (own.t1 - own.t0) / (other.t1 - other.t0);
    assert.ok(end < 0.5, `${end}`);
    await page.rest();
    const marked = await page.own.evaluate(() => {
      const canvas = document.getElementById("minimap");
      const { data } = canvas.getContext("2d").getImageData(0, canvas.height - 5, canvas.width, 1);
      const words = [...new Uint32Array(data.buffer)];
      // Ticks of hits are several pixels wide, lines of the axis are one.
      const isEmpty = words.map((word) => word === words[Math.floor(words.length * 0.85) + 7]);
      return words.map((_, x) => x).filter((x) => x > 20 && x < words.length - 20 && !isEmpty[x] && !isEmpty[x + 1]).map((x) => x / words.length);
    });
    assert.ok(marked.length > 0 && Math.max(...marked) < end + 0.02, `${marked.at(-1)} of ${end}`);
    await page.close();
  });

  test("of two clicks the later one is selected, though the earlier one is answered later", async () => {
    const W = { t0: 0.02, t1: 0.03 };
    const page = await Page.open(chrome, lateAddress, `t=${W.t0}~${W.t1}&arrows=none`);
    let isHeld = true;
    await page.own.route(/\/at\?.*timeline=0\b/, async (route) => {
      while (isHeld) await page.own.waitForTimeout(20);
      await route.continue();
    });
    // Each rank is in MPI_Allreduce until 25 ms.
    const [first, second] = [await page.point(0.0248, 0, W), await page.point(0.0247, 3, W)];
    const late = page.own.waitForRequest(/\/at\?.*timeline=0\b/);
    await page.own.mouse.click(first.x, first.y);
    await late;
    await page.own.mouse.click(second.x, second.y);
    await page.rest();
    isHeld = false;
    await page.until((view) => /^3\./.test(view.sel[0] ?? ""), "rank 3");
    await page.rest();
    assert.match(page.view().sel.join(), /^3\.[^~,]*$/);
    await page.close();
  });

  test("a link to a time that the trace has not says so and shows all", async () => {
    const page = await Page.open(chrome, lateAddress, "t=3~4");
    const { t0, t1 } = await page.ask("meta");
    await page.until((view) => view.t0 === t0 && view.t1 === t1, "all of the trace");
    await page.own.locator(".trouble", { hasText: "3.0000 – 4.0000\u202fs, where the trace has nothing" }).waitFor();
    await page.close();
  });

  test("a browser that was not given the token is told which address to open, and sees no trace without anything in it", async () => {
    for (const there of [twoAddress.replace(/#.*/, ""), twoAddress.replace(/k=\w+/, "k=00")]) {
      const context = await chrome.newContext();
      const own = await context.newPage();
      await own.goto(there);
      await own.getByRole("alert").filter({ hasText: "open the address that mpitrace view has printed" }).waitFor();
      assert.equal(await own.locator(".toolbar, .legend, #timeline").count(), 0);
      await context.close();
    }
  });
}
