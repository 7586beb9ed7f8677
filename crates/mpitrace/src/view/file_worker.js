// In the page that opens files: a worker that answers questions about one, and reads of it only what an answer needs.
// Messages to it: {module, name, file} opens; {id, asked} asks; {cancel: id} takes a question back; {waits} is what another worker found out.
// Messages from it: {opened: status, message}; {id, status, body, kind}; {waits} once it is known who waited.
(() => {
  // Instances give no memory back, so one that holds too much is replaced: of the file it needs little to begin with.
  const MOST_HELD = 256 << 20;
  const MOST_MEMORY = 1536 << 20;
  // Milliseconds for an answer: one that can be given in part, one that cannot, one that takes a look at the whole trace.
  const PART = 2000;
  const WHOLE = 10_000;
  const SUMMARY = 60_000;
  const TIMES = {
    picture: PART, overview: PART, stats: PART, matrix: PART, sizes: PART, durations: PART, hits: PART, search: PART, tracks: PART,
    summary: SUMMARY, verdict: SUMMARY, waits: SUMMARY,
  };
  // Of who waits for all of an answer that was given in part.
  const PATIENT = /[?&]patient=1(&|$)/;
  const reader = new FileReaderSync();
  const queue = [];
  const next = new MessageChannel();
  let [module, name, file, instance, known, end, told, read] = [null, "", null, null, null, 0, false, 0];

  const memory = () => instance.exports.memory;
  const page = {
    read_at: (offset, into, size) => {
      try {
        const bytes = new Uint8Array(reader.readAsArrayBuffer(file.slice(offset, offset + size)));
        if (bytes.length !== size) return 0;
        new Uint8Array(memory().buffer, into, size).set(bytes);
        read += size;
        return 1;
      } catch {
        return 0;
      }
    },
    is_late: () => (performance.now() > end ? 1 : 0),
  };
  const put = (bytes) => {
    // Memory may grow here, and be another buffer.
    const at = instance.exports.reserve(bytes.length);
    new Uint8Array(memory().buffer, at, bytes.length).set(bytes);
  };
  const taken = () => {
    const { body, size } = instance.exports;
    return memory().buffer.slice(body(), body() + size());
  };
  const text = (bytes) => new TextDecoder().decode(bytes);
  const open = () => {
    end = performance.now() + WHOLE;
    instance = new WebAssembly.Instance(module, { page });
    put(new TextEncoder().encode(name));
    const status = instance.exports.open_file(file.size);
    if (status !== 200) return { opened: status, message: text(taken()) };
    if (known) {
      put(known);
      instance.exports.waits();
    }
    return { opened: 200 };
  };
  const answer = ({ id, asked }) => {
    end = performance.now() + (PATIENT.test(asked) ? SUMMARY : (TIMES[asked.split("?")[0]] ?? WHOLE));
    put(new TextEncoder().encode(asked));
    const said = instance.exports.ask();
    const body = taken();
    // The other worker draws waits, too: it hears of them before it is said that they are known.
    if (!told && !known && instance.exports.known_waits() === 200) {
      told = true;
      const waits = taken();
      postMessage({ waits }, [waits]);
    }
    postMessage({ id, status: said & 0xffff, body, read }, [body]);
    if (instance.exports.held() > MOST_HELD || memory().buffer.byteLength > MOST_MEMORY) open();
  };
  next.port1.onmessage = () => {
    const first = queue.shift();
    if (!first) return;
    try {
      answer(first);
    } catch (error) {
      // An instance that has stopped is of no use any more.
      const body = new TextEncoder().encode(`the answer failed: ${error?.message ?? error}`).buffer;
      postMessage({ id: first.id, status: 500, body, read }, [body]);
      open();
    }
    if (queue.length > 0) next.port2.postMessage(0);
  };
  onmessage = ({ data }) => {
    if (data.file) {
      ({ module, name, file } = data);
      try {
        postMessage(open());
      } catch (error) {
        postMessage({ opened: 500, message: String(error?.message ?? error) });
      }
    } else if (data.asked) {
      queue.push(data);
      if (queue.length === 1) next.port2.postMessage(0);
    } else if (data.waits) {
      known = new Uint8Array(data.waits);
      put(known);
      instance.exports.waits();
    } else {
      const at = queue.findIndex(({ id }) => id === data.cancel);
      if (at >= 0) queue.splice(at, 1);
    }
  };
})();
