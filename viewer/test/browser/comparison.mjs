// Two traces, one above the other: the same window, what changed, and the ways to change places.

import assert from "node:assert/strict";
import { join } from "node:path";
import { violations } from "./access.mjs";
import { folder, Page, run, serve, test } from "./harness.mjs";

export function comparison(chrome, { twoAddress, lateAddress }) {
  /** Waits until the other trace is drawn. */
  const drawn = (page) => page.own.waitForSelector('#other[data-settled="yes"]', { state: "attached" });

  /** How many pixels of a row of the canvas with this name differ from an empty timeline, by part of the width. */
  const busy = (page, id, timeline, parts) => page.own.evaluate(([name, nth, many]) => {
    const canvas = document.getElementById(name);
    const ratio = canvas.width / canvas.getBoundingClientRect().width;
    const label = canvas.closest(".timeline").querySelectorAll(".labels-field .label")[nth].getBoundingClientRect();
    const y = (label.top + label.height / 4 - canvas.getBoundingClientRect().top) * ratio;
    const { data } = canvas.getContext("2d").getImageData(0, Math.round(y), canvas.width, 1);
    return Array.from({ length: many }, (_, part) => {
      const x = Math.floor(((part + 0.5) / many) * canvas.width);
      return data[4 * x] < 0xc0;
    });
  }, [id, timeline, parts]);

  test("two traces stand one above the other, and zoom together", async () => {
    const page = await Page.open(chrome, twoAddress, "theme=light&arrows=none");
    await drawn(page);
    await page.own.locator(".lower-head b", { hasText: "better.paje" }).waitFor();
    // Rank 2 comes to its MPI_Allreduce 4 ms after the begin of a step in the first trace, 2 ms in the other one; both leave it after 5 ms. The traces begin at 1 ms.
    await page.look("theme=light&arrows=none&t=0.02~0.03");
    await drawn(page);
    const at = (states) => states.flatMap((is, part) => (is ? [part] : []));
    assert.deepEqual(at(await busy(page, "timeline", 2, 10)), [4]);
    assert.deepEqual(at(await busy(page, "other", 2, 10)), [2, 3, 4]);
    await page.own.locator("#timeline").focus();
    await page.press("w");
    await page.settled();
    await drawn(page);
    await page.own.waitForTimeout(500);
    // From 22.5 to 27.5 ms.
    assert.deepEqual(at(await busy(page, "timeline", 2, 10)), [3, 4]);
    assert.deepEqual(at(await busy(page, "other", 2, 10)), [0, 1, 2, 3, 4]);
    const { t0, t1 } = page.view();
    const { x, y, width, height } = await page.own.locator("#other").boundingBox();
    await page.own.mouse.move(x + width / 2, y + height / 2);
    await page.own.keyboard.down("Control");
    await page.own.mouse.wheel(0, -200);
    await page.own.keyboard.up("Control");
    await page.until((view) => view.t1 - view.t0 < (t1 - t0) * 0.9, "zoomed by the wheel over the other trace");
    await page.close();
  });

  test("until the picture of other timelines has come, none stands beside their names", async () => {
    const page = await Page.open(chrome, twoAddress, "theme=light&arrows=none&t=0.02~0.03");
    await drawn(page);
    assert.ok((await busy(page, "other", 2, 20)).includes(true));
    let release;
    const held = new Promise((done) => (release = done));
    await page.own.route(/\/t\/1\/picture\?/, async (route) => {
      await held;
      await route.continue();
    });
    await page.look("theme=light&arrows=none&t=0.02~0.03&timelines=only:2");
    await page.own.waitForFunction(() => document.querySelectorAll(".lower .labels-field .label").length === 1);
    await page.settled();
    await page.own.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    // Nothing of rank 0, which had the first timeline before.
    assert.deepEqual(await busy(page, "other", 0, 20), Array.from({ length: 20 }, () => false));
    release();
    await drawn(page);
    assert.ok((await busy(page, "other", 0, 20)).includes(true));
    await page.close();
  });

  test("both traces are drawn in the same way: shares in high timelines, not in low ones", async () => {
    for (const [height, wanted] of [[40, "stack"], [12, "dominant"]]) {
      const page = await Page.open(chrome, twoAddress, "with=1&height=20");
      const modes = [new Set(), new Set()];
      page.own.on("request", (request) => {
        const [, trace, mode] = /\/t\/(\d)\/picture\?.*\bmode=(\w+)/.exec(request.url()) ?? [];
        if (mode) modes[Number(trace)].add(mode);
      });
      await page.look(`with=1&height=${height}&t=0.02~0.03`);
      await drawn(page);
      assert.deepEqual(modes.map((of) => [...of]), [[wanted], [wanted]], `${height} pixels`);
      await page.close();
    }
  });

  test("what changed is told as the command tells it, in a sentence and in tables; axe finds nothing", async () => {
    for (const theme of ["light", "dark"]) {
      const page = await Page.open(chrome, twoAddress, `theme=${theme}&panel=compare`);
      await drawn(page);
      const verdict = page.own.locator(".compare .sentence");
      await verdict.waitFor();
      assert.match(await verdict.textContent(), /^From late\.paje to better\.paje: 91\.0 ms in place of 91\.0 ms: as fast\. A rank has on average .*4\.00 ms less computing/);
      // Rank 2 computes 2 ms less in each of eight steps.
      const row = page.own.locator("table", { hasText: "Computing by rank" }).locator("tbody tr");
      assert.equal(await row.count(), 1);
      assert.match(await row.first().textContent(), /^rank 2.*\u221216\.0/u);
      assert.deepEqual(await violations(page), [], theme);
      await page.close();
    }
  });

  /** Goes on by Tab, or Shift+Tab, to what has this role and name. */
  const tabTo = async (page, wanted, key = "Tab") => {
    for (let step = 0; step < 150; step++) {
      await page.own.keyboard.press(key);
      if (await wanted.evaluate((element) => element === document.activeElement)) return;
    }
    throw new Error(`${key} does not come to ${wanted}`);
  };

  /** Whether the focus is on something, so that Tab goes on from there. */
  const hasFocus = (page, what) => page.true(what, () => document.activeElement !== null && document.activeElement !== document.body);

  test("by keys alone: swap puts the other trace first, close shows one alone; the link keeps both", async () => {
    const page = await Page.open(chrome, twoAddress, "t=0.02~0.03");
    await drawn(page);
    await tabTo(page, page.own.getByRole("button", { name: "swap" }));
    await page.own.keyboard.press("Enter");
    await page.until(({ trace, other, t0 }) => trace === 1 && other === 0 && Math.abs(t0 - 0.02) < 1e-9, "the second trace first");
    await drawn(page);
    await hasFocus(page, "the focus is kept by swap");
    // A dialog over it takes the focus and gives it back.
    const swap = page.own.getByRole("button", { name: "swap" });
    for (const key of ["?", "Ctrl+k", "o"]) {
      await swap.focus();
      await page.press(key);
      await page.own.locator("dialog[open]").waitFor();
      const inside = () => page.own.evaluate(() => {
        const at = document.activeElement;
        return at === document.body || document.querySelector("dialog[open]")?.contains(at) === true;
      });
      for (let step = 0; step < 25; step++) {
        await page.own.keyboard.press(step % 5 === 4 ? "Shift+Tab" : "Tab");
        assert.ok(await inside(), `${key}: Tab leads out of the dialog`);
      }
      await page.press("Escape");
      await page.own.locator("dialog[open]").waitFor({ state: "detached" });
      await page.true(`${key}: the focus is back`, () => document.activeElement?.textContent === "swap");
    }
    await tabTo(page, page.own.getByRole("button", { name: "close" }));
    await page.own.keyboard.press("Enter");
    await page.until(({ other }) => other === -2, "one alone");
    await page.own.locator("#other").waitFor({ state: "detached" });
    await hasFocus(page, "the focus is somewhere when the other trace is gone");
    await page.rest();
    await page.own.reload();
    await page.settled();
    assert.equal(await page.own.locator("#other").count(), 0);
    await page.press("9");
    const choice = page.own.getByLabel("Compared with");
    await tabTo(page, choice);
    await page.own.keyboard.press("ArrowDown");
    await drawn(page);
    // On to the picture and its keys.
    await tabTo(page, page.own.locator("#timeline"), "Shift+Tab");
    await page.press("w");
    await page.until(({ t0, t1 }) => t1 - t0 < 0.006, "zoomed");
    await page.close();
  });

  test("on a small screen with an open panel both traces have room for their timelines, and no label is cut", async () => {
    const page = await Page.open(chrome, twoAddress, "theme=light&panel=compare", { viewport: { width: 1024, height: 700 } });
    await drawn(page);
    const fields = await page.own.evaluate(() => [...document.querySelectorAll(".middle .labels-field")].map((field) => {
      const { top, bottom } = field.getBoundingClientRect();
      const labels = [...field.querySelectorAll(".label-name")].map((label) => label.getBoundingClientRect());
      return { height: bottom - top, cut: labels.filter((label) => label.top + 3 < top || label.bottom - 3 > bottom).length, labels: labels.length };
    }));
    assert.equal(fields.length, 2);
    for (const { height, cut, labels } of fields) assert.ok(height > 45 && cut === 0 && labels > 0, JSON.stringify(fields));
    await page.close();
  });

  test("pages of a report and of a comparison do not scroll sideways in a narrow window", async () => {
    const [late, better] = ["late.paje", "better.paje"].map((name) => join(folder, name));
    const pages = { report: ["report", late], comparison: ["compare", late, better] };
    for (const [name, [command, ...traces]] of Object.entries(pages)) {
      const file = join(folder, `${name}.html`);
      run(command, "--html", file, ...traces);
      const page = await chrome.newPage({ viewport: { width: 420, height: 800 } });
      await page.goto(`file://${file}`);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 420, name);
      await page.close();
    }
  });

  test("the category that was chosen in the statistics of a trace is not chosen by its number in those of another one", async () => {
    const server = await serve(join(folder, "late.paje"), join(folder, "ten.paje"));
    const page = await Page.open(chrome, server.address, "panel=stats&with=none");
    const row = (name) => page.own.locator('table[aria-label="Statistics by category"] tbody tr', { hasText: name }).first();
    const told = (name) => page.own.locator(".durations figcaption", { hasText: name }).waitFor();
    await row("MPI_Allreduce").click();
    await told("MPI_Allreduce");
    const kind = async (n, name) => page.own.evaluate(async ([trace, wanted]) => (await (await fetch(`t/${trace}/meta`)).json()).categories.findIndex((one) => one.name === wanted), [n, name]);
    const chosen = await kind(0, "MPI_Allreduce");
    // Its number is that of another category there.
    const others = await Promise.all(["setup", "MPI_Barrier"].map((name) => kind(1, name)));
    assert.ok(others.includes(chosen), `${chosen} of ${others}`);
    await page.own.getByLabel("Trace", { exact: true }).selectOption("1");
    await page.until((view) => view.trace === 1, "the other trace");
    await page.look("trace=1&panel=stats&with=none");
    // What takes most of the time of ten.paje.
    await told("solve");
    await page.close();
    server.stop();
  });

  test("heat and hidden categories are those of the same name below, also where they have a name of one's own; what the other trace lacks is told", async () => {
    const server = await serve(join(folder, "late.paje"), join(folder, "deep.paje"));
    const page = await Page.open(chrome, server.address);
    const kind = (n, name) => page.own.evaluate(async ([trace, wanted]) => (await (await fetch(`t/${trace}/meta`)).json()).categories.findIndex((one) => one.name === wanted), [n, name]);
    const [above, below, lacked] = [await kind(0, "MPI_Recv"), await kind(1, "MPI_Recv"), await kind(0, "assemble")];
    assert.notEqual(above, below);
    const asked = [];
    page.own.on("request", (request) => {
      const url = new URL(request.url());
      if (url.pathname.endsWith("/t/1/picture")) asked.push([url.searchParams.get("mode"), url.searchParams.get("hide") ?? ""]);
    });
    const last = async (mode, hide) => {
      for (let nth = 0; nth < 100 && asked.at(-1)?.join() !== [mode, hide].join(); nth++) await page.own.waitForTimeout(50);
      assert.deepEqual(asked.at(-1), [mode, hide]);
    };
    await page.look(`names=${above}:receives&mode=heat:${above}`);
    await last(`heat:${below}`, "");
    assert.equal(await page.own.locator(".lacking").count(), 0);
    // Too low for shares.
    await page.look(`names=${above}:receives&hide=${above}&height=12`);
    await last("dominant", String(below));
    await page.look(`theme=light&arrows=none&mode=heat:${lacked}`);
    await page.own.locator(".lacking", { hasText: "has no assemble" }).waitFor();
    await drawn(page);
    for (const timeline of [0, 1]) assert.deepEqual(await busy(page, "other", timeline, 20), Array(20).fill(false));
    await page.close();
    server.stop();
  });

  test("the filter of the timelines, and own groups, are those of the trace below, too; where it has none of them it shows all, and says so", async () => {
    const server = await serve(join(folder, "late.paje"), join(folder, "deep.paje"));
    const page = await Page.open(chrome, server.address, "height=30");
    page.allowed.push(/^400 .*\/t\/1\/timelines\?timelines=only%3A3$/);
    const below = (wanted) => page.true(`below ${wanted}`, (names) => [...document.querySelectorAll(".lower .labels-field .label-name")].map((one) => one.textContent).join() === names, wanted);
    await below("rank 0,rank 1");
    await page.look("height=30&timelines=only:1-2");
    await below("rank 1");
    await drawn(page);
    assert.equal(await page.own.locator(".lacking").count(), 0);
    await page.look("height=30&timelines=only:3");
    await page.own.locator(".lacking", { hasText: "has none of the timelines above" }).waitFor();
    await below("rank 0,rank 1");
    await drawn(page);
    await page.look("height=30&timelines=groups:even=0-/2|odd=1-/2");
    await below("even,odd");
    assert.equal(await page.own.locator(".lacking").count(), 0);
    await page.look("height=30");
    await below("rank 0,rank 1");
    await page.close();
    server.stop();
  });

  test("one trace has nothing to be compared with, and says how to", async () => {
    const page = await Page.open(chrome, lateAddress, "panel=compare");
    await page.own.getByText("mpitrace view before.slog2 after.slog2").waitFor();
    assert.equal(await page.own.locator("#other").count(), 0);
    await page.close();
  });
}
