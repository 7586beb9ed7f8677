import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import test from "node:test";
import { ACTIONS, GROUPS, keyText } from "../../src/keys";

const FILE = "../docs/user/viewer.md";
const [BEGIN, END] = ["<!-- keys: made by UPDATE_DOCS=1 npm --prefix viewer test -->\n", "<!-- end of keys -->"];

/** The table of keys as Markdown. */
function table(): string {
  const cell = (text: string) => text.replaceAll("|", "\\|");
  const lines = GROUPS.flatMap((group) => [
    `| **${group}** | |`,
    ...ACTIONS.filter((one) => one.group === group && (one.keys.length > 0 || one.pointer)).map((one) =>
      `| ${one.pointer ?? one.keys.map((key) => `\`${cell(keyText(key))}\``).join(" ")} | ${cell(one.title)} |`),
  ]);
  return ["| | |", "|---|---|", ...lines, ""].join("\n");
}

test("docs/user/viewer.md has the table of keys", () => {
  const text = readFileSync(FILE, "utf8");
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  assert.ok(from >= 0 && to > from, `${FILE} has the place for the table`);
  const right = text.slice(0, from + BEGIN.length) + table() + text.slice(to);
  if (process.env["UPDATE_DOCS"]) writeFileSync(FILE, right);
  else assert.equal(text, right, "UPDATE_DOCS=1 npm --prefix viewer test");
});
