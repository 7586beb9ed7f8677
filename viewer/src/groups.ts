// Groups of timelines that the reader makes: a line of text for each, `name = timelines`, and the item of the text of timelines that they become. Pure.

import { item, withItem } from "./spec";

/** What would end a name or a group in the text of timelines. */
const RESERVED = /[;|=]/g;

/** The groups of a text of timelines, a line each. */
export function linesOf(spec: string): string {
  const groups = item(spec, "groups") ?? "";
  return groups.split("|").filter((group) => group !== "").map((group) => group.replace("=", " = ")).join("\n");
}

/** The text of timelines with these groups, or what is wrong with a line. */
export function withGroups(spec: string, lines: string): { spec: string } | { wrong: string } {
  const groups: string[] = [];
  for (const line of lines.split("\n").map((one) => one.trim()).filter((one) => one !== "")) {
    const at = line.indexOf("=");
    const name = line.slice(0, at).trim();
    const filter = line.slice(at + 1).replace(RESERVED, " ").trim();
    if (at < 0 || name === "" || filter === "") return { wrong: `“${line}” is no group. Write name = timelines, such as odd ranks = 1-/2` };
    groups.push(`${name.replace(RESERVED, " ")}=${filter}`);
  }
  return { spec: withItem(spec, "groups", groups.join("|") || null) };
}

/** The names of the groups of a text of timelines. */
export function namesOf(spec: string): string[] {
  return (item(spec, "groups") ?? "").split("|").filter((group) => group !== "").map((group) => group.slice(0, group.indexOf("=")));
}

/** The text of timelines without the group of this name, or as it is. */
export function withoutGroup(spec: string, name: string): string {
  const groups = (item(spec, "groups") ?? "").split("|").filter((group) => group !== "" && group.slice(0, group.indexOf("=")) !== name);
  return withItem(spec, "groups", groups.join("|") || null);
}

/** The text of timelines with the group of a name moved before another one, or behind all (null). Of what is no group it stays as it is. */
export function withGroupMoved(spec: string, name: string, before: string | null): string {
  const nameOf = (group: string) => group.slice(0, group.indexOf("="));
  const groups = (item(spec, "groups") ?? "").split("|").filter((group) => group !== "");
  const moved = groups.find((group) => nameOf(group) === name);
  if (moved === undefined || name === before) return spec;
  const rest = groups.filter((group) => group !== moved);
  const at = rest.findIndex((group) => nameOf(group) === before);
  rest.splice(at < 0 ? rest.length : at, 0, moved);
  return withItem(spec, "groups", rest.join("|"));
}

/** Groups of so many neighbours each, as far as they are not too many. */
export function neighbours(timelines: number, size: number): string {
  const most = 64;
  const wide = Math.max(1, Math.floor(size), Math.ceil(timelines / most));
  const lines: string[] = [];
  for (let first = 0; first < timelines; first += wide) {
    const last = Math.min(timelines, first + wide) - 1;
    lines.push(`${first} – ${last} = ${first}-${last}`);
  }
  return lines.join("\n");
}
