// Runs the worker of the page that opens files in node, on a file that is read from the disk as a browser reads its own.
// wasm_file.mjs ANSWERS SCRIPT TRACE < questions: of each line the status and the body in hexadecimal; at the end the bytes that were read.
import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";

const [answers, script, trace] = process.argv.slice(2);
const disk = openSync(trace, "r");
const file = { size: statSync(trace).size, slice: (from, to) => ({ from, to }) };
globalThis.FileReaderSync = class {
  readAsArrayBuffer({ from, to }) {
    const bytes = new Uint8Array(Math.max(0, Math.min(to, file.size) - from));
    readSync(disk, bytes, 0, bytes.length, from);
    return bytes.buffer;
  }
};
const heard = [];
let wake = () => undefined;
globalThis.postMessage = (message) => {
  heard.push(message);
  wake();
};
const next = async (is) => {
  for (;;) {
    const at = heard.findIndex(is);
    if (at >= 0) return heard.splice(at, 1)[0];
    await new Promise((done) => (wake = done));
  }
};
// Its channels would keep node from ending.
const channels = [];
const Channel = globalThis.MessageChannel;
globalThis.MessageChannel = class extends Channel {
  constructor() {
    super();
    channels.push(this);
  }
};
new Function(`${readFileSync(script)}`)();
const module = await WebAssembly.compile(readFileSync(answers));
globalThis.onmessage({ data: { module, name: "a.slog2", file } });
const { opened, message } = await next((one) => one.opened);
if (opened !== 200) throw new Error(message);
let id = 0;
let read = 0;
for (const asked of readFileSync(0, "utf8").split("\n").filter((line) => line !== "")) {
  globalThis.onmessage({ data: { id: ++id, asked } });
  const answer = await next((one) => one.id === id);
  read = answer.read;
  console.log(`${answer.status} ${Buffer.from(answer.body).toString("hex")}`);
}
console.log(read);
for (const { port1, port2 } of channels) {
  port1.close();
  port2.close();
}
closeSync(disk);
