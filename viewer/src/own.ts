// The trace that an exported page carries inside itself, answered by the same code as the server's, as WASM. The page that is
// exported defines `window.__trace` before this script runs; without it there is a server.

export interface Own {
  ask(asked: string, signal?: AbortSignal): Promise<ArrayBuffer>;
}

declare global {
  interface Window {
    __trace?: Own;
  }
}

/** The trace inside the page, or null where a server has it. */
export function ownTrace(): Own | null {
  return window.__trace ?? null;
}
