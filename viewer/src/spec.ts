// The text that says which timelines there are and in which order: items `name:value` joined by `;`. The server knows what it
// means and gives it its canonical form; the page only adds and takes away.

export type ItemName = "map" | "only" | "hide" | "pin" | "fold" | "shut" | "open" | "sort" | "order" | "groups" | "block" | "cluster";

function items(spec: string): [string, string][] {
  return spec.split(";").filter((item) => item !== "").map((item) => {
    const colon = item.indexOf(":");
    return colon < 0 ? [item, ""] : [item.slice(0, colon), item.slice(colon + 1)];
  });
}

/** The value of an item, or null where there is none. */
export function item(spec: string, name: ItemName): string | null {
  return items(spec).find(([found]) => found === name)?.[1] ?? null;
}

/** With another value of an item; null takes it away. */
export function withItem(spec: string, name: ItemName, value: string | null): string {
  const kept = items(spec).filter(([found]) => found !== name);
  if (value !== null && value !== "") kept.push([name, value]);
  return kept.map(([found, text]) => `${found}:${text}`).join(";");
}

/** The keys of a list, `3,7-9,n12`, one by one. */
export function keysOf(list: string | null): string[] {
  const keys: string[] = [];
  for (const part of (list ?? "").split(",")) {
    const range = /^(\d{1,7})-(\d{1,7})$/.exec(part);
    if (!range) {
      if (/^n?\d{1,7}$/.test(part)) keys.push(part);
      continue;
    }
    const last = Math.min(Number(range[2]), Number(range[1]) + 100_000);
    for (let key = Number(range[1]); key <= last; key++) keys.push(String(key));
  }
  return keys;
}

/** The list of these keys in the order given, neighbours as ranges. */
export function listOf(keys: readonly string[]): string {
  const parts: string[] = [];
  for (let at = 0; at < keys.length; ) {
    let end = at;
    while (isLeaf(keys[end]) && isLeaf(keys[end + 1]) && Number(keys[end + 1]) === Number(keys[end]) + 1) end++;
    parts.push(end > at + 1 ? `${keys[at]}-${keys[end]}` : keys.slice(at, end + 1).join(","));
    at = end + 1;
  }
  return parts.join(",");
}

function isLeaf(key: string | undefined): boolean {
  return key !== undefined && !key.startsWith("n");
}

/** Whether a key is in an item's list. */
export function hasKey(spec: string, name: ItemName, key: string): boolean {
  return keysOf(item(spec, name)).includes(key);
}

/** With a key put into an item's list, or taken out of it. */
export function withKey(spec: string, name: ItemName, key: string, isIn: boolean): string {
  const others = keysOf(item(spec, name)).filter((found) => found !== key);
  return withItem(spec, name, listOf(isIn ? [...others, key] : others));
}

/** A tree node opened or shut: in one of the two lists, not in the other. */
export function withNode(spec: string, key: string, isOpen: boolean): string {
  return withKey(withKey(spec, "open", key, isOpen), "shut", key, !isOpen);
}

/** The name of a line map without what it explains in parentheses: the nodes of a run. */
const mapName = (name: string | undefined) => name?.replace(/ \(.*$/s, "");

/**
 * What a text of timelines says of another trace, too: its filter and groups, which tell timelines by number and name, and in a line map of the same name
 * one timeline for each of its groups. Keys are numbers of lines of the one trace. `above` and `below` are the names of the line maps of both.
 */
export function sharedWith(spec: string, above: readonly string[], below: readonly string[]): string {
  const own = Number(item(spec, "map") ?? 0);
  const map = below.findIndex((name) => mapName(name) === mapName(above[own]));
  // Timelines of another line map are other things, unless both are what a trace shows at first.
  if (map < 0 && own > 0) return "";
  const names: ItemName[] = map < 0 ? ["only", "groups"] : ["only", "fold", "groups"];
  return names.reduce((text, name) => withItem(text, name, item(spec, name)), withItem("", "map", map > 0 ? String(map) : null));
}
