// Drawables that are kept: marked in the timeline, one click away. They are part of the link.

import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { pinSelection, putCursor, select } from "../actions";
import { askReference, report } from "../api";
import type { DrawableDetail } from "../answers";
import { duration, instant, spanOf } from "../axis";
import { fullLabel } from "../labels";
import { addNote, timelineOf, writeNote, writing } from "../notes";
import { change, layout, rested, restedSpan } from "../state";
import { MOST_NOTE } from "../url";
import { short } from "../timeline/Tooltip";
import { labelOf } from "../words";
import { KindName, NameField } from "./parts";

export function Pins() {
  const { pins, trace, timelines } = rested.value;
  const found = useSignal<readonly DrawableDetail[]>([]);
  useEffect(() => {
    let isWanted = true;
    Promise.all(pins.map((ref) => askReference(trace, ref, timelines))).then((all) => {
      if (isWanted) found.value = all.filter((one) => one !== null);
    }).catch(report);
    return () => {
      isWanted = false;
    };
  }, [pins, trace, timelines]);
  const first = found.value[0];
  return (
    <div class="panel">
      <div class="panel-head">
        <button type="button" onClick={pinSelection} disabled={rested.value.sel.length === 0}>Keep the selection <kbd>K</kbd></button>
        <button type="button" onClick={addNote}>A note <kbd>I</kbd></button>
        {pins.length > 0 ? <button type="button" onClick={() => change({ pins: [] })}>Remove all</button> : null}
      </div>
      <Notes />
      {pins.length === 0 ? <p class="faint">Nothing is kept yet. What is kept stays marked in the timeline and is part of the link.</p> : null}
      <ol class="pins">
        {found.value.map((one) => (
          <li key={one.ref}>
            <button type="button" class="link" onClick={() => select(one)}><KindName kind={one.kind} /></button>
            <span>{short(labelOf(one), 60)}</span>
            <span>{instant(one.t0, spanOf(Math.abs(one.t1 - one.t0), restedSpan.value.t1 - restedSpan.value.t0))}</span>
            <span>{one.topology === "event" ? "" : duration(one.t1 - one.t0)}</span>
            {first && one !== first ? <span class="faint">{duration(one.t0 - first.t0)} after the first</span> : null}
            <button type="button" aria-label={`Remove ${short(one.name, 40)}`} onClick={() => change({ pins: pins.filter((ref) => ref !== one.ref) })}>×</button>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** The notes: a click leads to the place, the text can be written anew. */
function Notes() {
  const { notes } = rested.value;
  const timelines = layout.value;
  if (notes.length === 0) return null;
  return (
    <ol class="pins notes" aria-label="Notes">
      {notes.map((note, nth) => {
        const timeline = timelines ? timelineOf(note, timelines) : -1;
        const at = instant(note.t, restedSpan.value.t1 - restedSpan.value.t0);
        return (
          <li key={nth}>
            {timeline >= 0 ? <button type="button" class="link" onClick={() => putCursor(timeline, note.t)}>{at}</button> : <span>{at}</span>}
            <span>{timeline >= 0 ? short(fullLabel(timelines, timeline), 60) : "timeline not shown"}</span>
            {writing.value === nth ? (
              <NameField label="Text of the note" value={note.text} otherwise="text of the note" most={MOST_NOTE} onDone={(text) => writeNote(nth, text ?? note.text)} />
            ) : <b class="note-text">{short(note.text, MOST_NOTE)}</b>}
            {writing.value === nth ? null : <button type="button" onClick={() => (writing.value = nth)}>edit</button>}
            <button type="button" aria-label={`Remove the note ${short(note.text, 40)}`} onClick={() => change({ notes: notes.filter((_, other) => other !== nth) })}>×</button>
          </li>
        );
      })}
    </ol>
  );
}
