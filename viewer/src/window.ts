// A window as people write it.

const UNITS: Record<string, number> = { s: 1, ms: 1e-3, "µs": 1e-6, us: 1e-6, "μs": 1e-6, ns: 1e-9, m: 60, min: 60, "": 1 };

/** A time in seconds: `12.5`, `12 500 ms`; NaN if it is none. */
export function parseTime(text: string): number {
  const match = /^([-+]?[\d\s\u2009\u202f]*\.?\d+(?:e[-+]?\d+)?)\s*([a-zµμ]*)$/i.exec(text.trim());
  const unit = UNITS[match?.[2]?.toLowerCase() ?? "?"];
  return match && unit !== undefined ? Number(match[1]!.replace(/[\s\u2009\u202f]/g, "")) * unit : Number.NaN;
}

/** `12.03 – 12.05`, `12.03 .. 12.05`, `12.03 + 5 ms` (from there so long), or a time, which goes into the middle. */
export function parseWindow(text: string, now: { t0: number; t1: number }): { t0: number; t1: number } | null {
  const parts = text.trim().split(/\s*(–|\.\.|\s-\s|\sto\s|\+)\s*/);
  const first = parseTime(parts[0] ?? "");
  if (Number.isNaN(first)) return null;
  if (parts.length === 1) {
    const half = (now.t1 - now.t0) / 2;
    return { t0: first - half, t1: first + half };
  }
  const second = parseTime(parts[2] ?? "");
  if (parts.length !== 3 || Number.isNaN(second)) return null;
  const end = parts[1] === "+" ? first + second : second;
  return end > first ? { t0: first, t1: end } : null;
}
