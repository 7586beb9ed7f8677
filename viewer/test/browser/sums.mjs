// Sums over what a search takes: the line of text, its table, and the searches of the lines.

import assert from "node:assert/strict";
import { violations } from "./access.mjs";
import { Page, run, test } from "./harness.mjs";

export function sums(chrome, { address, trace, lateAddress }) {
  test("a sum by rank is that of the command; a click on a line searches for what is in it", async () => {
    const page = await Page.open(chrome, address, "panel=hits");
    const field = page.own.getByLabel("Sum up");
    await field.fill("sum dur by name where MPI_");
    await page.own.keyboard.press("Enter");
    await page.until((view) => view.sums === "sum dur by name where MPI_", "the link has it");
    const table = page.own.locator('table[aria-label^="Sums: sum dur by name"]');
    const row = table.locator("tbody tr[data-nth]", { hasText: "MPI_Allreduce" });
    await row.waitFor();
    const { categories } = JSON.parse(run("stats", "--format", "json", trace));
    const expected = categories.find(({ category }) => category === "MPI_Allreduce").count;
    assert.equal((await row.locator("td").nth(3).textContent()).replace(/\D/g, ""), String(expected));
    // The largest first, with the longest bar.
    const widths = await table.locator(".bar > span").evaluateAll((bars) => bars.map((bar) => Number.parseFloat(bar.style.width)));
    assert.equal(widths[0], 100);
    assert.ok(widths.every((width, nth) => nth === 0 || width <= widths[nth - 1]), widths.join());
    await row.click();
    await page.until((view) => view.query === 'MPI_ category:"MPI_Allreduce"' && view.sel.length === 1, "searched");
    await page.true("as many hits", (wanted) => document.querySelector(".search button")?.textContent.replace(/(?<=\d)\s(?=\d)/g, "") === String(wanted), expected);
    // A link opens alike, and Enter does what a click does.
    await page.rest();
    const hash = new URL(page.own.url()).hash.slice(1);
    await page.close();
    const again = await Page.open(chrome, address, hash);
    await again.own.locator('table[aria-label^="Sums: sum dur by name"] tbody tr[data-nth="1"]').focus();
    await again.own.keyboard.press("Enter");
    await again.until((view) => view.query !== 'MPI_ category:"MPI_Allreduce"', "another search");
    for (const theme of ["light", "dark"]) {
      await again.look(`${hash}&theme=${theme}`);
      await again.own.locator('table[aria-label^="Sums: sum dur by name"] tbody tr[data-nth="0"]').waitFor();
      assert.deepEqual(await violations(again), [], theme);
    }
    await again.close();
  });

  test("a sum by several things has a column for each, and its lines are searches for what is in them", async () => {
    const page = await Page.open(chrome, lateAddress, "panel=hits&sum=sum dur by rank, name where !MPI_Allreduce");
    const table = page.own.locator('table[aria-label^="Sums: sum dur by rank, name"]');
    await table.locator("tbody tr[data-nth]").nth(3).waitFor();
    assert.deepEqual((await table.locator("thead th").allTextContents()).slice(0, 2).map((title) => title.replace(/\W/g, "")), ["rank", "name"]);
    // Rank 1 receives for 12 ms, rank 3 assembles for 10 ms, rank 2 writes from 44 to 48 ms; then the message takes 1.3 ms, and rank 3 sends for 0.5 ms.
    const cells = await table.locator("tbody tr[data-nth]").evaluateAll((rows) => rows.map((row) => [...row.children].slice(0, 3).map((cell) => cell.textContent.replace(/\s/g, " "))));
    assert.deepEqual(cells, [
      ["rank 1", "MPI_Recv", "12.00 ms"], ["rank 3", "assemble", "10.00 ms"], ["rank 2", "MPI_File_write_at", "4.000 ms"], ["rank 3", "message", "1.300 ms"],
      ["rank 3", "MPI_Send", "500.0 us"],
    ]);
    for (const theme of ["light", "dark"]) {
      await page.look(`panel=hits&sum=sum dur by rank, name where !MPI_Allreduce&theme=${theme}`);
      await table.locator("tbody tr[data-nth]").first().waitFor();
      assert.deepEqual(await violations(page), [], theme);
    }
    await table.locator("tbody tr[data-nth]", { hasText: "assemble" }).click();
    await page.until((view) => view.query === '!MPI_Allreduce sender:3 category:"assemble"' && view.sel.length === 1, "the state");
    const field = page.own.getByLabel("Sum up");
    await field.fill("sum dur by rank, rank");
    await page.own.keyboard.press("Enter");
    page.allowed.push(/^400 .*aggregate/);
    await page.own.locator("#sums-wrong", { hasText: "expected something else than rank, which came before, at character 18." }).waitFor();
    await page.close();
  });

  test("what is no sum is said under the field; the field of searches takes sums, too", async () => {
    const page = await Page.open(chrome, lateAddress, "panel=hits");
    page.allowed.push(/^400 .*aggregate/);
    const field = page.own.getByLabel("Sum up");
    for (const [text, said] of [
      ["sum dur by", /^expected rank, thread, comm, name, class, peer or a key such as tag at character 11\.$/],
      ["sum colour by rank", /^nothing in this trace has a value colour; expected dur, bytes, wait or a key such as size\.$/],
      ["sum dur by rank where dur>x", /^after where, expected a time, such as 1\.5ms at character 27\.$/],
    ]) {
      await field.fill(text);
      await page.own.keyboard.press("Enter");
      await page.true(`${text} is refused`, (wanted) => new RegExp(wanted).test(document.getElementById("sums-wrong")?.textContent ?? ""), said.source);
      assert.equal(await field.getAttribute("aria-invalid"), "true");
    }
    assert.deepEqual(await violations(page), []);
    await page.own.locator("#search").fill("count by peer where is:arrow");
    await page.own.keyboard.press("Enter");
    await page.until((view) => view.sums === "count by peer where is:arrow" && view.query === "", "summed up, not searched");
    const line = page.own.locator('table[aria-label^="Sums: count by peer"] tbody tr[data-nth]');
    await line.first().waitFor();
    assert.match(await line.first().textContent(), /^rank 3 → rank 1/);
    await line.first().click();
    await page.until((view) => view.query === "is:arrow sender:3 receiver:1 class:message" && view.sel.length === 1, "the message");
    await field.fill("sum wait by rank");
    await page.own.keyboard.press("Enter");
    // Rank 1 waits most: with the others for rank 2, and for the message of rank 3.
    await page.own.locator('table[aria-label^="Sums: sum wait by rank"] tbody tr[data-nth="0"]', { hasText: "rank 1" }).waitFor();
    await field.fill("sum dur by rank where dur>1h");
    await page.own.keyboard.press("Enter");
    await page.own.locator("#sums-wrong").waitFor();
    await field.fill("sum dur by rank where dur>1min");
    await page.own.keyboard.press("Enter");
    await page.own.locator(".sums", { hasText: "Nothing in the trace fits" }).waitFor();
    await page.own.locator(".sums").getByRole("button", { name: "clear" }).click();
    await page.until((view) => view.sums === "", "cleared");
    await page.close();
  });
}
