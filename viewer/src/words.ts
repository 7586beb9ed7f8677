// Things of a trace in words.

import type { Detail } from "./api";
import { duration, instant } from "./axis";
import { span } from "./state";

/** "rank 129, MPI_Waitall, 3.214 ms, at 12.0353 s". */
export function describe(found: Detail): string {
  const { t0, t1 } = span.peek();
  const to = found.topology === "arrow" && found.to ? ` to ${found.to.label}` : "";
  const length = found.topology === "event" ? "" : `, ${duration(found.t1 - found.t0)}`;
  return `${found.label}${to}, ${found.name}${length}, at ${instant(found.t0, t1 - t0)}${found.backward ? ", backward" : ""}`;
}
