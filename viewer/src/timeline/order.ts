// Timelines that were dragged: which keys the text of the timelines must name so that they come in that order.

/**
 * Keys in their order with `key` moved before `before` (null: to the end), cut off where the rest follows by itself. The
 * first `named` of `keys` are named already.
 */
export function orderAfter(keys: readonly string[], named: number, key: string, before: string | null): string[] {
  if (key === before) return keys.slice(0, named);
  const rest = keys.filter((other) => other !== key);
  const at = before === null ? rest.length : rest.indexOf(before);
  if (at < 0) return keys.slice(0, named);
  const moved = [...rest.slice(0, at), key, ...rest.slice(at)];
  const isNamed = keys.indexOf(key) < named;
  return moved.slice(0, Math.max(at + 1, isNamed ? named : named + 1));
}
