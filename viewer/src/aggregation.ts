// Queries that sum up: which texts are some, and their values in words. Pure.

import type { AggregateAnswer } from "./answers";
import { bytes, duration, thin } from "./axis";

/** Whether a text is to sum up, not a search: what is wrong with it is said where it is answered. */
export function isAggregation(text: string): boolean {
  return /^\s*(?:count|(?:sum|mean|max|min)\s+\S+)\s+by\s+\S/i.test(text);
}

/** A value of an answer, as people read it. */
export function valueText(value: number, { function: of, unit }: Pick<AggregateAnswer, "function" | "unit">): string {
  if (of === "count") return thin(String(value));
  return quantity(value, unit);
}

/** A quantity in its unit. */
export function quantity(value: number, unit: AggregateAnswer["unit"]): string {
  if (unit === "seconds") return duration(value);
  if (unit === "bytes") return bytes(Math.round(value));
  return thin(String(Number.isInteger(value) ? value : Number(value.toPrecision(6))));
}

/** How much of the trace an answer is about, where that is not all. */
export function partText({ until, exact }: Pick<AggregateAnswer, "until" | "exact">, whole: { t0: number; t1: number }): string {
  if (exact) return "";
  const part = (100 * (until - whole.t0)) / Math.max(1e-12, whole.t1 - whole.t0);
  return `Of the first ${part >= 9.95 ? part.toFixed(0) : part.toFixed(1)}\u202f% of the trace, by the start of what is counted: no more was read`;
}
