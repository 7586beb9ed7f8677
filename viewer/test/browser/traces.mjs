// Traces that no run makes: as Pajé text, which mpitrace converts.

const HEADER = [
  ["PajeDefineContainerType", 0, "Alias string, Type string, Name string"],
  ["PajeDefineStateType", 1, "Alias string, Type string, Name string"],
  ["PajeDefineEntityValue", 2, "Alias string, Type string, Name string, Color color"],
  ["PajeCreateContainer", 3, "Time date, Alias string, Type string, Container string, Name string"],
  ["PajeDestroyContainer", 4, "Time date, Type string, Name string"],
  ["PajePushState", 5, "Time date, Type string, Container string, Value string"],
  ["PajePopState", 6, "Time date, Type string, Container string"],
  ["PajeDefineLinkType", 7, "Alias string, Type string, StartContainerType string, EndContainerType string, Name string"],
  ["PajeStartLink", 8, "Time date, Type string, Container string, StartContainer string, Value string, Key string"],
  ["PajeEndLink", 9, "Time date, Type string, Container string, EndContainer string, Value string, Key string"],
].map(([name, id, fields]) => `%EventDef ${name} ${id}\n${fields.split(", ").map((field) => `% ${field}\n`).join("")}%EndEventDef\n`).join("");

/** Pajé text has no escapes: a quote would end the name. */
const quoted = (text) => `"${text.replaceAll('"', "'").replace(/[\r\n]/g, " ")}"`;

/** Three nodes of four processes each. */
export function tree() {
  const lines = ['0 M 0 Machine', '0 N M Node', '0 P N Process', '1 S P State', '2 a S "MPI_Send" "1 0 0"', '2 b S "MPI_Recv" "0 0 1"', '3 0.0 m M 0 "machine"'];
  const states = [];
  for (let node = 0; node < 3; node++) {
    lines.push(`3 0.0 n${node} N m "node ${node}"`);
    for (let rank = 0; rank < 4; rank++) {
      const name = `p${node}_${rank}`;
      lines.push(`3 0.0 ${name} P n${node} "rank ${node * 4 + rank}"`);
      for (let step = 0; step < 20; step++) {
        const at = step * 0.01 + rank * 0.0005;
        states.push([at, `5 ${at.toFixed(6)} S ${name} ${step % 2 ? "a" : "b"}`], [at + 0.004, `6 ${(at + 0.004).toFixed(6)} S ${name}`]);
      }
    }
  }
  states.sort(([a], [b]) => a - b);
  return `${HEADER}${lines.join("\n")}\n${states.map(([, line]) => line).join("\n")}\n`;
}

/**
 * What a newcomer is to find out. Four ranks meet after each of eight steps; rank 2 comes last, and writes to a file before it
 * comes to the fifth. At the end rank 1 waits for a message that rank 3 sends only after it has assembled something. Rank 2 computes so
 * many seconds longer than the others in each step.
 */
export function late(by = 0.003) {
  const names = { r: "MPI_Allreduce", w: "MPI_File_write_at", v: "MPI_Recv", s: "MPI_Send", a: "assemble" };
  const lines = ["0 M 0 Machine", "0 P M Process", "1 S P State", "7 L M P P message", '3 0.0 m M 0 "machine"', '2 l L "message" "1 1 1"'];
  for (const [alias, name] of Object.entries(names)) lines.push(`2 ${alias} S ${quoted(name)} "0.2 0.4 0.6"`);
  const events = [];
  const state = (rank, name, from, to) => events.push([from, `5 ${from.toFixed(6)} S p${rank} ${name}`], [to, `6 ${to.toFixed(6)} S p${rank}`]);
  for (let rank = 0; rank < 4; rank++) {
    lines.push(`3 0.0 p${rank} P m "rank ${rank}"`);
    for (let step = 0; step < 8; step++) {
      const at = step * 0.01;
      const [isLate, isWriting] = [rank === 2, rank === 2 && step === 4];
      const computed = at + (isLate ? 0.001 + by : 0.001);
      if (isWriting) state(rank, "w", computed, at + 0.008);
      state(rank, "r", isWriting ? at + 0.0081 : computed, at + (step === 4 ? 0.009 : 0.005));
    }
  }
  state(1, "v", 0.08, 0.092);
  state(3, "a", 0.08, 0.09);
  state(3, "s", 0.09, 0.0905);
  events.push([0.0902, "8 0.090200 L m p3 l 1"], [0.0915, "9 0.091500 L m p1 l 1"]);
  events.sort(([a], [b]) => a - b);
  return `${HEADER}${lines.join("\n")}\n${events.map(([, line]) => line).join("\n")}\n`;
}

/**
 * Two ranks with call depths: the region `solve` calls `exchange`, which calls MPI_Send or MPI_Recv, and in the last step MPI_File_write_at, which
 * calls pwrite64. Rank 1 has no more than two of these depths.
 */
export function deep() {
  const names = { o: "solve", x: "exchange", s: "MPI_Send", v: "MPI_Recv", w: "MPI_File_write_at", p: "pwrite64" };
  const lines = ["0 M 0 Machine", "0 P M Process", "1 S P State", '3 0.0 m M 0 "machine"'];
  for (const [alias, name] of Object.entries(names)) lines.push(`2 ${alias} S ${quoted(name)} "0.2 0.4 0.6"`);
  const events = [];
  // Ends of inner states come before those of outer ones at the same time.
  const state = (rank, name, from, to, depth) => events.push([from, depth, `5 ${from.toFixed(6)} S p${rank} ${name}`], [to, -depth, `6 ${to.toFixed(6)} S p${rank}`]);
  for (let rank = 0; rank < 2; rank++) {
    lines.push(`3 0.0 p${rank} P m "rank ${rank}"`);
    for (let step = 0; step < 10; step++) {
      const at = step * 0.01;
      state(rank, "o", at, at + 0.009, 1);
      if (rank === 1) {
        state(rank, "v", at + 0.001, at + 0.005, 2);
        continue;
      }
      state(rank, "x", at + 0.001, at + 0.008, 2);
      state(rank, "s", at + 0.002, at + 0.004, 3);
      if (step < 9) continue;
      state(rank, "w", at + 0.005, at + 0.007, 3);
      state(rank, "p", at + 0.0055, at + 0.0065, 4);
    }
  }
  events.sort(([a, first], [b, second]) => a - b || first - second);
  return `${HEADER}${lines.join("\n")}\n${events.map(([, , line]) => line).join("\n")}\n`;
}

/** Two ranks that set up until `begin` and go through so many steps of a length: half of it `solve`, then a barrier, in the last fifth nothing. In the
 * middle of `solve` rank 0 sends so many messages at once. */
export function steps(begin, length, number, messages = 1) {
  const names = { u: "setup", o: "solve", b: "MPI_Barrier" };
  const lines = ["0 M 0 Machine", "0 P M Process", "1 S P State", "7 L M P P message", '3 0.0 m M 0 "machine"', '2 l L "message" "1 1 1"'];
  for (const [alias, name] of Object.entries(names)) lines.push(`2 ${alias} S ${quoted(name)} "0.2 0.4 0.6"`);
  const events = [];
  const state = (rank, name, from, to) => events.push([from, 1, `5 ${from.toFixed(6)} S p${rank} ${name}`], [to, 0, `6 ${to.toFixed(6)} S p${rank}`]);
  for (let rank = 0; rank < 2; rank++) {
    lines.push(`3 0.0 p${rank} P m "rank ${rank}"`);
    state(rank, "u", 0, begin * 0.9);
    for (let step = 0; step < number; step++) {
      const at = begin + step * length;
      state(rank, "o", at, at + 0.5 * length);
      state(rank, "b", at + 0.5 * length, at + 0.8 * length);
      for (let nth = 0; rank === 0 && nth < messages; nth++) {
        const [sent, received] = [(at + 0.25 * length).toFixed(6), (at + 0.3 * length).toFixed(6)];
        events.push([Number(sent), 2, `8 ${sent} L m p0 l ${step}.${nth}`], [Number(received), 2, `9 ${received} L m p1 l ${step}.${nth}`]);
      }
    }
  }
  events.sort(([a, first], [b, second]) => a - b || first - second);
  return `${HEADER}${lines.join("\n")}\n${events.map(([, , line]) => line).join("\n")}\n`;
}

/** Names that would run as a script, are endless, or turn the text around. */
export const NAMES = [
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a name that looks like one
  "<script>window.harm = 1</script>", "<img src=x onerror=window.harm=2>", "x".repeat(10_000), "\u0001\u001b[31m\u202eright to left", "__proto__", "&lt;b&gt; ' ` ${7*7} {{7*7}}",
];

export function hostile() {
  const lines = ["0 P 0 Process", "1 S P State", ...NAMES.map((name, nth) => `2 v${nth} S ${quoted(name)} "0.5 0.${nth} 0.9"`)];
  const states = [];
  NAMES.forEach((name, rank) => {
    lines.push(`3 0.0 p${rank} P 0 ${quoted(name)}`);
    for (let step = 0; step < 6; step++) {
      const at = step * 0.01 + rank * 0.0001;
      states.push([at, `5 ${at.toFixed(6)} S p${rank} v${step % NAMES.length}`], [at + 0.005, `6 ${(at + 0.005).toFixed(6)} S p${rank}`]);
    }
  });
  states.sort(([a], [b]) => a - b);
  return `${HEADER}${lines.join("\n")}\n${states.map(([, line]) => line).join("\n")}\n`;
}
