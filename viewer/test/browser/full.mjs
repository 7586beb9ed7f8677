// One timeline in full: its call depths under one another, coupled with the timelines; and the heat table that leads there.

import assert from "node:assert/strict";
import { violations } from "./access.mjs";
import { Page, test } from "./harness.mjs";

/** Names of the call depths, as they stand beside them. */
const depths = (page) => page.own.locator(".in-full .label-name").allTextContents();

export function full(chrome, { address, deepAddress, lateAddress }) {
  test("a key shows a timeline in full, the link keeps it, Back and Escape leave it", async () => {
    const page = await Page.open(chrome, deepAddress);
    await page.own.locator("#timeline").focus();
    await page.press("ArrowDown");
    await page.press("q");
    await page.until((view) => view.full === "0", "rank 0 in full");
    await page.true("four call depths", () => document.querySelectorAll(".in-full .label-name").length === 4);
    assert.deepEqual(await depths(page), ["1 regions", "2 regions", "3 MPI, MPI-IO", "4 regions"]);
    await page.own.locator('#in-full[data-settled="yes"]').waitFor();
    assert.match(await page.own.locator("#in-full").getAttribute("aria-label"), /^Call depths of rank 0 in the same window: 1 regions; 2 regions; 3 MPI, MPI-IO; 4 regions\./);
    for (const theme of ["light", "dark"]) {
      await page.look(`full=0&theme=${theme}`);
      await page.own.locator('#in-full[data-settled="yes"]').waitFor();
      assert.deepEqual(await violations(page), [], theme);
    }
    // Zooming the one zooms the other.
    await page.own.locator("#timeline").focus();
    const before = page.view();
    await page.press("w");
    const after = await page.until((view) => view.t1 - view.t0 < 0.06, "zoomed");
    assert.ok(Number.isNaN(before.t0) || after.t1 - after.t0 < before.t1 - before.t0);
    await page.own.locator('#in-full[data-settled="yes"]').waitFor();
    await page.own.locator("#in-full").hover({ position: { x: 400, y: 10 } });
    await page.own.keyboard.down("Control");
    await page.own.mouse.wheel(0, -400);
    await page.own.keyboard.up("Control");
    await page.until((view) => view.t1 - view.t0 < 0.035, "the wheel over it zooms both");
    await page.press("Escape");
    await page.until((view) => view.full === "", "left");
    assert.equal(await page.own.locator(".in-full").count(), 0);
    await page.own.goBack();
    await page.until((view) => view.full === "0", "Back shows it again");
    await page.own.locator(".in-full .label-name").first().waitFor();
    await page.own.getByRole("region", { name: "rank 0 in full" }).getByRole("button", { name: "close" }).click();
    await page.until((view) => view.full === "", "closed");
    await page.true("the focus on the timelines", () => document.activeElement?.id === "timeline");
    await page.close();
  });

  test("what is clicked in full is selected in both, and found at its call depth", async () => {
    const page = await Page.open(chrome, deepAddress, "full=0&t=0.09~0.1");
    await page.true("four call depths", () => document.querySelectorAll(".in-full .label-name").length === 4);
    await page.own.locator('#in-full[data-settled="yes"]').waitFor();
    const { width, height } = await page.own.locator("#in-full").boundingBox();
    for (const [depth, name] of [[0, "solve"], [1, "exchange"], [2, "MPI_File_write_at"], [3, "pwrite64"]]) {
      await page.own.locator("#in-full").click({ position: { x: width * 0.6, y: (height * (depth + 0.5)) / 4 } });
      await page.own.locator(".details", { hasText: name }).waitFor();
      await page.true(`${name} is said`, (wanted) => document.querySelector(".in-full-hover")?.textContent.includes(wanted), name);
    }
    await page.own.locator("#in-full").dblclick({ position: { x: width * 0.6, y: (height * 2.5) / 4 } });
    await page.until((view) => Math.abs(view.t1 - view.t0 - 0.0025) < 1e-6, "zoomed to the call");
    await page.close();
  });

  test("what is below the pointer in full is told to be on the timeline in full", async () => {
    const page = await Page.open(chrome, deepAddress, "full=1&t=0.09~0.1");
    await page.own.locator('#in-full[data-settled="yes"]').waitFor();
    await page.true("two call depths", () => document.querySelectorAll(".in-full .label-name").length === 2);
    const { width, height } = await page.own.locator("#in-full").boundingBox();
    const position = { x: width * 0.3, y: height * 0.75 };
    await page.own.locator("#in-full").hover({ position });
    await page.own.locator(".in-full-hover", { hasText: "rank 1, MPI_Recv" }).waitFor();
    await page.own.locator("#in-full").click({ position });
    await page.true("it is said", () => document.querySelector(".said")?.textContent.startsWith("rank 1, MPI_Recv"));
    await page.close();
  });

  test("a label, a loss and a row of the table show a rank in full; one that is a group is none", async () => {
    const page = await Page.open(chrome, lateAddress);
    await page.own.locator(".label", { hasText: "rank 1" }).hover();
    await page.own.getByRole("button", { name: "rank 1 in full" }).click();
    await page.until((view) => view.full === "1", "by its label");
    await page.own.locator(".loss-full").first().click();
    await page.until((view) => view.full === "2", "the rank that the largest loss is due to");
    await page.own.locator(".in-full .lower-head b", { hasText: "rank 2" }).waitFor();
    await page.look("timelines=groups:all=0-");
    await page.true("one timeline", () => document.querySelectorAll(".labels .label").length === 1);
    await page.own.locator("#timeline").focus();
    await page.press("ArrowDown");
    // What is under the cursor is said first.
    await page.rest();
    await page.press("q");
    await page.true("no rank", () => document.querySelector(".said")?.textContent.startsWith("only a timeline of one rank"));
    await page.close();
  });

  test("timelines by another line map leave the timeline in full, whose key means another line there", async () => {
    const page = await Page.open(chrome, address, "full=2");
    await page.own.locator(".in-full").waitFor();
    await page.own.getByLabel("Timelines by").selectOption("1");
    await page.until((view) => view.timelines === "map:1" && view.full === "", "left");
    await page.close();
  });

  test("a timeline in full that the trace has not is told", async () => {
    const page = await Page.open(chrome, lateAddress, "full=77");
    page.allowed.push(/^400 .*levels/);
    assert.match(await page.own.locator(".in-full .wrong").textContent(), /expected some of the timelines 0 to 3/);
    await page.close();
  });

  test("a cell of the heat table searches for its category on its rank; cells are shares if that is wanted", async () => {
    const page = await Page.open(chrome, lateAddress, "panel=timelines");
    const table = page.own.locator('table[aria-label="Statistics by timeline"]');
    const cell = table.getByRole("button", { name: /search for MPI_Allreduce on rank 2$/ });
    await cell.waitFor();
    const seconds = await cell.textContent();
    assert.match(seconds, /ms$/);
    await page.own.getByLabel("cells").selectOption("share");
    await page.true("shares", () => /%$/.test(document.querySelector("button.cell")?.textContent ?? ""));
    await cell.click();
    await page.until((view) => view.query === 'category:"MPI_Allreduce" rank:2' && view.sel.length === 1, "searched, and the first one is selected");
    await page.true("8 hits", () => /^8$/.test(document.querySelector(".search button")?.textContent ?? ""));
    // Without a mouse: along the row from button to button.
    await table.locator("tbody tr[data-nth]").first().focus();
    await page.own.keyboard.press("ArrowRight");
    assert.match(await page.own.evaluate(() => document.activeElement?.className), /cell/);
    await page.own.keyboard.press("ArrowLeft");
    assert.equal(await page.own.evaluate(() => document.activeElement?.tagName), "TR");
    await page.close();
  });
}
