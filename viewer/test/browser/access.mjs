// For everybody: axe finds nothing in light and dark and in no panel, at 400 % and in narrow windows all can be reached.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Page, test } from "./harness.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds in the page. */
export async function violations(page) {
  await page.own.evaluate(axe);
  const found = await page.own.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.flatMap(({ id, help, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)} ${failureSummary}`));
}

export function access(chrome, { address }) {
  for (const theme of ["light", "dark"]) {
    test(`axe finds nothing: ${theme}`, async () => {
      const page = await Page.open(chrome, address, `t=0.02~0.05&theme=${theme}`);
      const state = await page.ask("next?timeline=5&t=0.04&dir=1");
      for (const panel of ["summary", "stats", "timelines", "matrix", "hits", "events", "io", "pins"]) {
        await page.look(`t=0.02~0.05&theme=${theme}&path=on&full=3&tracks=ranks,messages,bytes,io&panel=${panel}&sel=${state.ref}&pins=${state.ref}&notes=0.03@0.2:late${panel === "events" ? "&range=0.03~0.04~0~16" : ""}&q=MPI_Waitall`);
        await page.own.waitForTimeout(600);
        assert.deepEqual(await violations(page), [], panel);
      }
      await page.own.locator(".menu summary").click();
      assert.deepEqual(await violations(page), [], "the menu of tracks");
      await page.press("Escape");
      for (const key of ["?", "Ctrl+k", "o"]) {
        await page.press(key);
        await page.own.locator("dialog[open]").waitFor();
        assert.deepEqual(await violations(page), [], key);
        await page.press("Escape");
        await page.own.locator("dialog[open]").waitFor({ state: "detached" });
      }
      await page.close();
    });
  }

  test("at 400 % and in narrow windows nothing is cut off", async () => {
    for (const [width, height] of [[350, 225], [320, 640], [800, 600]]) {
      const page = await Page.open(chrome, address, "panel=stats", { viewport: { width, height } });
      const over = await page.own.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(over <= 0, `${width} pixels: ${over} too wide`);
      const box = await page.box();
      assert.ok(box.width > 100 && box.height > 100, `${width} pixels: the timeline has ${box.width} x ${box.height}`);
      // The legend is a panel there, and goes when another one is asked for.
      assert.equal(await page.own.locator("aside.side").count(), 0);
      await page.own.locator("#tab-legend").click();
      await page.own.locator("#panel .kinds tbody tr").first().waitFor();
      assert.deepEqual(await violations(page), [], `${width} pixels, legend`);
      await page.press("2");
      await page.own.locator('table[aria-label="Statistics by category"]').waitFor();
      assert.equal(await page.own.locator(".legend").count(), 0);
      assert.deepEqual(await violations(page), [], `${width} pixels`);
      await page.close();
    }
  });

  test("what scrolls in the panel of messages can be reached by keys", async () => {
    const page = await Page.open(chrome, address, "panel=matrix", { viewport: { width: 1400, height: 640 } });
    await page.own.locator(".histograms tbody tr").nth(3).waitFor();
    assert.ok(await page.own.locator(".histograms").evaluate((room) => room.scrollHeight > room.clientHeight), "it scrolls");
    assert.deepEqual(await violations(page), []);
    await page.close();
  });

  test("sharp on screens of two dots per pixel, quiet where motion is not wanted", async () => {
    const page = await Page.open(chrome, address, "t=0.02~0.05", { deviceScaleFactor: 2, reducedMotion: "reduce", contrast: "more" });
    const { width } = await page.box();
    assert.equal(await page.own.locator("#timeline").evaluate((canvas) => canvas.width), Math.round(width * 2));
    await page.close();
  });

  test("Tab stops once in the rows of the legend, arrow keys go from row to row", async () => {
    const page = await Page.open(chrome, address, "t=0.02~0.03");
    await page.own.locator(".kinds tbody tr").nth(2).waitFor();
    const at = () => page.own.evaluate(() => {
      const row = document.activeElement?.closest(".kinds tbody tr");
      return [row ? [...row.parentElement.children].indexOf(row) : -1, document.activeElement?.getAttribute("type")];
    });
    await page.own.locator(".kinds thead button").last().focus();
    await page.own.keyboard.press("Tab");
    assert.deepEqual(await at(), [0, "checkbox"]);
    await page.own.keyboard.press("ArrowDown");
    await page.own.keyboard.press("ArrowDown");
    await page.own.keyboard.press("ArrowRight");
    assert.deepEqual(await at(), [2, "color"]);
    await page.own.keyboard.press("ArrowLeft");
    // Through what can be done with the row, and out of the rows.
    for (let step = 0; step < 7 && (await at())[0] === 2; step++) await page.own.keyboard.press("Tab");
    assert.equal((await at())[0], -1);
    await page.own.keyboard.press("Shift+Tab");
    assert.equal((await at())[0], 2);
    // On to the end and once round: each stop is seen to have the focus, and none keeps it.
    await page.press("2");
    await page.own.locator('table[aria-label="Statistics by category"] tbody tr').first().waitFor();
    for (const round of ["to the end", "round"]) {
      const stops = [];
      do {
        await page.own.keyboard.press("Tab");
        stops.push(await page.own.evaluate(() => {
          const on = document.activeElement;
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(on);
          const [box, isSeen] = [on.getBoundingClientRect(), (outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0) || boxShadow !== "none"];
          const isHere = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
          return { name: `${on.tagName} ${on.id} ${on.getAttribute("aria-label") ?? ""}`, isBody: on === document.body, isGood: isSeen && isHere };
        }));
      } while (!stops.at(-1).isBody && stops.length < 150);
      assert.ok(stops.at(-1).isBody, `${round}: ${stops.slice(-3).map(({ name }) => name).join(", ")}`);
      assert.deepEqual(stops.slice(0, -1).filter(({ isGood }) => !isGood), [], round);
      if (round === "round") for (const id of ["search", "timeline", "legend-filter", "tab-stats", "export-svg"]) assert.ok(stops.some(({ name }) => name.split(" ")[1] === id), id);
    }
    await page.close();
  });

  test("letters are no keys for who does not want it", async () => {
    const page = await Page.open(chrome, address, "t=0.02~0.03");
    await page.press("?");
    await page.own.getByLabel("single letters are keys").uncheck();
    await page.press("Escape");
    await page.press("w");
    await page.rest();
    assert.equal(page.view().t0, 0.02);
    await page.press("Ctrl+k");
    await page.own.locator("dialog.commands input").fill("zoom in");
    await page.own.keyboard.press("Enter");
    await page.until((view) => view.t0 > 0.02, "by the list of commands all can be done");
    await page.close();
  });
}
