// A server that is out of reach for a while: the page says so, asks again, and goes on when there are answers again.

import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import { Page, serve, test } from "./harness.mjs";

/** A way to a server that can be cut and mended. */
class Way {
  open = new Set();

  constructor(to) {
    this.to = to;
    this.server = createServer((near) => {
      const far = connect(this.to, "127.0.0.1");
      for (const [one, another] of [[near, far], [far, near]]) {
        this.open.add(one);
        one.on("error", () => another.destroy());
        one.on("close", () => this.open.delete(one));
        one.pipe(another);
      }
    });
  }

  listen(port = 0) {
    return new Promise((done) => this.server.listen(port, "127.0.0.1", () => {
      this.port = this.server.address().port;
      done();
    }));
  }

  cut() {
    const closed = new Promise((done) => this.server.close(done));
    for (const socket of this.open) socket.destroy();
    return closed;
  }
}

export function polling(chrome, { trace }) {
  test("while nobody answers the page says so and asks again; when there are answers again it goes on by itself", async () => {
    const way = new Way(0);
    await way.listen();
    const server = await serve("--allow-host", `127.0.0.1:${way.port}`, trace);
    way.to = Number(new URL(server.address).port);
    const address = server.address.replace(`:${way.to}`, `:${way.port}`);
    // The page is opened on the way that can be cut.
    const page = await Page.open(chrome, address, "t=0.02~0.03");
    const alert = page.own.locator(".trouble[role=alert]");
    await way.cut();
    await page.own.locator("#timeline").focus();
    await page.press("w");
    await alert.waitFor();
    assert.match(await alert.textContent(), /does not answer any more.* It is asked again in \d+\s*s\./u);
    await page.own.waitForSelector('#timeline[data-settled="no"]', { state: "attached" });
    await way.listen(way.port);
    await page.settled();
    await alert.waitFor({ state: "detached" });
    await page.close();
    await way.cut();
    server.stop();
  });

  test("what the server is still finding out is asked for again after a question that nobody answered", async () => {
    const way = new Way(0);
    await way.listen();
    const server = await serve("--allow-host", `127.0.0.1:${way.port}`, trace);
    way.to = Number(new URL(server.address).port);
    const page = await Page.open(chrome, server.address.replace(`:${way.to}`, `:${way.port}`));
    let isPending = true;
    let asked = 0;
    await page.own.route("**/t/0/waits", (route) => {
      asked++;
      return isPending ? route.fulfill({ json: { state: "pending", list: [] } }) : route.continue();
    });
    await page.own.reload();
    await page.settled();
    while (asked === 0) await page.own.waitForTimeout(50);
    await way.cut();
    isPending = false;
    await page.own.locator(".trouble[role=alert]", { hasText: "It is asked again in" }).waitFor();
    const known = page.own.waitForResponse((answer) => answer.url().endsWith("/t/0/waits") && answer.ok());
    await way.listen(way.port);
    assert.notEqual((await (await known).json()).state, undefined);
    await page.own.locator(".trouble[role=alert]").waitFor({ state: "detached" });
    await page.close();
    await way.cut();
    server.stop();
  });
}
