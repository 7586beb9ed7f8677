// The real command serving a trace, for measurements: where it is, how to ask it, and what memory it takes.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/** Starts `mpitrace view`; it is there when its address is printed. */
export async function serve(mpitrace, trace, options = {}) {
  const began = performance.now();
  const server = spawn(mpitrace, ["view", "--no-open", ...(options.arguments ?? []), trace], {
    stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...options.environment },
  });
  let said = "";
  const address = await new Promise((found, fail) => {
    const hear = (part) => {
      said += part;
      const match = /https?:\/\/\S+#k=\S+/.exec(said);
      if (match) found(match[0]);
    };
    server.stdout.on("data", hear);
    server.stderr.on("data", hear);
    server.once("error", fail);
    server.once("exit", (code) => fail(new Error(`mpitrace view ended with ${code}: ${said}`)));
  });
  return new Served(server, address, began);
}

class Served {
  constructor(server, address, began) {
    this.server = server;
    this.address = address;
    /** When it was started, on the clock of `performance.now`. */
    this.began = began;
    [this.base, this.token] = address.split("#k=");
    this.cookie = null;
    /** The most memory beyond mapped pages that was seen, in bytes. */
    this.memory = 0;
    this.watch = setInterval(() => this.look(), 20);
  }

  look() {
    let status;
    try {
      status = readFileSync(`/proc/${this.server.pid}/status`, "utf8");
    } catch {
      return;
    }
    const of = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0) * 1024;
    this.memory = Math.max(this.memory, of("RssAnon") + of("RssShmem"));
  }

  /** The answer to a question about the trace, and how many milliseconds it took. */
  async ask(question) {
    if (this.cookie === null) {
      const answer = await fetch(`${this.base}login`, { method: "POST", body: this.token, headers: { "content-type": "text/plain" } });
      if (!answer.ok) throw new Error(`login: ${answer.status} ${await answer.text()}`);
      this.cookie = answer.headers.get("set-cookie").split(";")[0];
    }
    const began = performance.now();
    const answer = await fetch(`${this.base}t/0/${question}`, { headers: { cookie: this.cookie } });
    const body = Buffer.from(await answer.arrayBuffer());
    if (!answer.ok) throw new Error(`${question}: ${answer.status} ${body}`);
    return { body, milliseconds: performance.now() - began };
  }

  async json(question) {
    return JSON.parse((await this.ask(question)).body);
  }

  /** Ends it. */
  async stop() {
    this.look();
    clearInterval(this.watch);
    const ended = new Promise((done) => this.server.once("exit", done));
    this.server.kill("SIGINT");
    await ended;
  }
}
