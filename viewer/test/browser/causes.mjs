// What makes a run slow is seen, and three clicks from opening a trace: a late rank, a late sender, file accesses, small messages.

import assert from "node:assert/strict";
import { Page, test } from "./harness.mjs";

export function causes(chrome, { address, lateAddress }) {
  const follow = async (page, link) => {
    await link.waitFor();
    await link.click();
    await page.settled();
  };
  /** Clicks on a finding of the summary. */
  const finding = (page, about, text) => follow(page, page.own.locator(`[data-finding="${about}"] button.link`, { hasText: text }).first());
  /** Clicks on a loss above the picture. */
  const loss = (page, what, who) => follow(page, page.own.locator(".verdict-room button.loss").filter({ hasText: what }).filter({ hasText: who }));

  /** Clicks on a button of the details, and gives what is selected then. */
  const step = async (page, button) => {
    const [before] = page.view().sel;
    await page.own.locator(".details").getByRole("button", { name: button }).click();
    const { sel } = await page.until((view) => view.sel.length === 1 && view.sel[0] !== before, `what is behind ${button}`);
    return page.ask(`ref?ref=${encodeURIComponent(sel[0])}`);
  };

  test("three clicks: from the wait of all to the rank that came last and the file access that kept it", async () => {
    const page = await Page.open(chrome, lateAddress);
    await loss(page, "in MPI_Allreduce", "3 ranks wait for rank 2");
    const { timelines, sel } = await page.until((view) => view.sel.length === 1, "the call that waits");
    assert.match(timelines, /pin:[013],2\b/);
    assert.match((await page.ask(`ref?ref=${encodeURIComponent(sel[0])}`)).label, /^rank [013]$/);
    const last = await step(page, "last to come");
    assert.deepEqual([last.name, last.label], ["MPI_Allreduce", "rank 2"]);
    const cause = await step(page, "previous");
    assert.deepEqual([cause.name, cause.label], ["MPI_File_write_at", "rank 2"]);
    assert.ok(Math.abs(cause.t1 - cause.t0 - 0.004) < 1e-6);
    await page.close();
  });

  test("a selected range has its own efficiencies and losses, and one click leads back to those of the run", async () => {
    const page = await Page.open(chrome, lateAddress);
    const room = page.own.locator(".verdict-room");
    const text = (wanted) => page.true(wanted, (words) => document.querySelector(".verdict-room")?.textContent.replaceAll("\u202f", " ").includes(words), wanted);
    // As `mpitrace report` has it: all that ranks do not compute.
    await text("26.0 % waiting, 9.31 % other MPI, 1.10 % files");
    // Rank 1 waits all the time, the others compute.
    await page.look("range=0.08~0.09~0~4");
    for (const words of ["Range 0.08", "(10.00 ms)", "Parallel efficiency 75.0 %", "load balance 75.0 %", "25.0 % waiting", "late sender in MPI_Recv"]) await text(words);
    assert.equal(await room.locator("button.loss").count(), 1);
    // A loss of the range leads to its place, and the range stays.
    await room.locator("button.loss").click();
    const { range } = await page.until((view) => view.sel.length === 1, "the wait");
    assert.deepEqual([range.t0, range.t1], [0.08, 0.09]);
    await text("Parallel efficiency 75.0 %");
    // A range in which nobody is in a call.
    await page.look("range=0.0055~0.0095~0~4");
    for (const words of ["Parallel efficiency 100 %", "nobody waits for others"]) await text(words);
    await room.getByRole("button", { name: "whole run" }).click();
    await page.until((view) => view.range === null, "no range");
    await text("26.0 % waiting");
    await page.close();
  });

  test("a loss of a range that begins within its wait leads to the call that waits, and from there on", async () => {
    const page = await Page.open(chrome, lateAddress, "range=0.085~0.09~0~4");
    await page.true("the verdict of the range", () => document.querySelector(".verdict-room")?.textContent.includes("Range 0.085"));
    await loss(page, "in MPI_Recv", "rank 1 waits for rank 3");
    const { sel, range } = await page.until((view) => view.sel.length === 1, "the receive");
    const call = await page.ask(`ref?ref=${encodeURIComponent(sel[0])}`);
    assert.deepEqual([call.name, call.label, call.t0, range.t0], ["MPI_Recv", "rank 1", 0.08, 0.085]);
    await page.own.locator(".details h2", { hasText: "MPI_Recv" }).waitFor();
    const send = await step(page, "sender");
    assert.deepEqual([send.name, send.label], ["MPI_Send", "rank 3"]);
    await page.close();
  });

  test("three clicks: from the longest wait to the late sender and what it did before", async () => {
    const page = await Page.open(chrome, lateAddress);
    await loss(page, "in MPI_Recv", "rank 1 waits for rank 3");
    const { t0, t1 } = await page.until((view) => view.sel.length === 1, "the receive");
    assert.ok(t0 <= 0.08 && t1 >= 0.0919, "it is in view");
    const send = await step(page, "sender");
    assert.deepEqual([send.name, send.label], ["MPI_Send", "rank 3"]);
    const cause = await step(page, "previous");
    assert.deepEqual([cause.name, cause.label], ["assemble", "rank 3"]);
    await page.close();
  });

  test("a call says for whom it waited and what that one did; B goes there, and says so where nobody was waited for", async () => {
    const page = await Page.open(chrome, lateAddress);
    await loss(page, "in MPI_Recv", "rank 1 waits for rank 3");
    const { sel: [receive] } = await page.until((view) => view.sel.length === 1, "the receive");
    await page.true("the wait", () => document.querySelector(".details .waits")?.textContent?.includes("for rank 3, which was computing in assemble (late sender)"));
    // Until the message begins, at 90.2 ms, as the report has it.
    assert.match(await page.own.locator(".details .waits").textContent(), /^waiting 10\.20\sms of 12\.00\sms /u);
    await page.own.locator("#timeline").focus();
    await page.press("b");
    const { sel: [cause] } = await page.until((view) => view.sel.length === 1 && view.sel[0] !== receive, "the cause");
    const found = await page.ask(`ref?ref=${encodeURIComponent(cause)}`);
    assert.deepEqual([found.name, found.label, found.waits], ["assemble", "rank 3", []]);
    assert.equal(await page.own.locator(".details .waits").count(), 0);
    await page.press("b");
    await page.true("that it waited for nobody", () => document.body.textContent.includes("waited for nobody"));
    await page.own.goBack();
    await page.until((view) => view.sel[0] === receive, "the receive again");
    await page.close();
  });

  /** Colours of the canvas along a column of a timeline at a time, down to some pixels below its middle, as #rrggbb: above its letters, if nothing else is asked for. */
  const colorsAt = async (page, t, timeline, below = -10) => {
    const { x, y } = await page.point(t, timeline, await page.ask("meta"));
    const box = await page.box();
    return page.own.evaluate(([left, top, bottom]) => {
      const canvas = document.getElementById("timeline");
      const ratio = canvas.width / canvas.getBoundingClientRect().width;
      const { data } = canvas.getContext("2d").getImageData(Math.round(left * ratio), Math.round(top * ratio), 1, Math.round((bottom - top) * ratio));
      const colors = new Set();
      for (let at = 0; at < data.length; at += 4) colors.add(`#${[0, 1, 2].map((part) => data[at + part].toString(16).padStart(2, "0")).join("")}`);
      return [...colors];
    }, [x - box.x, y - box.y - 34, y - box.y + below]);
  };

  test("the waiting part of a call is hatched, the rest and calls that do not wait are plain; the legend says what hatching is", async () => {
    for (const theme of ["light", "dark"]) {
      const page = await Page.open(chrome, lateAddress, `theme=${theme}&arrows=none`);
      await page.own.locator(".wait-key", { hasText: /^hatched: waiting for another rank$/ }).waitFor();
      await page.settled();
      await page.true("the hatch", () => document.querySelector("#timeline")?.dataset.settled === "yes");
      await page.own.waitForTimeout(300);
      // Rank 1 waits in its MPI_Recv from 80 to 90 ms, of 92; rank 3 sends then, after it has assembled something; rank 2 comes last to the fifth MPI_Allreduce.
      assert.equal((await colorsAt(page, 0.0885, 1)).length, 2, theme);
      assert.equal((await colorsAt(page, 0.0912, 1)).length, 1, theme);
      assert.equal((await colorsAt(page, 0.0885, 3)).length, 1, theme);
      assert.equal((await colorsAt(page, 0.0462, 0)).length, 2, theme);
      assert.equal((await colorsAt(page, 0.0862, 0)).length, 1, theme);
      assert.equal((await colorsAt(page, 0.0485, 2)).length, 1, theme);
      await page.close();
    }
  });

  test("the critical path is a line through the ranks that others waited for, by a button, and stands in the link", async () => {
    const page = await Page.open(chrome, lateAddress, "theme=light&arrows=none");
    const button = page.own.getByRole("button", { name: "critical path" });
    assert.equal(await button.getAttribute("aria-pressed"), "false");
    const isOnPath = async (t, timeline) => (await colorsAt(page, t, timeline, 12)).includes("#c2185b");
    assert.equal(await isOnPath(0.02, 2), false);
    await button.click();
    await page.until((view) => view.path, "the path in the link");
    await page.own.locator(".wait-key", { hasText: /^critical path$/ }).waitFor();
    await page.own.waitForTimeout(600);
    // Rank 2 comes last to each of the eight MPI_Allreduce; the path ends on rank 0.
    for (const [t, timeline] of [[0.002, 2], [0.022, 2], [0.045, 2], [0.07, 2], [0.088, 0]]) assert.equal(await isOnPath(t, timeline), true, `${t} ${timeline}`);
    for (const [t, timeline] of [[0.022, 0], [0.022, 1], [0.022, 3], [0.088, 1], [0.088, 2], [0.088, 3]]) assert.equal(await isOnPath(t, timeline), false, `${t} ${timeline}`);
    await button.click();
    await page.until((view) => !view.path, "no path");
    await page.own.waitForTimeout(300);
    assert.equal(await isOnPath(0.022, 2), false);
    await page.close();
  });

  test("three clicks: from the I/O finding to the disk operations of a call", async () => {
    const page = await Page.open(chrome, address, "panel=summary");
    await finding(page, "io", "and the disk operations below");
    const { panel, sel } = await page.until((view) => view.sel.length === 1, "the call");
    assert.equal(panel, "io");
    const call = await page.ask(`ref?ref=${encodeURIComponent(sel[0])}`);
    assert.equal(call.class, "io");
    const rows = page.own.locator('table[aria-label="Disk operations of the call"] tbody tr[data-nth]');
    await rows.first().waitFor();
    await rows.first().click();
    const view = await page.until(({ sel: [now] }) => now !== undefined && now !== sel[0], "an operation");
    const operation = await page.ask(`ref?ref=${encodeURIComponent(view.sel[0])}`);
    assert.deepEqual([operation.class, operation.callid], ["disk", call.callid]);
    await page.close();
  });

  test("three clicks: from the hottest pair to its messages and their sizes", async () => {
    const page = await Page.open(chrome, address, "panel=summary");
    await finding(page, "communication", /^rank \d+ to rank \d+/);
    const { panel, timelines } = await page.until((view) => view.panel === "matrix", "the matrix");
    assert.equal(panel, "matrix");
    assert.match(timelines, /pin:\d+,\d+/);
    const pair = page.own.locator('table[aria-label="Messages between timelines"] tbody tr[data-nth]').first();
    await pair.waitFor();
    await pair.click();
    await page.until((view) => view.arrows === "all", "its arrows");
    const sizes = page.own.locator('table[aria-label="Sizes of messages"] tbody tr');
    await sizes.first().waitFor();
    assert.ok((await sizes.count()) > 0);
    await page.close();
  });
}
