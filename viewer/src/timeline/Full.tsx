// One timeline in full, below the others: its call depths under one another, in the same window.

import { untracked, useComputed } from "@preact/signals";
import { askShared, isAbort, question, report } from "../api";
import type { DrawableDetail } from "../answers";
import { depths, fullName, fullSpec, fullTimelines, labelInFull, leaveFull, noFull } from "../full";
import { timeAt, timelineAt, yOf } from "../geometry";
import { change, numbersText, say, view } from "../state";
import { describe } from "../words";
import { DEPTH_HEIGHT, fullArea, fullExtent, fullHover, fullNote, fullRows, fullWindow, inFull, titles } from "./fullStage";
import { focusTimelines } from "./focus";
import { LETTERS } from "./labels";
import { LowerCanvas } from "./LowerCanvas";
import type { Place } from "./lowerPointer";
import { LOWER_RULER } from "./lowerStage";
import { short } from "./Tooltip";

/** Milliseconds of rest before it is asked what lies below the pointer. */
const HOVER_REST = 70;

export function Full() {
  return view.value.full === "" ? null : <InFull key={view.value.full} />;
}

/** What lies at a place. */
async function find({ x, y }: Place, signal?: AbortSignal): Promise<DrawableDetail | null> {
  const [shown, all] = [fullWindow(), fullExtent()];
  const timeline = timelineAt(y, shown, all);
  if (timeline < 0) return null;
  const pixel = (shown.t1 - shown.t0) / Math.max(1, all.width);
  const asked = question("at", { t: timeAt(x, shown, all), timeline, timelines: fullSpec.peek(), dt: pixel / 2, hide: numbersText(view.peek().hide) });
  return askShared<DrawableDetail | null>(view.peek().trace, asked, signal);
}

const looking = { timer: 0, stop: new AbortController() };

function look(place: Place | null): void {
  window.clearTimeout(looking.timer);
  looking.stop.abort();
  if (!place) {
    fullHover.value = null;
    return;
  }
  const stop = (looking.stop = new AbortController());
  looking.timer = window.setTimeout(() => {
    find(place, stop.signal).then((found) => {
      if (!stop.signal.aborted) fullHover.value = found;
    }).catch((error) => isAbort(error) || report(error));
  }, HOVER_REST);
}

function choose(place: Place, adds: boolean): void {
  find(place).then((found) => {
    if (!found) return;
    const others = adds ? view.peek().sel.filter((ref) => ref !== found.ref) : [];
    change({ sel: [...others, found.ref] }, "select");
    say(describe(found, labelInFull));
  }).catch(report);
}

function zoomTo(place: Place): void {
  find(place).then((found) => {
    if (!found || found.topology === "event") return;
    const free = (found.t1 - found.t0) * 0.125;
    change({ t0: found.t0 - free, t1: found.t1 + free });
  }).catch(report);
}

/** Shows the timelines alone. */
function closeFull(): void {
  leaveFull();
  focusTimelines();
}

function InFull() {
  const name = short(fullName.value, 80);
  const rows = fullRows.value;
  const hover = fullHover.value;
  const said = titles.value.filter((title) => title !== "").map((title, depth) => `${depth + 1} ${title}`).join("; ");
  return (
    <section class="timeline lower in-full" aria-label={`${name} in full`}>
      <div class="lower-head">
        <b>{name}</b> in full
        <span class="faint in-full-hover">{noFull.value !== "" ? <span class="wrong" role="alert">{short(noFull.value, 200)}</span> : hover ? short(describe(hover, labelInFull), 200) : fullNote.value !== "" ? fullNote.value : "what is called from within a call stands below it"}</span>
        <button type="button" title="Back to the timelines alone (Esc)" onClick={closeFull}>close</button>
      </div>
      <div class="timeline-body" style={{ height: `${LOWER_RULER + rows * DEPTH_HEIGHT}px` }}>
        <DepthLabels />
        <LowerCanvas
          of={inFull} id="in-full" area={fullArea} onLook={look} onClick={choose} onDoubleClick={zoomTo}
          label={`Call depths of ${name} in the same window: ${said === "" ? "nothing" : said}. Keys move it with the timelines; comma and dot go from state to state.`}
        />
      </div>
    </section>
  );
}

/** What the timelines of the call depths are: of several threads with the name of each. */
function DepthLabels() {
  const height = useComputed(() => fullWindow().timelineHeight);
  void [height.value, fullArea.value];
  const timelines = fullTimelines.value;
  const { asked } = depths.value;
  const [shown, all, rows] = untracked(() => [fullWindow(), fullExtent(), fullRows.value] as const);
  const isMany = (timelines?.count ?? 0) > asked;
  const step = Math.max(1, Math.ceil(LETTERS / Math.max(1, shown.timelineHeight)));
  return (
    <div class="labels">
      <div style={{ height: `${LOWER_RULER}px`, flex: "none" }} />
      <div class="labels-field">
        {!timelines ? null : Array.from({ length: rows }, (_, timeline) => timeline).filter((timeline) => timeline % step === 0).map((timeline) => {
          const depth = timeline % asked;
          const title = titles.value[timeline] ?? "";
          const thread = isMany && depth === 0 ? `${short(timelines.label[timeline] ?? "", 60)}: ` : "";
          if (title === "" && thread === "") return null;
          return (
            <div
              key={timeline} class="label" title={`${short(timelines.label[timeline] ?? "", 200)}, call depth ${depth + 1}: ${title}`}
              style={{ top: `${yOf(timeline, shown, all)}px`, height: `${shown.timelineHeight}px`, paddingLeft: "20px" }}
            >
              <span class="label-name">{thread}<span class="faint">{depth + 1}</span> {title}</span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
