// In an exported page, what the server is elsewhere: the part of the trace and what answers questions about it stand in the
// page itself, as base64.
(() => {
  const bytes = (id) => {
    const element = document.getElementById(id);
    const text = atob(element.textContent);
    element.textContent = "";
    const found = new Uint8Array(text.length);
    for (let n = 0; n < text.length; n++) found[n] = text.charCodeAt(n);
    return found;
  };
  // The part of the trace is in memory: nothing is read from a file, and every answer is waited for.
  const NO_FILE = { page: { read_at: () => 0, is_late: () => 0 } };
  const open = async () => {
    const { instance } = await WebAssembly.instantiate(bytes("answers"), NO_FILE);
    const { memory, reserve, names, open, waits, ask, body, size } = instance.exports;
    const put = (...parts) => {
      let at = reserve(parts.reduce((sum, part) => sum + part.length, 0));
      for (const part of parts) {
        new Uint8Array(memory.buffer, at, part.length).set(part);
        at += part.length;
      }
    };
    const checked = (status) => {
      const answer = memory.buffer.slice(body(), body() + size());
      if ((status & 0xffff) === 200) return answer;
      throw Object.assign(new Error(new TextDecoder().decode(answer)), { status });
    };
    put(bytes("names"));
    checked(names());
    const name = new TextEncoder().encode(document.getElementById("trace").dataset.name);
    put(name, bytes("trace"));
    checked(open(name.length));
    put(bytes("waits"));
    waits();
    return (asked) => {
      put(new TextEncoder().encode(asked));
      return checked(ask());
    };
  };
  let opened = null;
  window.__trace = {
    ask: async (asked, signal) => {
      const answer = await (opened ??= open());
      // What has been given up meanwhile is not computed.
      await new Promise((resolve) => setTimeout(resolve));
      signal?.throwIfAborted();
      return answer(asked);
    },
  };
  const state = document.getElementById("trace").dataset.state;
  if (state && location.hash === "") {
    window.__kinds = JSON.parse(document.getElementById("trace").dataset.kinds);
    history.replaceState(null, "", `#${state}`);
  }
})();
