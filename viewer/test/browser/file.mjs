// The page that opens files of the visitor's machine: no server, nothing but the file is read.

import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { violations } from "./access.mjs";
import { answers, folder, ownModules, Page, run, test } from "./harness.mjs";

/** The page with what its browser was asked for; nothing else than itself, and its own workers, may be. */
async function start(chrome, options = {}) {
  const html = join(folder, "viewer.html");
  run("view", "--page", html, "--force", "--dev", join(import.meta.dirname, "..", "..", "dist"));
  const context = await chrome.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  const page = new Page(context, await context.newPage(), await ownModules());
  const others = [];
  page.own.on("request", (request) => {
    if (!/^(file:\/\/.*\/viewer\.html|blob:)/.test(request.url())) others.push(request.url());
  });
  await page.own.goto(`file://${html}`);
  await page.own.locator(".start input").waitFor({ state: "attached" });
  return { page, others };
}

export function file(chrome, { trace }) {
  const isMissing = () => {
    if (existsSync(answers)) return false;
    console.log(`SKIPPED: no page that opens files is made without ${answers}, which ci/build-wasm makes`);
    return true;
  };

  test("a page without a server opens a file, finds who waits, and opens another one", async () => {
    if (isMissing()) return;
    for (const colorScheme of ["light", "dark"]) {
      const { page, others } = await start(chrome, { colorScheme });
      assert.deepEqual(await violations(page), [], `before a file is open, ${colorScheme}`);
      // What is no trace is said, and another file can be chosen.
      const wrong = join(folder, "wrong.slog2");
      writeFileSync(wrong, "no trace");
      await page.own.setInputFiles(".start input", wrong);
      await page.own.locator(".start .wrong", { hasText: "wrong.slog2: " }).waitFor();
      await page.own.setInputFiles(".start input", trace);
      await page.settled();
      await page.own.locator(".verdict .factor", { hasText: "Parallel efficiency" }).waitFor();
      await page.true("waits are drawn", () => document.querySelector(".wait-key") !== null && !document.querySelector(".wait-key").textContent.includes("not known"));
      assert.equal(await page.own.locator(".exports a").count(), 0);
      assert.deepEqual(await violations(page), [], `with a file, ${colorScheme}`);
      // The same numbers as those of the command.
      await page.press("2");
      const row = page.own.locator('table[aria-label="Statistics by category"] tbody tr', { hasText: "MPI_Allreduce" }).first();
      const { categories } = JSON.parse(run("stats", "--format", "json", trace));
      const expected = categories.find(({ category }) => category === "MPI_Allreduce").count;
      assert.equal((await row.locator("td").nth(1).textContent()).replace(/\D/g, ""), String(expected));
      // A wrong search is said where it is written.
      await page.own.locator("#search").fill("dur>");
      await page.own.keyboard.press("Enter");
      await page.own.locator("#search.wrong").waitFor();
      // Another file, dropped; what was undone before is gone.
      const other = join(folder, "other.slog2");
      if (!existsSync(other)) run("synth", "--ranks", "4", "--drawables", "3000", other);
      await page.own.evaluate(([bytes, name]) => {
        const data = new DataTransfer();
        data.items.add(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], name));
        document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
      }, [readFileSync(other).toString("base64"), "other.slog2"]);
      await page.own.locator(".trace-name", { hasText: "other.slog2" }).waitFor();
      await page.true("four timelines", () => document.querySelectorAll(".labels .label").length === 4);
      await page.settled();
      assert.ok(await page.own.getByRole("button", { name: "Undo" }).isDisabled());
      assert.deepEqual(others, []);
      await page.close();
    }
  });

  test("of a file only what is shown is read", async () => {
    if (isMissing()) return;
    const large = join(folder, "large.slog2");
    run("synth", "--ranks", "64", "--drawables", "2600000", large);
    const { size } = statSync(large);
    assert.ok(size > 160e6, `${size} bytes`);
    const { page } = await start(chrome);
    await page.own.evaluate(() => {
      location.hash = "t=0.1~0.101";
    });
    await page.own.setInputFiles(".start input", large);
    await page.settled();
    await page.own.locator(".bytes-read").waitFor();
    await page.true("call by call", () => document.querySelector("#timeline")?.dataset.settled === "yes");
    const read = await page.own.locator(".bytes-read").textContent();
    const [, number, unit] = /read ([\d.]+)\s*(KiB|MiB)/.exec(read) ?? [];
    assert.ok(Number(number) * (unit === "MiB" ? 1 << 20 : 1024) < size / 2, read);
    await page.close();
  });
}
