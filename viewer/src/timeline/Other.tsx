// The timelines of the trace that is compared with the first one, below it. A window of the same length is shown of both: from their begins on, or so that
// phases or calls of both lie above each other.

import { untracked, useComputed, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { duration } from "../axis";
import { alignedBy, nameIn } from "../alignment";
import { alignment, commonNames, lacksTimelines, layBy, other, otherMeta, otherTimelines } from "../compare";
import { seen, yOf } from "../geometry";
import { change, START, view } from "../state";
import { NO_OTHER } from "../url";
import { focusTimelines } from "./focus";
import { labelled, LETTERS } from "./labels";
import { LowerCanvas } from "./LowerCanvas";
import { LOWER_RULER } from "./lowerStage";
import { lacking, otherArea, otherExtent, otherTrace, otherTracksSource, otherWindow } from "./otherStage";
import { short } from "./Tooltip";
import { TrackLabels } from "./Tracks";

export function Other() {
  const number = other.value;
  return number === null ? null : <OtherTimeline key={number} number={number} />;
}

/** Shows the other trace alone, or first, as far as that can be taken over. */
function toFirst(number: number): void {
  const { theme, palette, trace, panel, tracks, align, nth, stretch } = view.peek();
  const { t0, t1 } = otherWindow();
  change({ ...START, theme, palette, panel, tracks, align, nth, stretch, t0, t1, trace: number, other: trace });
  focusTimelines();
}

/** Shows the first trace alone. */
function leaveOther(): void {
  change({ other: NO_OTHER });
  focusTimelines();
}

function OtherTimeline({ number }: { number: number }) {
  const of = useMemo(() => otherTrace(number), [number]);
  const about = otherMeta.value;
  const name = short(about?.name ?? "…", 60);
  return (
    <section class="timeline lower" aria-label={`Compared with ${name}`}>
      <div class="lower-head">
        <b>{name}</b> {about ? duration(about.t1 - about.t0) : ""}
        {lacking.value === "" ? null : <span class="lacking">has no {short(lacking.value, 60)}</span>}
        {lacksTimelines.value ? <span class="lacking">has none of the timelines above: all are shown</span> : null}
        <Alignment />
        <button type="button" title="This trace above, the other one below" onClick={() => toFirst(number)}>swap</button>
        <button type="button" title="Only the trace above" onClick={leaveOther}>close</button>
      </div>
      <div class="timeline-body">
        <OtherLabels />
        <LowerCanvas of={of} id="other" tracks={otherTracksSource} area={otherArea} label={`Timelines of ${name} in the same window. Keys move both; swap makes it the one that is told.`} />
      </div>
    </section>
  );
}

/** How the trace is laid below the first one: a choice, the number of the phase or call, and in words what has become of it. */
function Alignment() {
  const { align, nth, stretch } = view.value;
  const text = useSignal<string | null>(null);
  // Words change where another phase comes to the left, not at every movement.
  const words = useComputed(() => alignment.value.words).value;
  const isRefused = useComputed(() => alignment.value.isRefused).value;
  const name = nameIn(align);
  const all = commonNames.value;
  const apply = (written: string) => {
    text.value = null;
    const number = /^\s*\d{1,6}\s*$/.test(written) ? Number(written) : 0;
    if (number !== view.peek().nth) layBy(view.peek().align, number);
  };
  return (
    <span class="alignment">
      <select aria-label="Aligned by" title="What of both traces lies above each other (Shift+A)" value={align} onChange={(event) => layBy(alignedBy(event.currentTarget.value))}>
        <option value="">the begin</option>
        <option value="phases">phases</option>
        <optgroup label="calls of">
          {name === null || all.includes(name) ? null : <option value={align}>{short(name, 60)}</option>}
          {all.map((one) => <option key={one} value={`name:${one}`}>{short(one, 60)}</option>)}
        </optgroup>
      </select>
      {align === "" ? null : (
        <input
          type="text" inputMode="numeric" size={4} aria-label={`Number of the ${name === null ? "phase" : "call"}; empty: the first of the window`}
          title="A number; empty: the first that begins in the window" placeholder="first" value={text.value ?? (nth > 0 ? String(nth) : "")}
          onInput={(event) => (text.value = event.currentTarget.value)} onChange={(event) => apply(event.currentTarget.value)}
        />
      )}
      {align === "" ? null : (
        <label title={`The ${name === null ? "phase" : "call"} is drawn as wide as above, so that its parts can be compared; times are not equally long then`}>
          <input type="checkbox" checked={stretch} onChange={(event) => change({ stretch: event.currentTarget.checked })} /> as wide
        </label>
      )}
      <span class={isRefused ? "refused" : "faint"}>{short(words, 300)}</span>
    </span>
  );
}

function OtherLabels() {
  // What decides where they are: a movement in time changes none of it.
  const shape = useComputed(() => {
    const { top, timelineHeight } = otherWindow();
    return `${top}/${timelineHeight}`;
  });
  void [shape.value, otherArea.value];
  const timelines = otherTimelines.value;
  const [window, all] = untracked(() => [otherWindow(), otherExtent()] as const);
  const [first, last] = seen(window, all);
  return (
    <div class="labels">
      <div style={{ height: `${LOWER_RULER}px`, flex: "none" }} />
      <TrackLabels of={otherTracksSource} />
      <div class="labels-field">
        {!timelines ? null : labelled(first, last, window.timelineHeight, timelines.open, timelines.thread).map((timeline) => {
          const high = Math.max(window.timelineHeight, LETTERS);
          const place = yOf(timeline, window, all);
          // Letters that are higher than their timeline stay within the field.
          const top = window.timelineHeight >= LETTERS ? place
            : Math.min(Math.max(place + (window.timelineHeight - LETTERS) / 2, 0), Math.max(0, all.height - LETTERS));
          return (
            <div key={timeline} class="label" style={{ top: `${top}px`, height: `${high}px`, paddingLeft: `${20 + 10 * (timelines.depth[timeline] ?? 0)}px` }}>
              <span class="label-name">{short(timelines.label[timeline] ?? "", 200)}</span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
