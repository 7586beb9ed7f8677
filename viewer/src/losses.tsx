// What a run lost time by, a line each: how much, why and where, who, how often, and when.

import { goTo } from "./actions";
import type { TimeLoss } from "./answers";
import { duration, thin } from "./axis";
import { showRankInFull } from "./full";
import { count, percent } from "./panels/parts";
import { short } from "./timeline/Tooltip";

/** A line for each loss; the whole line leads to its longest wait. */
export function Losses({ losses, most, keepsRange = false }: { losses: readonly TimeLoss[]; most: number; keepsRange?: boolean }) {
  return (
    <ul class="losses">
      {losses.map((loss, nth) => (
        <li key={nth}>
          <button type="button" class="loss" title={`${short(loss.what, 100)}: ${short(loss.who, 300)}. Leads to the longest wait; N and P go to the next and the one before.`} onClick={() => void goTo(loss.target, { keepsRange, query: loss.query })}>
            <span class="loss-bar" aria-hidden="true"><span style={{ width: `${most > 0 ? (100 * loss.seconds) / most : 0}%` }} /></span>
            <span class="loss-number">{duration(loss.seconds)}</span>
            <span class="loss-share">{percent(loss.share)}</span>
            <span class="loss-text"><b>{short(loss.what, 100)}</b> {short(apart(loss.who), 300)}</span>
            <span class="loss-count">{count(loss.count)}×</span>
            <OverTime values={loss.over_time} />
          </button>
          {loss.due_to === null ? null : <InFull rank={loss.due_to} />}
        </li>
      ))}
    </ul>
  );
}

/** A sentence with the thousands of its numbers of ranks and threads set off, as those beside it are; what is named by a number stays. */
function apart(sentence: string): string {
  return sentence.replace(/\b\d{4,}(?= (?:ranks|threads)\b)/g, thin);
}

/** Shows the rank that a loss is due to in full. */
function InFull({ rank }: { rank: number }) {
  return <button type="button" class="quiet loss-full" title={`Rank ${rank}, which most of this is due to, in full: its call depths under one another`} onClick={() => showRankInFull(rank)}>rank {rank} ⤢</button>;
}

/** How a loss is spread over the time of the trace. */
function OverTime({ values }: { values: readonly number[] }) {
  const most = values.reduce((largest, value) => Math.max(largest, value), 0) || 1;
  return (
    <svg class="loss-time" viewBox={`0 0 ${values.length} 16`} preserveAspectRatio="none" aria-hidden="true">
      {values.map((value, nth) => {
        const height = value > 0 ? Math.max(1, (value / most) * 16) : 0;
        return <rect key={nth} x={nth} y={16 - height} width={0.85} height={height} />;
      })}
    </svg>
  );
}
