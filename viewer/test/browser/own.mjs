// What readers make of a trace: groups of timelines, notes, durations that they brush, and the waits of a loss one by one.

import assert from "node:assert/strict";
import { Page, test } from "./harness.mjs";

export function own(chrome, { address, treeAddress, lateAddress }) {
  test("own groups are made in a dialog, shown as a timeline each, kept by the link, and open again", async () => {
    const page = await Page.open(chrome, lateAddress);
    await page.own.locator("#timeline").focus();
    await page.press("o");
    const dialog = page.own.locator("dialog.groups");
    await dialog.getByRole("button", { name: "even and odd" }).click();
    await dialog.getByRole("button", { name: "show these groups" }).click();
    await page.until((view) => view.timelines === "groups:even ranks=0-/2|odd ranks=1-/2", "two groups");
    const labels = () => page.own.locator(".label-name").allTextContents();
    await page.true("two labels", () => document.querySelectorAll(".label-name").length === 2);
    assert.deepEqual(await labels(), ["even ranks", "odd ranks"]);
    // All of what is in a group is on its timeline: the receive of rank 1 and the assembling of rank 3.
    const { timelines } = page.view();
    const names = (await page.ask(`events?t0=0.081&t1=0.089&timelines=${encodeURIComponent(timelines)}&y0=1&y1=2`)).name;
    assert.deepEqual([...names].sort(), ["MPI_Recv", "assemble"]);
    await page.rest();
    const hash = new URL(page.own.url()).hash.slice(1);
    await page.close();
    const again = await Page.open(chrome, lateAddress, hash);
    await again.true("two labels", () => document.querySelectorAll(".label-name").length === 2);
    await again.own.locator("#timeline").focus();
    await again.press("ArrowDown");
    await again.press("e");
    await again.until((view) => view.timelines === "groups:odd ranks=1-/2", "one group");
    await again.true("three labels", () => document.querySelectorAll(".label-name").length === 3);
    await again.press("o");
    await again.own.locator("dialog.groups textarea").fill("nothing");
    await again.own.getByRole("button", { name: "show these groups" }).click();
    assert.match(await again.own.locator("dialog.groups .wrong").textContent(), /“nothing” is no group/);
    for (const [text, name] of [["x = 99", "x"], ["all = 0-\nnone = 1", "none"]]) {
      await again.own.locator("dialog.groups textarea").fill(text);
      await again.own.getByRole("button", { name: "show these groups" }).click();
      await again.own.locator("dialog.groups .wrong", { hasText: `No timeline is left for the group “${name}”` }).waitFor();
    }
    await again.own.getByRole("button", { name: "no groups" }).click();
    await again.until((view) => view.timelines === "", "no groups");
    await again.close();
  });

  test("a selected range is one of all timelines when other timelines are shown", async () => {
    const page = await Page.open(chrome, lateAddress, "timelines=groups:even=0-/2|odd=1-/2&panel=stats");
    await page.own.locator("#timeline").focus();
    await page.press("r");
    await page.until((view) => view.range?.y1 === 2, "the range");
    await page.press("ArrowDown");
    await page.press("e");
    await page.true("three timelines", () => document.querySelectorAll(".label-name").length === 3);
    const { range } = await page.until((view) => view.timelines === "groups:odd=1-/2", "ranks 0 and 2 have a timeline each");
    assert.ok(range !== null && range.y0 === 0 && range.y1 >= 3, JSON.stringify(range));
    // Four ranks in eight steps.
    await page.true("32 calls on all timelines", () => document.querySelector(".subject")?.textContent.endsWith("all timelines")
      && [...document.querySelectorAll('table[aria-label="Statistics by category"] tbody tr')].some(({ children }) => children[0].textContent.includes("MPI_Allreduce") && [...children].some(({ textContent }) => textContent === "32")));
    await page.close();
  });

  test("a note is written at the cursor, drawn, kept by the link, and taken away", async () => {
    const page = await Page.open(chrome, lateAddress, "t=0~0.05");
    await page.own.locator("#timeline").focus();
    await page.press("ArrowDown");
    await page.press("ArrowDown");
    await page.settled();
    const before = await page.own.locator("#timeline").screenshot();
    await page.press("i");
    await page.own.locator(".notes .name-field").fill("why, 100% late?");
    await page.own.keyboard.press("Enter");
    const { notes } = await page.until((view) => view.notes.length === 1, "a note");
    assert.deepEqual([notes[0].of, notes[0].text], ["0.1", "why, 100% late?"]);
    assert.ok(Math.abs(notes[0].t - 0.025) < 1e-6, `${notes[0].t}`);
    assert.notDeepEqual(await page.own.locator("#timeline").screenshot(), before);
    await page.rest();
    const hash = new URL(page.own.url()).hash.slice(1);
    await page.close();
    const again = await Page.open(chrome, lateAddress, hash);
    await again.own.locator(".note-text").waitFor();
    assert.equal(await again.own.locator(".note-text").textContent(), "why, 100% late?");
    await again.own.locator(".notes").getByRole("button", { name: "edit" }).click();
    await again.own.locator(".notes .name-field").fill("seen");
    await again.own.keyboard.press("Enter");
    await again.until((view) => view.notes[0]?.text === "seen", "another text");
    await again.own.locator(".notes").getByRole("button", { name: "Remove the note seen" }).click();
    await again.until((view) => view.notes.length === 0, "no note");
    await again.close();
  });

  test("the browser's Back leaves notes and names, and a group keeps its name", async () => {
    const page = await Page.open(chrome, lateAddress, "timelines=groups:even=0-/2|odd=1-/2");
    await page.own.locator("#timeline").focus();
    await page.press("+");
    await page.press("+");
    await page.rest();
    await page.press("ArrowDown");
    await page.press("i");
    await page.own.locator(".notes .name-field").fill("important");
    await page.own.keyboard.press("Enter");
    await page.until((view) => view.notes.length === 1, "a note");
    await page.own.locator(".label-name", { hasText: "odd" }).dblclick();
    await page.own.locator(".labels .name-field").fill("late ones");
    await page.own.keyboard.press("Enter");
    await page.until((view) => view.names.length === 1, "a name");
    await page.rest();
    await page.own.locator("#timeline").focus();
    await page.press("+");
    await page.rest();
    const before = page.view();
    await page.own.goBack();
    await page.until((view) => view.t1 - view.t0 > before.t1 - before.t0, "a step back");
    assert.deepEqual([page.view().notes, page.view().names], [before.notes, before.names]);
    await page.own.reload();
    await page.true("the name of the group", () => [...document.querySelectorAll(".label-name")].some(({ textContent }) => textContent === "late ones"));
    await page.close();
  });

  test("an exported picture has the colours and names that the reader gave", async () => {
    const page = await Page.open(chrome, lateAddress);
    const kind = (await page.ask("meta")).categories.findIndex(({ name }) => name === "assemble");
    await page.look(`theme=light&own=${kind}:2040a0&names=${kind}:my%20%3Cwork%3E,0.3:last%20one`);
    await page.own.locator(".legend", { hasText: "my <work>" }).waitFor();
    const svg = await page.own.evaluate(async () => (await fetch(document.getElementById("export-svg").href)).text());
    for (const wanted of [">my &lt;work&gt;</text>", ">last one</text>", "#2040a0"]) assert.ok(svg.includes(wanted), `${wanted}: ${svg.slice(0, 2000)}`);
    for (const not of [">assemble</text>", ">rank 3</text>"]) assert.ok(!svg.includes(not), not);
    await page.close();
  });

  test("brushed durations are searched for, marked and listed", async () => {
    const page = await Page.open(chrome, lateAddress, "panel=stats");
    await page.own.locator('table[aria-label="Statistics by category"] tbody tr', { hasText: "MPI_Allreduce" }).first().click();
    const bars = page.own.locator(".duration-bars");
    await bars.waitFor();
    // Rank 2 is in the call for 1 ms in seven steps, the others for 4 ms; in the fifth step it is 0.9 ms and 8 ms.
    await page.true("32 calls", () => document.querySelector(".duration-bars")?.getAttribute("aria-label").startsWith("32 of "));
    const choose = async (select, text) => select.selectOption(await select.locator("option").evaluateAll((options, wanted) => options.find((option) => option.textContent.replace(/\s/g, " ").trim() === wanted)?.value, text));
    await choose(page.own.getByLabel("From"), "6.300 ms");
    await page.until((view) => view.query.startsWith('category:"MPI_Allreduce" dur>=6.3ms dur<'), "the search");
    await page.true("3 hits", () => /^3$/.test(document.querySelector(".search button")?.textContent ?? ""));
    await page.own.locator(".duration-choice").getByRole("button", { name: "list" }).click();
    await page.true("three rows", () => document.querySelectorAll('table[aria-label="Hits"] tbody tr[data-nth]').length === 3);
    // By dragging over all bars: all calls.
    await page.look("panel=stats");
    await page.own.locator('table[aria-label="Statistics by category"] tbody tr', { hasText: "MPI_Allreduce" }).first().click();
    await bars.waitFor();
    const box = await bars.boundingBox();
    await page.own.mouse.move(box.x + 2, box.y + 20);
    await page.own.mouse.down();
    await page.own.mouse.move(box.x + box.width / 2, box.y + 20);
    await page.own.mouse.move(box.x + box.width - 2, box.y + 20);
    await page.own.mouse.up();
    await page.true("32 hits", () => /^32$/.test(document.querySelector(".search button")?.textContent ?? ""));
    await page.own.getByRole("button", { name: "No durations selected" }).click();
    await page.until((view) => view.query === "", "nothing searched for");
    // A server without time for all of it says how far it came, and reads all when it is asked to.
    await page.own.route(/\/durations\?/, async (route) => {
      const answer = await (await route.fetch()).json();
      const isPatient = /[?&]patient=1(&|$)/.test(route.request().url());
      await route.fulfill({ json: isPatient ? answer : { ...answer, until: answer.t0 + (answer.t1 - answer.t0) / 4, exact: false } });
    });
    await page.own.locator('table[aria-label="Statistics by category"] tbody tr', { hasText: "MPI_Recv" }).first().click();
    await page.own.locator(".durations", { hasText: /Of what begins in the first 25.%: there was no time for more\./u }).waitFor();
    assert.equal(await page.own.locator(".durations [role=alert]").count(), 0);
    await page.own.getByRole("button", { name: "read all of it" }).click();
    await page.true("all of it", () => document.querySelector(".durations .duration-bars") !== null && !document.querySelector(".durations").textContent.includes("no time"));
    await page.close();
  });

  test("N and P go over the waits of the loss that was clicked", async () => {
    const page = await Page.open(chrome, lateAddress);
    await page.own.locator(".verdict-room button.loss", { hasText: "in MPI_Allreduce" }).click();
    const first = await page.until((view) => view.sel.length === 1 && view.query.includes("waitsfor:2"), "the longest wait");
    // All 24 waits of three ranks in eight steps.
    await page.true("24 hits", () => /^24$/.test(document.querySelector(".search button")?.textContent ?? ""));
    await page.own.locator("#timeline").focus();
    const details = async (sel) => page.ask(`ref?ref=${encodeURIComponent(sel)}`);
    const begun = await details(first.sel[0]);
    await page.press("n");
    const next = await details((await page.until((view) => view.sel[0] !== first.sel[0], "the next")).sel[0]);
    assert.equal(next.name, "MPI_Allreduce");
    assert.ok(next.t0 >= begun.t0 && next.ref !== begun.ref);
    await page.press("p");
    await page.until((view) => view.sel[0] === first.sel[0], "back");
    await page.close();
  });

  test("groups by node are one timeline for each node", async () => {
    const page = await Page.open(chrome, treeAddress);
    await page.own.locator(".labels-order").selectOption("groups");
    await page.own.locator("dialog.groups").getByRole("button", { name: "8 neighbours each" }).click();
    assert.equal(await page.own.locator("dialog.groups textarea").inputValue(), "0 – 7 = 0-7\n8 – 11 = 8-11");
    await page.press("Escape");
    await page.close();
    const flat = await Page.open(chrome, address);
    await flat.own.locator(".labels-order").selectOption("groups");
    const byNode = flat.own.locator("dialog.groups").getByRole("button", { name: "by node" });
    if ((await byNode.count()) > 0) {
      await byNode.click();
      await flat.until((view) => /^map:\d+;fold:0$/.test(view.timelines), "by node");
    }
    await flat.close();
  });
}
