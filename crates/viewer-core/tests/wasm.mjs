// Runs the answers that are compiled for pages in node, with the script that pages have around them.
// wasm.mjs ANSWERS SCRIPT TRACE NAMES WAITS < questions: of each line the status and the body in hexadecimal.
import { readFileSync } from "node:fs";

const [answers, script, trace, names, waits] = process.argv.slice(2).map((path) => readFileSync(path));
const texts = { answers, trace, names, waits };
const window = {};
const document = {
  getElementById: (id) => ({ textContent: texts[id].toString("base64"), dataset: { name: "a.slog2" } }),
};
new Function("window", "document", script.toString())(window, document);
for (const question of readFileSync(0, "utf8").split("\n").filter((line) => line !== "")) {
  try {
    const found = await window.__trace.ask(question);
    console.log(`200 ${Buffer.from(found).toString("hex")}`);
  } catch (error) {
    if (error.status === undefined) throw error;
    console.log(`${error.status} ${Buffer.from(error.message).toString("hex")}`);
  }
}
