// The values of a drawable in words for people: files by their names, numbers with their thousands set off, and nothing that says nothing. Pure.

import { thin } from "./axis";

/** Of whose values it is told. */
export interface Described {
  class: string;
  info: readonly (readonly [string, string])[];
  bytes: number | null;
  file: string | null;
}

/** Values that stand among the facts already. */
const SIZES = ["bytes", "msg_size", "size"];
/** What only other programs need. */
const INTERNAL = ["filler", "operation"];
/** Numbers that are names: they have no thousands. */
const NAMES = ["callid", "tag", "inode", "device", "fd", "file", "handle", "comm", "request", "window"];
/** Names of values as people say them. */
const WORDS: Record<string, string> = { fd: "file descriptor", errno: "error number", file: "file number" };
/** What the handle of a call of a class stands for. */
const HANDLES: Record<string, string> = { io: "file handle", rma: "window" };

/** Names and values to be shown, in the order of the trace. */
export function infoWords({ info, bytes, file, class: of }: Described): [string, string][] {
  const isOperation = info.some(([name]) => name === "fd");
  const isSaid = ([name, text]: readonly [string, string]) => {
    if (SIZES.includes(name) && (text === String(bytes) || Number(text) < 0)) return false;
    if (!isOperation) return true;
    // What an operation on a file has not, its record has all the same.
    if (INTERNAL.includes(name) || text === "") return false;
    if (name === "errno") return text !== "0";
    if (name === "result") return text !== String(bytes);
    return !(["fd", "offset"].includes(name) && Number(text) < 0);
  };
  return info.filter(isSaid).map(([name, text]) => {
    if (name === "file" && file !== null) return [name, file];
    const isCount = /^-?\d+$/.test(text) && !NAMES.includes(name.toLowerCase());
    return [(name === "handle" ? HANDLES[of] : WORDS[name]) ?? name, isCount ? thin(text) : text];
  });
}
