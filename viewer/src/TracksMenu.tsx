// The menu of tracks in the toolbar: a box for each that the trace has.

import { useRef } from "preact/hooks";
import { setTracks } from "./actions";
import { meta, shownTracks } from "./state";
import { short } from "./timeline/Tooltip";
import { titleOf } from "./tracks";

export function TracksMenu() {
  const element = useRef<HTMLDetailsElement>(null);
  const all = meta.value?.tracks ?? [];
  if (all.length === 0) return null;
  const shown = shownTracks.value;
  const shut = () => {
    if (element.current) element.current.open = false;
  };
  return (
    <details
      ref={element} class="menu"
      onFocusOut={(event) => {
        if (!(event.relatedTarget instanceof Node) || !event.currentTarget.contains(event.relatedTarget)) shut();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        shut();
        element.current?.querySelector("summary")?.focus();
      }}
    >
      <summary title="Tracks above the timelines (J)">tracks</summary>
      <fieldset class="menu-items" tabIndex={-1}>
        <legend class="faint">All ranks together, over time</legend>
        {all.map((name) => {
          const [title, hint] = titleOf(name);
          return (
            <label key={name} title={short(hint, 200)}>
              <input
                type="checkbox" checked={shown.includes(name)}
                onChange={(event) => setTracks(all.filter((one) => (one === name ? event.currentTarget.checked : shown.includes(one))))}
              />
              {short(title, 40)}
            </label>
          );
        })}
      </fieldset>
    </details>
  );
}
