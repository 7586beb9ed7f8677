// In the page that opens files, what the server is elsewhere: two workers that answer questions about the chosen file. One makes pictures and looks
// single drawables up, the other one does what takes longer.
(() => {
  const element = document.getElementById("answers");
  const binary = atob(element.textContent);
  element.textContent = "";
  const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  const script = URL.createObjectURL(new Blob([document.getElementById("worker").textContent], { type: "text/javascript" }));
  const QUICK = new Set(["meta", "timelines", "picture", "at", "ref", "next", "follow", "call", "search"]);
  let module = null;

  const begin = async (file) => {
    module ??= WebAssembly.compile(bytes);
    const compiled = await module;
    const worker = new Worker(script);
    const waiting = new Map();
    const opened = new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => {
        if (data.opened === 200) return resolve();
        if (data.opened) return reject(Object.assign(new Error(data.message), { status: data.opened }));
        if (data.waits) return own.found(data.waits);
        own.read = data.read;
        const one = waiting.get(data.id);
        waiting.delete(data.id);
        if (!one) return;
        if (data.status === 200) one.resolve(data.body);
        else one.reject(Object.assign(new Error(new TextDecoder().decode(data.body)), { status: data.status }));
      };
      worker.onerror = (event) => {
        const error = new Error(`what answers in this page has stopped: ${event.message ?? ""}`);
        reject(error);
        for (const one of waiting.values()) one.reject(error);
        waiting.clear();
      };
    });
    let last = 0;
    const own = {
      read: 0,
      found: () => undefined,
      tell: (waits) => worker.postMessage({ waits }),
      ask: (asked, signal) => new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const id = ++last;
        waiting.set(id, { resolve, reject });
        worker.postMessage({ id, asked });
        signal?.addEventListener("abort", () => {
          if (!waiting.delete(id)) return;
          worker.postMessage({ cancel: id });
          reject(signal.reason);
        }, { once: true });
      }),
      close: () => {
        worker.terminate();
        const gone = new DOMException("another file was opened", "AbortError");
        for (const one of waiting.values()) one.reject(gone);
        waiting.clear();
      },
    };
    worker.postMessage({ module: compiled, name: file.name, file });
    try {
      await opened;
    } catch (error) {
      worker.terminate();
      throw error;
    }
    return own;
  };

  window.__open = async (file) => {
    const [quick, slow] = await Promise.all([begin(file), begin(file)]);
    slow.found = quick.tell;
    quick.found = slow.tell;
    return {
      ask: (asked, signal) => (QUICK.has(asked.split("?")[0]) ? quick : slow).ask(asked, signal),
      bytesRead: () => quick.read + slow.read,
      close: () => {
        quick.close();
        slow.close();
      },
    };
  };
})();
