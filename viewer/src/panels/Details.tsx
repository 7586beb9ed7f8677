// All that is known of what is selected, and the ways from there: along its arrows, to what it is inside, to its call.

import { follow, nextOnTimeline, pinSelection, select, selectRef, toCause, zoomToSelection } from "../actions";
import { question } from "../api";
import type { DrawableDetail, FollowAnswer } from "../answers";
import { bytes, duration, instant, spanOf } from "../axis";
import { ofCategory } from "../brush";
import { infoWords } from "../infoWords";
import { change, rested, restedSpan, selected } from "../state";
import { short } from "../timeline/Tooltip";
import { communicatorOf, fileOf, itself, labelOf, nameOf, waitOf } from "../words";
import { useAnswer } from "./answer";
import { lookFor } from "./Hits";
import { count, KindName } from "./parts";

/** Messages of a state that are named. */
const MOST_MESSAGES = 4;

export function Details() {
  const all = selected.value;
  const one = all.at(-1);
  const window = restedSpan.value.t1 - restedSpan.value.t0;
  if (!one) {
    return <section class="details nothing" aria-label="Details"><p class="faint">Click something in the timeline, or press <kbd>Enter</kbd> on the cursor.</p></section>;
  }
  const length = spanOf(Math.abs(one.t1 - one.t0), window);
  const isCollective = one.class === "collective";
  const [alone, wait] = [itself(one), waitOf(one)];
  const facts: [string, string][] = [
    ["timeline", one.timeline < 0 ? `${one.label} (not shown)` : labelOf(one)],
    ...(one.topology === "event" ? [] : [["duration", duration(one.t1 - one.t0)] as [string, string]]),
    ...(alone === null ? [] : [["itself", alone] as [string, string]]),
    [one.topology === "event" ? "at" : "begins", instant(one.t0, length)],
    ...(one.topology === "event" ? [] : [["ends", instant(one.t1, length)] as [string, string]]),
    ...(one.to ? [["to", labelOf(one.to)] as [string, string]] : []),
    ...(one.bytes === null ? [] : [["bytes", `${bytes(one.bytes)}${one.bytes < 1024 ? "" : ` (${count(one.bytes)})`}`] as [string, string]]),
  ];
  const named = Object.entries({ communicator: communicatorOf(one), file: fileOf(one) }).filter((fact): fact is [string, string] => fact[1] !== null);
  const info = [...named, ...infoWords(one)];
  return (
    <section class="details" aria-label="Details">
      <h2><KindName kind={one.kind} /></h2>
      {all.length > 1 ? <p class="faint">{count(all.length)} selected, the last is shown. Together {duration(all.reduce((sum, { t0, t1 }) => sum + t1 - t0, 0))}.</p> : null}
      {one.backward ? <p class="alarm">Arrives before it was sent: the clocks differ.</p> : null}
      {wait === null ? null : (
        <p class="waits">{short(wait, 300)}. <button type="button" class="link" title="Back along the wait (B)" onClick={() => void toCause()}>why?</button></p>
      )}
      <dl>
        {facts.map(([name, text]) => <div key={name}><dt>{name}</dt><dd>{short(text, 200)}</dd></div>)}
        {info.map(([name, text], nth) => <div key={`info${nth}`}><dt>{short(name, 60)}</dt><dd>{short(text, 2000)}</dd></div>)}
      </dl>
      {one.topology === "state" ? <><Messages of={one} dir={1} /><Messages of={one} dir={-1} /></> : null}
      {one.parents.length > 0 ? (
        <p>inside {one.parents.map(({ ref, name }, nth) => <>{nth > 0 ? " ‹ " : ""}<button key={ref} type="button" class="link" onClick={() => void selectRef(ref)}>{short(name, 60)}</button></>)}</p>
      ) : null}
      {one.callid && ["io", "disk"].includes(one.class) ? (
        <p><button type="button" onClick={() => change({ panel: "io" })}>{one.class === "disk" ? "The call of this operation" : "Disk operations of this call"}</button></p>
      ) : null}
      <p class="tools">
        <button type="button" title="Previous on the timeline (,)" onClick={() => void nextOnTimeline(-1)}>‹ previous</button>
        <button type="button" title="Next on the timeline (.)" onClick={() => void nextOnTimeline(1)}>next ›</button>
        <button type="button" title={isCollective ? "To the rank that came last ([)" : "Along the arrow to the sender ([)"} onClick={() => void follow(-1)}>{isCollective ? "← last to come" : "← sender"}</button>
        <button type="button" title="Along the arrow to the receiver (])" onClick={() => void follow(1)}>receiver →</button>
        <button type="button" title="Zoom to it (Z)" onClick={zoomToSelection}>zoom</button>
        <button type="button" title="Keep it under Pins (K)" onClick={pinSelection}>keep</button>
        <button type="button" title="Look for others of this category" onClick={() => lookFor(ofCategory(one.name))}>find others</button>
        {all.length > 1 ? <button type="button" onClick={() => select(one)}>only this</button> : null}
        <button type="button" title="Clear the selection (Esc)" onClick={() => change({ sel: [] })}>clear</button>
      </p>
      {rested.value.pins.includes(one.ref) ? <p class="faint">kept under Pins</p> : null}
    </section>
  );
}

/** The messages that leave a state, or arrive in it: whose, how much, how long on their way. */
function Messages({ of, dir }: { of: DrawableDetail; dir: 1 | -1 }) {
  const { value, isOld } = useAnswer<FollowAnswer>(question("follow", { ref: of.ref, dir, timelines: rested.value.timelines }));
  if (!value || isOld) return null;
  // What stays within it, as from a call to an operation below it, only leaves.
  const isWithin = ({ timeline, to, t0, t1 }: DrawableDetail) => timeline === to?.timeline && t0 >= of.t0 && t1 <= of.t1;
  const arrows = dir > 0 ? value.arrows : value.arrows.filter((arrow) => !isWithin(arrow));
  const total = value.total - (value.arrows.length - arrows.length);
  if (total === 0) return null;
  const shown = arrows.slice(0, MOST_MESSAGES);
  return (
    <ul class="messages" aria-label={dir > 0 ? "What leaves here" : "What arrives here"}>
      {shown.map((arrow) => (
        <li key={arrow.ref}>
          {dir > 0 ? "→" : "←"} <button type="button" class="link" title={short(nameOf(arrow), 60)} onClick={() => void selectRef(arrow.ref)}>{short(dir < 0 ? labelOf(arrow) : arrow.to ? labelOf(arrow.to) : "", 40)}</button>
          {" "}{arrow.class === "message" && arrow.bytes !== null ? bytes(arrow.bytes) : short(nameOf(arrow), 40)}, {duration(Math.abs(arrow.t1 - arrow.t0))} {arrow.backward ? <span class="alarm">backward</span> : null}
        </li>
      ))}
      {total > shown.length ? <li class="faint">and {count(total - shown.length)} more</li> : null}
    </ul>
  );
}
