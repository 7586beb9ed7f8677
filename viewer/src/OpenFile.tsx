// What the page that opens files shows before one is open, and the button that opens another one.

import { useEffect } from "preact/hooks";
import { bytes } from "./axis";
import { busy, forgetSteps, isDark, rested, say, show, START, trouble, view } from "./state";
import { notOpened, openedFile, openFile, openingFile, opensFiles, ownTrace } from "./own";
import { short } from "./timeline/Tooltip";

/** Opens the file that was chosen or dropped; the one before goes, with all that was remembered of it. */
async function opened(file: File | undefined, onFirst: () => void): Promise<void> {
  if (!file) return;
  const isFirst = ownTrace() === null;
  if (!(await openFile(file))) {
    if (!isFirst) trouble.value = notOpened.peek();
    return;
  }
  if (isFirst) return onFirst();
  const { theme, palette, panel, trace } = view.peek();
  // What is said about another file.
  trouble.value = "";
  forgetSteps();
  show({ ...START, theme, palette, panel, trace: trace + 1 });
  say(`${file.name} is open`);
}

/** Takes files that are dropped anywhere on the page, as long as the element is there. */
function useDrop(onFirst: () => void): void {
  useEffect(() => {
    if (!opensFiles()) return;
    const over = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      event.preventDefault();
      void opened(event.dataTransfer?.files[0], onFirst);
    };
    document.addEventListener("dragover", over);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragover", over);
      document.removeEventListener("drop", drop);
    };
  }, []);
}

function Choose({ label, onFirst }: { label: string; onFirst: () => void }) {
  return (
    <label class="choose-file">
      {label}
      <input
        type="file" accept=".slog2" aria-label={label}
        onChange={(event) => {
          void opened(event.currentTarget.files?.[0], onFirst);
          // The same file may be chosen again: it may have been written anew.
          event.currentTarget.value = "";
        }}
      />
    </label>
  );
}

/** Opens another file. */
export function OpenAnother() {
  useDrop(() => undefined);
  return opensFiles() ? <Choose label="open…" onFirst={() => undefined} /> : null;
}

/** How much of the file was read. */
export function BytesRead() {
  // What is looked at and what is under way decide it.
  void [rested.value, busy.value];
  const file = openedFile.value;
  if (!file) return null;
  const hint = "Bytes of the file, and bytes that were read of it by the two workers of the page, each of which reads what it needs";
  return <span class="faint bytes-read" title={hint}>{bytes(file.size)}, read {bytes(ownTrace()?.bytesRead?.() ?? 0)}</span>;
}

/** The page before a file is open. */
export function Start({ onOpened }: { onOpened: () => void }) {
  useDrop(onOpened);
  const opening = openingFile.value;
  return (
    <main class="start" data-theme={isDark.value ? "dark" : "light"}>
      <h1>mpitrace view</h1>
      <p>Opens an SLOG2 file of this machine, of any size. The page reads it by itself: nothing leaves the machine, and of a large file only what is shown is read.</p>
      <p class="start-choice"><Choose label="Choose a file…" onFirst={onOpened} /> or drop it here.</p>
      <p role="status">{opening ? `Opening ${short(opening.name, 80)}, ${bytes(opening.size)}…` : ""}</p>
      {notOpened.value === "" ? null : <p class="wrong" role="alert">{short(notOpened.value, 400)}. Other formats become SLOG2 by <code>mpitrace convert run.clog2 run.slog2</code>.</p>}
      <h2>What works here</h2>
      <ul>
        <li>Up to 150 MB all of it is read: efficiencies, losses, who waits for whom, tracks, exact statistics and searches, as with <code>mpitrace view</code>.</li>
        <li>Of a larger file the window is read, up to 50 MB of it; longer windows are drawn from the file's own previews, with a “≈”, and the strip above stays empty.</li>
        <li>The losses of a larger file need a look at all of it, which this page does not take: <code>mpitrace report</code> tells them, <code>mpitrace view</code> shows them.</li>
        <li>Nothing is written: no index beside the file, no export as picture, page or table. One file at a time.</li>
      </ul>
    </main>
  );
}
