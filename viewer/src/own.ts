// A trace without a server: the part of one that an exported page carries inside itself, or a file that the visitor opens. It is answered by the same code
// as the server's, as WASM. The page defines `window.__trace` or `window.__open` before this script runs; without either there is a server.

import { signal } from "@preact/signals";
import type { ColorPair } from "./palette";

export interface Own {
  ask(asked: string, signal?: AbortSignal): Promise<ArrayBuffer>;
  /** Bytes that were read of the file. */
  bytesRead?(): number;
  /** Ends what answers; who waits for an answer hears that it was given up. */
  close?(): void;
}

declare global {
  interface Window {
    __trace?: Own;
    __open?: (file: File) => Promise<Own>;
    /** Where the address is that of a page with the whole trace: numbers of kinds in the part, by those in the whole, −1 for none. */
    __kinds?: number[];
  }
}

/** The trace inside the page, or null where a server has it. */
export function ownTrace(): Own | null {
  return window.__trace ?? null;
}

/** Colours by class that regions have in the whole trace, by name, where the page has a part of one inside itself. */
export function regionsOfWhole(): ReadonlyMap<string, ColorPair> {
  return new Map(Object.entries(JSON.parse(document.getElementById("trace")?.dataset["regions"] || "{}") as Record<string, ColorPair>));
}

/** Whether the page opens files. */
export function opensFiles(): boolean {
  return window.__open !== undefined;
}

/** Why what follows from a reading of the whole trace stays unknown in this page. */
export function unknownHere(): string {
  return opensFiles() ? "not known of files of more than 150 MB" : "not known in this part of a trace";
}

/** The file that is open. */
export const openedFile = signal<File | null>(null);
/** The file that is being opened. */
export const openingFile = signal<File | null>(null);
/** Why the last one could not be opened; empty if it could. */
export const notOpened = signal("");

/** Opens a file in place of the one that is open. Whether it could. */
export async function openFile(file: File): Promise<boolean> {
  if (!window.__open || openingFile.peek()) return false;
  openingFile.value = file;
  notOpened.value = "";
  try {
    const next = await window.__open(file);
    window.__trace?.close?.();
    window.__trace = next;
    openedFile.value = file;
    return true;
  } catch (error) {
    notOpened.value = `${file.name}: ${error instanceof Error ? error.message : String(error)}`;
    return false;
  } finally {
    openingFile.value = null;
  }
}
