// What readers do: follow links, search, select and compare with the command's own numbers, hide, pin, take away.

import assert from "node:assert/strict";
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answers, folder, Page, run, serve, test } from "./harness.mjs";

/** "1 234" to 1234. */
const number = (text) => Number(text.replace(/[^\d.-]/g, ""));

export function flows(chrome, { address, trace, hostileAddress }) {
  test("a link shows what it was copied from", async () => {
    const page = await Page.open(chrome, address);
    const state = await page.ask("next?timeline=5&t=0.04&dir=1");
    const fragment = `t=0.031~0.052&top=2&height=40&timelines=pin:3&hide=0,2&mode=rare&arrows=all&sel=${state.ref}&range=0.035~0.04~3~6&q=MPI_Waitall&panel=stats&colors=safe&theme=dark&pins=${state.ref}`;
    await page.look(fragment);
    const first = page.own.url();
    const shown = await page.own.locator("#timeline").screenshot();
    await page.close();
    const again = await Page.open(chrome, address, new URL(first).hash.slice(1));
    await again.rest();
    assert.equal(new URL(again.own.url()).hash, new URL(first).hash);
    assert.equal(await again.own.locator("html").getAttribute("data-theme"), "dark");
    assert.equal(await again.own.locator("#search").inputValue(), "MPI_Waitall");
    assert.equal(await again.own.locator("#tab-stats").getAttribute("aria-selected"), "true");
    assert.equal(await again.own.locator(".details h2").textContent(), state.name);
    assert.equal(await again.own.locator(".label-pinned").count(), 1);
    assert.ok(shown.length > 1000);
    await again.close();
  });

  test("the browser's Back goes back from a jump, Forward to it again, and no further than the page", async () => {
    const page = await Page.open(chrome, address, "t=0.01~0.05");
    await page.rest();
    const begun = page.view();
    await page.own.locator(".verdict-room button.loss").first().click();
    await page.rest();
    const jumped = page.view();
    assert.notDeepEqual([jumped.t0, jumped.t1, jumped.sel, jumped.timelines], [begun.t0, begun.t1, begun.sel, begun.timelines]);
    await page.own.locator("#timeline").focus();
    await page.press("+");
    await page.until((view) => view.t1 - view.t0 < jumped.t1 - jumped.t0, "a zoom");
    await page.own.goBack();
    await page.until((view) => view.t0 === jumped.t0 && view.t1 === jumped.t1, "the finding");
    await page.own.goBack();
    await page.until((view) => view.t0 === begun.t0 && view.t1 === begun.t1 && view.sel.length === 0, "the beginning");
    await page.own.goForward();
    await page.until((view) => view.t0 === jumped.t0 && view.t1 === jumped.t1, "the finding again");
    await page.settled();
    await page.close();
  });

  test("windows are written as people write them, and what is none is told", async () => {
    const page = await Page.open(chrome, address, "t=0.01~0.05");
    const field = page.own.locator("#window");
    for (const [text, t0, t1] of [["0.02-0.03", 0.02, 0.03], ["20ms-31ms", 0.02, 0.031], ["0.02 + 2 ms", 0.02, 0.022]]) {
      await field.fill(text);
      await page.own.keyboard.press("Enter");
      await page.until((view) => Math.abs(view.t0 - t0) < 1e-9 && Math.abs(view.t1 - t1) < 1e-9, text);
    }
    const before = page.view();
    await field.fill("soon");
    await page.own.keyboard.press("Enter");
    await page.true("what is wrong", () => document.body.textContent.includes("“soon” is no window"));
    assert.equal(await field.getAttribute("aria-invalid"), "true");
    assert.deepEqual(page.view(), before);
    // Also after one has looked elsewhere, the next text takes back what was said of the one before.
    await page.own.locator("#search").focus();
    await field.fill("1 h - 2 h");
    await page.own.keyboard.press("Enter");
    await field.fill("100 - 200");
    await page.own.keyboard.press("Enter");
    await page.true("what lies outside", () => /“100 - 200” lies outside the trace, which is at 0\.\d+ – 0\.\d+/.test(document.querySelector(".trouble")?.textContent ?? ""));
    await page.own.locator("#search").focus();
    await field.fill("0.03-40");
    await page.own.keyboard.press("Enter");
    const { t1: end } = await page.ask("meta");
    await page.until((view) => view.t0 === 0.03 && Math.abs(view.t1 - end) < 1e-9, "up to the end of the trace");
    assert.equal(await page.own.locator(".trouble").count(), 0);
    // So does whatever else moves the window.
    await field.fill("soon");
    await page.own.keyboard.press("Enter");
    await page.own.locator(".trouble").waitFor();
    await page.own.getByRole("button", { name: "all", exact: true }).click();
    await page.own.locator(".trouble").waitFor({ state: "detached" });
    await page.close();
  });

  test("the window field has room for all digits of its text, and is as wide however close one looks", async () => {
    const page = await Page.open(chrome, address);
    const wide = () => page.own.locator("#window").evaluate((field) => [field.clientWidth, field.scrollWidth, field.value]);
    const [before] = await wide();
    await page.look("t=0.030000001~0.030000002");
    const [room, text, value] = await wide();
    assert.equal(value, "0.030000001 – 0.030000002\u202fs");
    assert.equal(room, before);
    assert.ok(text <= room, `${text} pixels in ${room}`);
    await page.close();
  });

  test("a link to timelines that the trace has not says so and shows those that it has", async () => {
    for (const timelines of ["only:999", "sort:zzz"]) {
      const page = await Page.open(chrome, address, `t=0.01~0.05&timelines=${timelines}`);
      page.allowed.push(/400/);
      await page.true("what is wrong", () => document.body.textContent.includes("expected"));
      await page.until((view) => view.timelines === "", "all timelines");
      await page.own.locator(".label-name").first().waitFor();
      await page.close();
    }
  });

  test("a link to a trace that is not here says so and shows the first one, in a new page and in this one", async () => {
    const page = await Page.open(chrome, address, "t=0.01~0.05&trace=7");
    const told = page.own.locator(".trouble", { hasText: "The link is of trace 7, which is not here." });
    for (const _ of [1, 2]) {
      await told.waitFor();
      await page.until((view) => view.trace === 0 && view.t0 === 0.01 && view.t1 === 0.05, "the first one, in the window of the link");
      await page.own.locator(".label-name").first().waitFor();
      await told.getByRole("button").click();
      await told.waitFor({ state: "detached" });
      await page.own.evaluate(() => (location.hash = "#t=0.01~0.05&trace=7"));
    }
    await page.close();
  });

  test("a trace that was replaced says so wherever it would be shown", async () => {
    const file = join(folder, "replaced.slog2");
    copyFileSync(trace, file);
    const server = await serve(file);
    const page = await Page.open(chrome, server.address, "panel=stats");
    page.allowed.push(/410/);
    copyFileSync(trace, `${file}.new`);
    renameSync(`${file}.new`, file);
    await page.own.reload();
    await page.true("what happened", () => document.querySelector("#panel")?.textContent?.includes("was replaced by another file"));
    assert.ok(!(await page.own.locator("#panel").textContent()).includes("Nothing here"));
    await page.close();
    server.stop();
  });

  test("the new content of a trace that was replaced is loaded by a button, above and below", async () => {
    const [file, next] = [join(folder, "again.slog2"), join(folder, "next.slog2")];
    run("synth", "--ranks", "4", "--drawables", "3000", next);
    const labels = (page, wanted) => page.true(`${wanted} timelines`, ([above, below]) => {
      const count = (of) => document.querySelectorAll(`.timeline${of} .labels-field .label`).length;
      // Not all have room for a label.
      const is = (found, many) => (many > 4 ? found > 4 && found <= many : found === many);
      return is(count(":not(.lower)"), above) && is(count(".lower"), below);
    }, wanted);
    copyFileSync(trace, file);
    const server = await serve(file, next);
    const page = await Page.open(chrome, server.address, "t=0.02~0.03&panel=stats&with=none");
    page.allowed.push(/410/, /409/);
    await labels(page, [16, 0]);
    const button = page.own.getByRole("button", { name: "load the new one" });
    assert.equal(await button.count(), 0);
    // Half of it is there: it is refused, and can be tried again.
    writeFileSync(`${file}.new`, readFileSync(next).subarray(0, 20_000));
    renameSync(`${file}.new`, file);
    await page.own.locator("#timeline").focus();
    await page.press("s");
    await page.own.locator(".trouble", { hasText: "again.slog2 was replaced by another file while it was open." }).waitFor();
    await button.click();
    await page.own.locator(".trouble", { hasText: "It cannot be loaded now:" }).waitFor();
    copyFileSync(next, `${file}.new`);
    renameSync(`${file}.new`, file);
    await button.click();
    await page.until((view) => view.trace === 2 && Number.isNaN(view.t0) && view.panel === "stats", "the new one, all of it");
    await labels(page, [4, 0]);
    await page.own.locator(".trouble").waitFor({ state: "detached" });
    await page.settled();
    // A link to what was there before, and one to the first trace of the server.
    await page.look("t=0.02~0.03&with=none");
    await page.until((view) => view.trace === 2 && Number.isNaN(view.t0), "what is there in place of the trace that the link is of");
    await page.own.locator(".trouble", { hasText: "The link is of an earlier content of again.slog2" }).waitFor();
    const later = await Page.open(chrome, server.address, "with=none");
    later.allowed.push(/410/);
    await later.until((view) => view.trace === 2, "what the server has first");
    await labels(later, [4, 0]);
    await later.close();
    // Below another one.
    await page.look("trace=1&with=2");
    await labels(page, [4, 4]);
    copyFileSync(trace, `${file}.new`);
    renameSync(`${file}.new`, file);
    await page.own.locator("#timeline").focus();
    await page.press("w");
    await button.click();
    await page.until((view) => view.trace === 1 && view.other === 3, "the new one below");
    await labels(page, [4, 16]);
    await button.waitFor({ state: "detached" });
    await page.close();
    server.stop();
  });

  test("all pinned timelines are seen, with others below them", async () => {
    for (const [width, height] of [[1024, 700], [1440, 900], [1920, 1080]]) {
      const page = await Page.open(chrome, address, "timelines=pin:3,2,0", { viewport: { width, height } });
      await page.own.locator(".label-pinned").first().waitFor();
      const rows = await page.own.locator(".label-pinned").evaluateAll((all) => all.map((label) => label.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]));
      assert.equal(rows.length, 3);
      const area = await page.own.locator("#timeline").boundingBox();
      const first = await page.own.locator(".label:not(.label-pinned)").first().boundingBox();
      for (const [nth, [top, bottom]] of rows.entries()) {
        assert.ok(top >= area.y - 1 && bottom <= (rows[nth + 1]?.[0] ?? first.y) + 1, `${width}: ${JSON.stringify(rows)}, then ${first.y}`);
      }
      await page.close();
    }
  });

  test("the token is exchanged for a cookie and leaves the address", async () => {
    const page = await Page.open(chrome, address, "t=0.02~0.03");
    await page.rest();
    assert.ok(!page.own.url().includes("k="), page.own.url());
    await page.own.reload();
    await page.settled();
    await page.close();
  });

  test("search counts hits, goes from one to the next and back, and says what it does not understand", async () => {
    const page = await Page.open(chrome, address, "t=0.02~0.03");
    await page.own.locator("#search").fill("MPI_File_write_at_all");
    await page.own.keyboard.press("Enter");
    const first = await page.until((view) => view.sel.length === 1, "a hit");
    await page.own.locator("#timeline").focus();
    await page.press("n");
    const second = await page.until((view) => view.sel.length === 1 && view.sel[0] !== first.sel[0], "another hit");
    await page.press("p");
    await page.until((view) => view.sel[0] === first.sel[0], "the one before");
    assert.notEqual(second.sel[0], first.sel[0]);
    await page.press("5");
    await page.true("the number of hits", () => /: \d[\d\s]* hits/u.test(document.querySelector(".panel-head")?.textContent ?? ""));
    const told = number((await page.own.locator(".panel-head").first().textContent()).replace(/^[^:]*:/, "").replace(/hits.*/, ""));
    const stats = JSON.parse(run("stats", "--format", "json", trace));
    assert.equal(told, countOf(stats, "MPI_File_write_at_all"));
    const table = page.own.locator('table[aria-label="Hits"]');
    await table.waitFor();
    assert.equal(Number(await table.getAttribute("aria-rowcount")), told + 1);
    const { hit } = await page.ask("search?q=MPI_File_write_at_all&from=0&dir=1");
    // The selected hit came into sight, wherever that is in the table.
    await table.locator("tr.chosen").waitFor();
    await page.own.locator("#panel .table-room").evaluate((room) => room.scrollTo(0, 0));
    await table.locator('tbody tr[data-nth="0"]').click();
    await page.until((view) => view.sel[0] === hit.ref, "the first hit of the trace");
    page.allowed.push(/400/);
    await page.own.locator("#search").fill("dur>fast");
    await page.own.keyboard.press("Enter");
    await page.true("what is wrong", () => document.querySelector("#search")?.getAttribute("aria-invalid") === "true");
    // Also where no panel says so, until the next search.
    await page.own.locator(".trouble", { hasText: "“dur>fast”: expected" }).waitFor();
    await page.own.locator("#search").fill("MPI_Send");
    await page.own.keyboard.press("Enter");
    await page.own.locator(".trouble").waitFor({ state: "detached" });
    await page.close();
  });

  test("a selection that the trace has not is told, until something else is selected", async () => {
    const page = await Page.open(chrome, address, "sel=0.0.0.5");
    page.allowed.push(/404/);
    await page.own.locator(".trouble", { hasText: "what the link selects (0.0.0.5) is not in this trace" }).waitFor();
    const { ref } = await page.ask("next?timeline=5&t=0.04&dir=1");
    await page.look(`sel=${encodeURIComponent(ref)}`);
    await page.own.locator(".trouble").waitFor({ state: "detached" });
    await page.close();
  });

  test("the numbers of all losses stand below one another", async () => {
    const page = await Page.open(chrome, address, "panel=summary");
    await page.own.locator(".losses li").nth(5).waitFor();
    const ends = await page.own.evaluate(() => [...document.querySelectorAll(".panel .losses")].map((list) => [...list.querySelectorAll(".loss-count")].map((one) => Math.round(one.getBoundingClientRect().right))));
    assert.equal(new Set(ends.flat()).size, 1, JSON.stringify(ends));
    const names = await page.own.locator(".panel .loss-full").allTextContents();
    assert.ok(new Set(names.map((name) => name.length)).size > 1, "names of different lengths");
    await page.close();
  });

  test("statistics of a selected range are those of mpitrace stats --window", async () => {
    const page = await Page.open(chrome, address);
    const table = 'table[aria-label="Statistics by category"]';
    for (const [t0, t1] of [["0.031", "0.042"], ["0.02", "0.0201"], ["0.0001", "0.05"]]) {
      await page.look(`t=0~0.06&range=${t0}~${t1}~0~16&panel=stats`);
      await page.true("the range", () => document.querySelector(".subject")?.textContent?.startsWith("Selected range") && document.querySelector(".table-room:not(.old)") !== null);
      const stats = JSON.parse(run("stats", "--window", t0, t1, "--format", "json", trace));
      const titles = await page.own.locator(`${table} thead th`).evaluateAll((all) => all.map((cell) => cell.textContent.replace(/[^A-Za-z]/g, "")));
      const rows = await page.own.locator(`${table} tbody tr[data-nth]`).evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
      const there = stats.categories.filter(({ count }) => count > 0).length;
      assert.ok(rows.length >= Math.min(there, 4), `${rows.length} of ${there}`);
      const { axis } = page.modules;
      for (const row of rows) {
        const shown = Object.fromEntries(row.map((text, nth) => [titles[nth], text]));
        const known = stats.categories.find(({ category }) => category === shown.Category);
        assert.equal(number(shown.Count), known.count, shown.Category);
        if (known.kind === "event") continue;
        for (const [title, seconds] of [["Inclusive", known.total_s], ["Exclusive", known.exclusive_s], ["Shortest", known.min_s], ["Longest", known.max_s], ["Mean", known.mean_s]]) {
          assert.equal(shown[title], seconds === null ? "" : axis.duration(seconds), `${title} of ${shown.Category}, ${t0} to ${t1}`);
        }
      }
    }
    await page.close();
  });

  test("the legend filters, hides, shows only one, and draws its share", async () => {
    const page = await Page.open(chrome, address, "t=0.02~0.05");
    const meta = await page.ask("meta");
    const kind = meta.categories.findIndex(({ name }) => name === "MPI_Waitall");
    await page.own.locator("#legend-filter").fill("waitall");
    await page.true("one category", () => document.querySelectorAll(".kinds tbody tr").length === 1);
    await page.own.locator(".kinds label input").uncheck();
    await page.until((view) => view.hide.join() === String(kind), "hidden");
    await page.own.locator(".kinds label input").check();
    await page.until((view) => view.hide.length === 0, "shown");
    await page.own.getByRole("button", { name: "Only MPI_Waitall" }).click();
    await page.until((view) => view.hide.length === meta.categories.length - 1 && !view.hide.includes(kind), "nothing else");
    await page.own.getByRole("button", { name: "Heat map of MPI_Waitall" }).click();
    await page.until((view) => view.mode === "heat" && view.heat === kind, "heat map");
    await page.settled();
    await page.own.getByLabel("Colour of MPI_Waitall").fill("#123456");
    await page.until((view) => view.own.length === 1 && view.own[0][0] === kind && view.own[0][1] === "#123456", "another colour");
    await page.true("in the legend", () => getComputedStyle(document.querySelector(".kinds .swatch")).getPropertyValue("--color") === "#123456");
    await page.own.getByRole("button", { name: "undo own colours" }).click();
    await page.until((view) => view.own.length === 0, "the palette's again");
    await page.close();
  });

  test("the legend has counts, inclusive and exclusive time of the window, and is sorted by them", async () => {
    const page = await Page.open(chrome, address, "t=0.02~0.05");
    const rows = page.own.locator(".kinds tbody tr");
    const shown = () => rows.evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => (cell.querySelector(".name") ?? cell.firstChild)?.textContent ?? "")));
    const told = () => page.true("those of the window", () => document.querySelector(".legend-of")?.textContent === "of the window" && document.querySelector(".kinds:not(.old)") !== null);
    const { categories, span, threads } = await page.ask("stats?t0=0.02&t1=0.05");
    const { categories: known } = JSON.parse(run("stats", "--window", "0.02", "0.05", "--format", "json", trace));
    for (const [column, key] of [["Excl.", "exclusive_s"], ["Incl.", "total_s"], ["Count", "count"]]) {
      // Sorted by exclusive time at first, the most on top.
      if (column !== "Excl.") await page.own.locator(".kinds th button", { hasText: column }).click();
      await told();
      const table = await shown();
      assert.equal(table.length, (await page.ask("meta")).categories.length);
      const of = (name) => known.find(({ category, kind }) => category === name && (key === "count" || kind === "state"))?.[key] ?? 0;
      const values = table.map(([name]) => of(name));
      assert.deepEqual(values, [...values].sort((a, b) => b - a), column);
      for (const [name, count, incl, excl] of table) {
        const one = known.find(({ category }) => category === name);
        if (!one || one.count === 0) continue;
        assert.equal(number(count), one.count, name);
        if (one.kind !== "state") continue;
        const share = (text) => (text.startsWith("<") ? 0 : number(text) / 100);
        for (const [text, seconds] of [[incl, one.total_s], [excl, one.exclusive_s]]) {
          assert.ok(Math.abs(share(text) - seconds / (span * threads)) < 0.0006, `${name}: ${text}, ${seconds} s`);
        }
      }
    }
    assert.ok(categories.length > 5);
    await page.own.locator(".kinds th button", { hasText: "Category" }).click();
    const names = (await shown()).map(([name]) => name);
    assert.deepEqual(names, [...names].sort((a, b) => a.localeCompare(b, "en", { numeric: true })));
    await page.close();
  });

  test("before the window is counted the legend has what the file says of the whole trace", async () => {
    const context = await chrome.newContext({ viewport: { width: 1400, height: 900 } });
    const tab = await context.newPage();
    let letGo;
    const held = new Promise((done) => (letGo = done));
    await tab.route(/\/stats/, async (route) => {
      await held;
      await route.continue();
    });
    await tab.goto(`${address}&t=0.02~0.05`);
    const cell = tab.locator(".kinds tbody tr", { hasText: "MPI_Waitall" }).locator("td").nth(1);
    await cell.waitFor();
    const { categories } = JSON.parse(run("stats", "--format", "json", trace));
    assert.match(await tab.locator(".legend-of").textContent(), /^of the whole trace/);
    assert.equal(number(await cell.textContent()), countOf({ categories }, "MPI_Waitall"));
    letGo();
    await tab.locator(".legend-of", { hasText: "of the window" }).waitFor();
    assert.ok(number(await cell.textContent()) < countOf({ categories }, "MPI_Waitall"));
    await context.close();
  });

  test("what two panels ask is asked once, and given up while the window moves", async () => {
    const context = await chrome.newContext({ viewport: { width: 1400, height: 900 } });
    const tab = await context.newPage();
    let letGo;
    const held = new Promise((done) => (letGo = done));
    const [asked, givenUp] = [[], []];
    tab.on("requestfailed", (request) => request.url().includes("/stats") && givenUp.push(request.url()));
    await tab.route(/\/stats/, async (route) => {
      asked.push(route.request().url());
      await held;
      await route.continue().catch(() => undefined);
    });
    await tab.goto(`${address}&t=0.02~0.05&panel=stats`);
    await tab.waitForFunction(() => document.querySelector("#timeline")?.dataset.settled === "yes");
    await tab.waitForTimeout(500);
    assert.equal(asked.length, 1, asked.join(" "));
    const { x, y, width, height } = await tab.locator("#timeline").boundingBox();
    await tab.mouse.move(x + width / 2, y + height / 2);
    await tab.keyboard.down("Control");
    await tab.mouse.wheel(0, -200);
    await tab.keyboard.up("Control");
    for (let nth = 0; nth < 100 && givenUp.length === 0; nth++) await tab.waitForTimeout(50);
    assert.deepEqual(givenUp, asked.slice(0, 1));
    letGo();
    await tab.locator(".legend-of", { hasText: "of the window" }).waitFor();
    assert.equal(asked.length, 2, "once more for the window as it is now");
    await context.close();
  });

  test("categories and timelines may have other names, here and in the link; none gives back the trace's", async () => {
    const page = await Page.open(chrome, address, "t=0.02~0.05&panel=stats");
    const kind = (await page.ask("meta")).categories.findIndex(({ name }) => name === "MPI_Waitall");
    await page.own.locator("#legend-filter").fill("waitall");
    const rename = async (name, other) => {
      await page.own.locator(".kinds tbody tr").hover();
      await page.own.getByRole("button", { name: `Rename ${name}` }).click();
      await page.own.locator(".kinds .name-field").fill(other);
      await page.own.keyboard.press("Enter");
    };
    await rename("MPI_Waitall", "halo, waits");
    await page.own.locator("#legend-filter").fill("halo");
    await page.until((view) => view.names.length === 1 && view.names[0][0] === String(kind) && view.names[0][1] === "halo, waits", "in the link");
    await page.true("in the statistics", () => [...document.querySelectorAll("#panel td")].some((cell) => cell.textContent === "halo, waits"));
    await page.own.locator('.label[data-timeline="3"]').dblclick();
    await page.own.locator(".labels .name-field").fill("<b>third</b>");
    await page.own.keyboard.press("Enter");
    await page.until((view) => view.names.length === 2 && view.names[1][0] === "0.3", "a timeline, too");
    await page.rest();
    const link = new URL(page.own.url()).hash.slice(1);
    await page.close();
    const again = await Page.open(chrome, address, link);
    await again.true("the timeline", () => document.querySelector('.label[data-timeline="3"] .label-name')?.textContent === "<b>third</b>");
    await again.own.locator("#legend-filter").fill("halo");
    await again.own.locator(".kinds tbody tr").hover();
    await again.own.getByRole("button", { name: "Rename halo, waits" }).click();
    await again.own.locator(".kinds .name-field").fill("");
    await again.own.keyboard.press("Enter");
    await again.until((view) => view.names.length === 1, "the trace's own again");
    await again.close();
  });

  test("few timelines fill the height, and one may fill all of it", async () => {
    const page = await Page.open(chrome, address, "t=0.02~0.03&timelines=only:0-2");
    const high = (nth) => page.own.locator(`.label[data-timeline="${nth}"]`).evaluate((label) => label.getBoundingClientRect().height);
    const room = await page.own.locator("#timeline").evaluate((canvas) => canvas.getBoundingClientRect().height);
    assert.ok(Math.abs((await high(0)) - Math.min(160, room / 3)) < 1, `${await high(0)} of ${room}`);
    await page.own.locator("#timeline").focus();
    for (let nth = 0; nth < 8; nth++) await page.press("Alt+ArrowUp");
    await page.until((view) => Math.abs(view.height - room) < 1, "one timeline fills the page");
    await page.close();
  });

  test("what is kept stays under Pins and is found again", async () => {
    const page = await Page.open(chrome, address, "t=0.02~0.03");
    const state = await page.ask("next?timeline=5&t=0.06&dir=1");
    await page.look(`t=0.02~0.03&sel=${state.ref}`);
    await page.press("k");
    await page.until((view) => view.pins[0] === state.ref, "kept");
    await page.press("Escape");
    await page.until((view) => view.sel.length === 0, "cleared");
    await page.own.locator(".pins button.link").click();
    const view = await page.until((found) => found.sel[0] === state.ref, "selected again");
    assert.ok(view.t0 <= state.t0 && view.t1 >= state.t0, "and in view");
    await page.own.locator('.pins button[aria-label^="Remove"]').click();
    await page.until((found) => found.pins.length === 0, "removed");
    await page.close();
  });

  test("from a call to its disk operations and back", async () => {
    const page = await Page.open(chrome, address);
    const { hit: written } = await page.ask("search?q=pwrite64&from=0&dir=1");
    const { call: hit } = await page.ask(`call?id=${written.callid}`);
    assert.equal(hit.name, "MPI_File_write_at_all");
    await page.look(`sel=${hit.ref}`);
    await page.own.getByRole("button", { name: "Disk operations of this call" }).click();
    const rows = page.own.locator('table[aria-label="Disk operations of the call"] tbody tr[data-nth]');
    await rows.first().waitFor();
    await rows.first().focus();
    await page.own.keyboard.press("Enter");
    const { sel } = await page.until((view) => view.sel[0] !== hit.ref, "an operation");
    const operation = await page.ask(`ref?ref=${encodeURIComponent(sel[0])}`);
    assert.equal(operation.callid, hit.callid);
    await page.own.locator(".call button.link").click();
    await page.until((view) => view.sel[0] === hit.ref, "the call again");
    await page.close();
  });

  test("the events of the window are the drawables of its table, and a row leads to one", async () => {
    const page = await Page.open(chrome, address, "t=0.03~0.032&panel=events");
    const table = page.own.locator('table[aria-label="Drawables of the window"]');
    await table.waitFor();
    const told = number(await page.own.locator('.panel [role="status"]').textContent());
    assert.equal(Number(await table.getAttribute("aria-rowcount")), told + 1);
    assert.ok(told > 100);
    await table.locator("tbody tr[data-nth]").nth(2).click();
    await page.until((view) => view.sel.length === 1, "selected");
    await page.close();
  });

  test("messages that are hidden are told as hidden, not as none", async () => {
    const page = await Page.open(chrome, address, "panel=matrix");
    await page.own.locator('table[aria-label="Messages between timelines"] tbody tr[data-nth]').first().waitFor();
    const { categories } = await page.ask("meta");
    await page.look(`panel=matrix&hide=${categories.flatMap((one, kind) => (one.class === "message" ? [kind] : [])).join(",")}`);
    await page.own.locator("#panel", { hasText: "Messages are hidden" }).waitFor();
    await page.close();
  });

  test("messages: the pair with most bytes comes on top with its arrows", async () => {
    const page = await Page.open(chrome, address, "panel=matrix");
    const row = page.own.locator('table[aria-label="Messages between timelines"] tbody tr[data-nth]').first();
    await row.waitFor();
    await row.click();
    await page.until((view) => /pin:\d+/.test(view.timelines) && view.arrows === "all", "both timelines on top");
    // However the table is sorted, the chosen pair stays in sight, and is marked.
    const inSight = () => page.true("the pair in sight", () => {
      const [row, room] = [document.querySelector("#panel tr.chosen"), document.querySelector("#panel .table-room")];
      if (!row || !room) return false;
      const [{ top, bottom }, field] = [row.getBoundingClientRect(), room.getBoundingClientRect()];
      return top >= field.top && bottom <= field.bottom + 1;
    });
    await inSight();
    for (const title of ["Bytes", "Mean", "From"]) {
      await page.own.locator('table[aria-label="Messages between timelines"] th button', { hasText: title }).click();
      await inSight();
    }
    const sizes = page.own.locator('table[aria-label="Sizes of messages"] tbody tr');
    await sizes.first().waitFor();
    // The histogram is that of the pair, wherever its timelines are now; then that of all again.
    const sum = () => sizes.evaluateAll((rows) => rows.reduce((all, { cells }) => all + Number(cells[2].textContent.replace(/\D/g, "")), 0));
    const { cells } = await page.ask("matrix");
    const most = cells.reduce((best, cell) => (cell[3] > best[3] ? cell : best));
    await page.true("the pair above its sizes", ([from, to]) => document.querySelector(".histograms p")?.textContent.startsWith(`rank ${from} → rank ${to}`), most);
    for (let nth = 0; nth < 100 && (await sum()) !== most[2]; nth++) await page.own.waitForTimeout(50);
    assert.equal(await sum(), most[2]);
    await page.own.getByRole("button", { name: "all pairs" }).click();
    const all = cells.reduce((total, [, , count]) => total + count, 0);
    for (let nth = 0; nth < 100 && (await sum()) !== all; nth++) await page.own.waitForTimeout(50);
    assert.equal(await sum(), all);
    await page.close();
  });

  test("more arrows than the eye can separate are bundles", async () => {
    const page = await Page.open(chrome, address, "arrows=all&theme=light&colors=file");
    const note = () => page.own.locator(".timeline-note").textContent();
    const [, shown, found] = (await note()).match(/([\d\s,.’]+) of ([\d\s,.’]+) arrows, between groups of timelines/).map((text) => Number(text.replace(/\D/g, "")));
    // What stays within a group is in no bundle.
    assert.ok(0 < shown && shown <= found, `${shown} of ${found}`);
    assert.equal(found, Number(run("info", trace).match(/^arrows\s+(\d+)$/m)[1]));
    const dark = () => page.own.evaluate(() => {
      const canvas = document.querySelector(".timeline-canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const found = [];
      for (let at = 0; at < data.length; at += 4) {
        if (data[at] + data[at + 1] + data[at + 2] < 200) found.push(`${(at / 4) % canvas.width} ${Math.floor(at / 4 / canvas.width)}`);
      }
      return found;
    });
    const bundled = await dark();
    await page.look("arrows=none&theme=light&colors=file");
    const bare = new Set(await dark());
    assert.ok(bundled.length > bare.size + 500, `${bundled.length} dark pixels, ${bare.size} without arrows`);
    // Below the pointer one says how many it stands for.
    await page.look("arrows=all&theme=light&colors=file");
    const ofArrows = bundled.filter((pixel) => !bare.has(pixel));
    const [x, y] = ofArrows[Math.floor(ofArrows.length / 2)].split(" ").map(Number);
    await page.own.locator("#timeline").hover({ position: { x, y } });
    await page.own.getByRole("tooltip").filter({ hasText: /\d messages/ }).waitFor();
    await page.close();
  });

  test("a selected call names its messages, each a way to its arrow", async () => {
    const page = await Page.open(chrome, address);
    const { hit: arrow } = await page.ask("search?q=is:arrow%20class:message&from=0.03&dir=1");
    const { partner } = await page.ask(`follow?ref=${encodeURIComponent(arrow.ref)}&dir=-1`);
    await page.look(`sel=${partner.ref}`);
    const link = page.own.locator('ul[aria-label="What leaves here"] button.link').first();
    await link.waitFor();
    assert.equal(await link.textContent(), arrow.to.label);
    await link.click();
    await page.until((view) => view.sel[0] === arrow.ref, "its arrow");
    await page.close();
  });

  test("hits of a search are marked in the timelines where they are", async () => {
    const page = await Page.open(chrome, address, "t=0.02~0.05&theme=light&arrows=none");
    const pink = () => page.own.evaluate(() => {
      const canvas = document.querySelector(".timeline-canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let found = 0;
      for (let at = 0; at < data.length; at += 4) if (data[at] === 0xc4 && data[at + 1] === 0 && data[at + 2] === 0x7a) found++;
      return found;
    });
    assert.equal(await pink(), 0);
    await page.look("t=0.02~0.05&theme=light&arrows=none&q=MPI_Waitall%20rank:5");
    for (let nth = 0; nth < 100 && (await pink()) === 0; nth++) await page.own.waitForTimeout(50);
    assert.ok((await pink()) > 10);
    await page.look("t=0.02~0.05&theme=light&arrows=none&q=MPI_Waitall%20rank:5%20dur%3E1min");
    for (let nth = 0; nth < 100 && (await pink()) > 0; nth++) await page.own.waitForTimeout(50);
    assert.equal(await pink(), 0);
    await page.close();
  });

  test("three clicks from opening to the late rank and what it does", async () => {
    const page = await Page.open(chrome, address, "panel=summary");
    const imbalance = page.own.locator('[data-finding="imbalance"]');
    await imbalance.waitFor();
    const finding = imbalance.locator("button.link").first();
    assert.match(await finding.textContent(), /^rank 15 computes \d+\.\d\s% longer/);
    // One: the finding. The late rank is pinned on top, its longest computing selected and in view.
    await finding.click();
    const { sel } = await page.until((view) => /pin:15\b/.test(view.timelines) && view.sel.length === 1, "the late rank on top");
    await page.true("its details", () => document.querySelector(".details dd")?.textContent === "rank 15");
    assert.match(await page.own.locator(".label-pinned").first().textContent(), /rank 15/);
    await page.settled();
    // Two: what it did until then, which took longer than that of any other.
    await page.own.locator(".details").getByRole("button", { name: "previous" }).click();
    const { sel: [before] } = await page.until((view) => view.sel[0] !== sel[0], "what was before on its timeline");
    const late = await page.ask(`ref?ref=${encodeURIComponent(before)}`);
    assert.equal(late.name, "compute");
    assert.equal(late.label, "rank 15");
    const stats = JSON.parse(run("stats", "--window", String(late.t0), String(late.t1), "--format", "json", trace));
    assert.ok(stats.categories.find(({ category }) => category === "compute").max_s <= (late.t1 - late.t0) * 1.001);
    // The finding has opened the same by timeline, with nobody as busy.
    await page.own.locator('table[aria-label="Statistics by timeline"] tbody tr[data-nth]').first().waitFor();
    await page.close();
  });

  test("a window exported as a page opens from its file", async () => {
    if (!existsSync(answers)) return console.log(`SKIPPED: no page is exported without ${answers}, which ci/build-wasm makes`);
    const { categories } = await (await Page.open(chrome, address)).ask("meta");
    // Kinds have other numbers in a part in which some do not occur.
    const [send, reduce] = ["MPI_Isend", "MPI_Allreduce"].map((name) => categories.findIndex((one) => one.name === name));
    const page = await Page.open(chrome, address, `t=0.03~0.04&hide=${reduce}&names=${send}:my send&theme=dark&notes=0.035@0.1:here`);
    const [download] = await Promise.all([page.own.waitForEvent("download"), page.own.locator("#export-html").click()]);
    const file = join(folder, "window.html");
    await download.saveAs(file);
    for (const name of ["svg", "png"]) {
      const [picture] = await Promise.all([page.own.waitForEvent("download"), page.own.locator(`#export-${name}`).click()]);
      await picture.saveAs(join(folder, `window.${name}`));
    }
    assert.match(readFileSync(join(folder, "window.svg"), "utf8"), /^<(\?xml|svg)/);
    assert.deepEqual([...readFileSync(join(folder, "window.png")).subarray(1, 4)], [...Buffer.from("PNG")]);
    await page.close();
    const alone = await Page.open(chrome, `file://${file}`);
    await alone.true("categories in the legend", () => document.querySelectorAll(".kinds tbody tr").length > 5);
    // As the page that it was made from.
    const part = JSON.parse(await alone.own.evaluate(async () => new TextDecoder().decode(await window.__trace.ask("meta"))));
    await alone.true("a name of the reader's", () => [...document.querySelectorAll(".kinds .name")].some(({ textContent }) => textContent === "my send"));
    const { hide, names, theme, notes } = alone.view();
    assert.deepEqual(hide.map((kind) => part.categories[kind].name), ["MPI_Allreduce"]);
    assert.deepEqual(names.map(([kind, name]) => [part.categories[kind].name, name]), [["MPI_Isend", "my send"]]);
    assert.deepEqual([theme, notes.map(({ text }) => text)], ["dark", ["here"]]);
    await alone.press("w");
    await alone.settled();
    await alone.close();
  });

  test("names that are meant to do harm are text", async () => {
    const page = await Page.open(chrome, hostileAddress, "panel=stats");
    await page.own.locator('table[aria-label="Statistics by category"] tbody tr[data-nth]').first().waitFor();
    const names = await page.own.locator(".kinds .name").allTextContents();
    assert.ok(names.some((name) => name.includes("<script>")), names.map((name) => name.slice(0, 50)).join());
    assert.ok(names.every((name) => name.length < 200), "long names are cut");
    for (const panel of ["summary", "timelines", "matrix", "hits", "events", "io"]) {
      await page.look(`panel=${panel}`);
      assert.equal(await page.own.locator("#page script, #page img, #page iframe").count(), 0);
    }
    assert.equal(await page.own.evaluate(() => window.harm ?? null), null);
    await page.close();
  });
}

/** The count of a category in what `mpitrace stats` prints. */
function countOf(stats, name) {
  return stats.categories.find(({ category }) => category === name)?.count ?? 0;
}
