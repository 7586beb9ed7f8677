// Three clicks from opening a trace to what makes the run slow: a late rank, a late sender, file accesses, small messages.

import assert from "node:assert/strict";
import { Page, test } from "./harness.mjs";

export function causes(chrome, { address, lateAddress }) {
  /** Clicks on a finding of the summary. */
  const finding = async (page, about, text) => {
    const link = page.own.locator(`[data-finding="${about}"] button.link`, { hasText: text }).first();
    await link.waitFor();
    await link.click();
    await page.settled();
  };

  /** Clicks on a button of the details, and gives what is selected then. */
  const step = async (page, button) => {
    const [before] = page.view().sel;
    await page.own.locator(".details").getByRole("button", { name: button }).click();
    const { sel } = await page.until((view) => view.sel.length === 1 && view.sel[0] !== before, `what is behind ${button}`);
    return page.ask(`ref?ref=${encodeURIComponent(sel[0])}`);
  };

  test("three clicks: from the wait of all to the rank that came last and the file access that kept it", async () => {
    const page = await Page.open(chrome, lateAddress);
    await finding(page, "waits", "MPI_Allreduce: 3 ranks wait for rank 2");
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

  test("three clicks: from the longest wait to the late sender and what it did before", async () => {
    const page = await Page.open(chrome, lateAddress);
    await finding(page, "waits", "MPI_Recv: rank 1 waits for rank 3");
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
    await finding(page, "waits", "MPI_Recv: rank 1 waits for rank 3");
    const { sel: [receive] } = await page.until((view) => view.sel.length === 1, "the receive");
    await page.true("the wait", () => document.querySelector(".details .waits")?.textContent?.includes("for rank 3, which was computing in assemble"));
    assert.match(await page.own.locator(".details .waits").textContent(), /^waiting 10\.0\d*\sms of 12\.0\d*\sms /u);
    await page.own.locator("#timeline").focus();
    await page.press("b");
    const { sel: [cause] } = await page.until((view) => view.sel.length === 1 && view.sel[0] !== receive, "the cause");
    const found = await page.ask(`ref?ref=${encodeURIComponent(cause)}`);
    assert.deepEqual([found.name, found.label, found.wait], ["assemble", "rank 3", null]);
    assert.equal(await page.own.locator(".details .waits").count(), 0);
    await page.press("b");
    await page.true("that it waited for nobody", () => document.body.textContent.includes("waited for nobody"));
    await page.own.goBack();
    await page.until((view) => view.sel[0] === receive, "the receive again");
    await page.close();
  });

  test("three clicks: from the I/O finding to the disk operations of a call", async () => {
    const page = await Page.open(chrome, address);
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
    const page = await Page.open(chrome, address);
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
