// The first thing shown: what the run was, where the time went, and findings, each a way into the timeline.

import { goTo } from "../actions";
import type { TraceSummary as Answer } from "../answers";
import { bytes, duration } from "../axis";
import { css } from "../color";
import { Losses } from "../losses";
import { colorOfClass } from "../palette";
import { meta, noSummary, summary } from "../state";
import { colors } from "../timeline/Timeline";
import { short } from "../timeline/Tooltip";
import { count, Exact, Panel, percent } from "./parts";

const CLASSES: Record<string, string> = {
  compute: "computing", p2p: "point-to-point", collective: "collective", wait: "completing requests", io: "file I/O", rma: "one-sided",
  mpi: "other MPI", start: "starting and ending MPI", user: "regions of the program", disk: "disk operations", message: "messages", other: "other",
};

export function className(name: string): string {
  return CLASSES[name] ?? short(name, 30);
}

export function Summary() {
  const about = meta.value;
  const head = about ? <><b>{short(about.name, 80)}</b> <span class="faint">{short(about.format, 30)}, {bytes(about.bytes)}</span></> : "…";
  return (
    <Panel head={head} shown={{ value: summary.value, error: noSummary.value, isOld: summary.value === null }}>
      {(value) => (
        <div class="summary">
          <p>
            {count(value.ranks)} {value.ranks === 1 ? "rank" : "ranks"}
            {value.nodes > 0 ? ` on ${count(value.nodes)} ${value.nodes === 1 ? "node" : "nodes"}` : ""}
            {value.threads > value.ranks ? `, ${count(value.threads)} threads` : ""}, {duration(value.duration)}, {count(value.drawables)} {value.drawables === 1 ? "drawable" : "drawables"} {value.exact ? null : <Exact isExact={false} />}
          </p>
          {value.lost.length > 0 ? <ul class="lost">{value.lost.map((text) => <li>⚠ {short(text, 400)}</li>)}</ul> : null}
          <Where bar={value.bar} />
          {value.verdict && value.verdict.losses.length > 0 ? (
            <section aria-label="Losses" data-finding="losses">
              <h3>Losses <span class="faint">{value.verdict.all_losses > value.verdict.losses.length ? `the largest ${value.verdict.losses.length} of ${count(value.verdict.all_losses)}` : ""}</span></h3>
              <Losses losses={value.verdict.losses} most={value.verdict.losses[0]?.seconds ?? 0} />
            </section>
          ) : null}
          <div class="findings">
            {value.cards.filter(({ id }) => id !== "waits" || !value.verdict).map((finding) => (
              <section key={finding.id} class="finding" aria-label={short(finding.title, 60)} data-finding={finding.id}>
                <h3>{short(finding.title, 60)} <span class="value">{short(finding.value, 60)}</span></h3>
                <p>{together(short(finding.sentence, 400))}</p>
                <ul>
                  {finding.items.map(({ text, value: number, target }, nth) => (
                    <li key={nth}>
                      {target ? <button type="button" class="link" onClick={() => void goTo(target)}>{together(short(text, 160))}</button> : together(short(text, 160))}
                      <span class="value">{short(number, 60)}</span>
                    </li>
                  ))}
                </ul>
                {finding.from ? <p class="faint from">from {short(finding.from, 200)}</p> : null}
              </section>
            ))}
          </div>
        </div>
      )}
    </Panel>
  );
}

/** A text in which no line ends between a number and its unit. */
function together(text: string): string {
  return text.replace(/(\d) (?=(?:[mµn]?s|min|h|%|[KMGTPE]?i?B)(?![A-Za-z]))/g, "$1\u00a0");
}

/** Where the time goes: one bar, and the same as text. */
function Where({ bar }: { bar: Answer["bar"] }) {
  const look = colors.value;
  const parts = bar.filter(({ share }) => share > 0);
  const color = (name: string) => css(colorOfClass(look, name));
  return (
    <figure class="where" aria-label="Where the time goes, in shares of all rank-seconds">
      <div class="where-bar" aria-hidden="true">
        {parts.map(({ class: name, share }) => <span key={name} style={{ flexGrow: share, "--color": color(name) }} />)}
      </div>
      <ul class="where-names">
        {parts.map(({ class: name, share, seconds }) => (
          <li key={name} title={`${duration(seconds)} of all timelines together`}>
            <span class="swatch" style={{ "--color": color(name) }} aria-hidden="true" />
            {className(name)} <b>{percent(share)}</b>
          </li>
        ))}
      </ul>
    </figure>
  );
}
