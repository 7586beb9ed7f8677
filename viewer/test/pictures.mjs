// Takes the pictures of docs/user/viewer.md: traces the programs that they show with the recorder, opens the viewer, and looks.
//
//   node viewer/test/pictures.mjs [FOLDER] [NAME...]      default: docs/pictures
//
// Needs what `ci/deps` installs and `ci/build` builds: Open MPI, LAMMPS, the recorder in target/lib, mpitrace (MPITRACE, else
// target/release/mpitrace); and the right to mount a file system, for the I/O server.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { browser, folder, mpitrace, Page, run, serve } from "./browser/harness.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const programs = join(root, "tests/programs");
const [out = join(root, "docs/pictures"), ...wanted] = process.argv.slice(2);

/** Open MPI as root, and with more ranks than cores, only when told so. */
const env = {
  ...process.env, OMPI_ALLOW_RUN_AS_ROOT: "1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: "1", OMPI_MCA_rmaps_base_oversubscribe: "1", TRACE_OUTPUTS: "slog2",
};

/** Runs a program on some ranks under the recorder, in a folder of its own; gives its trace. */
function traced(name, ranks, program, ...options) {
  const cwd = join(folder, name);
  mkdirSync(cwd);
  const [command, ...rest] = program;
  const isOwn = command !== "lmp";
  copyFileSync(join(programs, "in.lj"), join(cwd, "in.lj"));
  for (const name of ["base", "mnt"]) mkdirSync(join(cwd, name));
  if (isOwn) execFileSync("mpicc.openmpi", ["-O2", `-I${programs}`, "-o", command, join(programs, `${command}.c`)], { cwd, env });
  const lib = resolve(root, "target/lib");
  execFileSync(mpitrace, ["run", "--lib", lib, "-o", name, ...options, "--", "mpirun.openmpi", "-n", String(ranks), isOwn ? `./${command}` : command, ...rest], {
    cwd, env, stdio: ["ignore", "ignore", "inherit"],
  });
  return join(cwd, `${name}.slog2`);
}

const traces = {
  lammps: () => traced("lammps", 4, ["lmp", "-in", "in.lj"]),
  io: () => traced("segments", 2, ["segments", "mnt/file"], "--io", "--ioserver", "base:mnt", "--servers", "3", "--stripe", "64K"),
  many: () => {
    const trace = join(folder, "run-1000.slog2");
    run("synth", "--ranks", "1000", "--drawables", "600000", trace);
    return trace;
  },
};

/** The middle of the run, as so many of it. */
const part = ({ t0, t1 }, from, share) => `t=${t0 + (t1 - t0) * from}~${t0 + (t1 - t0) * (from + share)}`;

/** By name: the trace, what the address says, and what is done then. */
const pictures = {
  "view-summary": { of: "lammps", fragment: () => "arrows=none", height: 620 },
  "view-close": {
    of: "lammps", fragment: () => "panel=stats",
    act: async (page, { t0, t1 }) => {
      // Around a collective call, where a step ends and, ranks not having waited for a processor, the next begins.
      let [hit, window, send] = [null, null, null];
      for (let from = t0 + (t1 - t0) * 0.3, most = 0, nth = 0; nth < 120; nth++) {
        const { hit: found } = await page.ask(`search?q=MPI_Allreduce%20rank:0&from=${from}&dir=1&wrap=0`);
        if (!found) break;
        from = found.t1;
        const about = { t0: found.t0 - 0.001, t1: found.t0 + 0.002 };
        const { count } = await page.ask(`hits?q=MPI_Send&t0=${about.t0}&t1=${about.t1}`);
        const { hit: one } = await page.ask(`search?q=MPI_Send%20rank:1%20dur%3E50us&from=${found.t1}&dir=1&wrap=0`);
        if (count > most && one && one.t1 < about.t1) [hit, window, send, most] = [found, about, one, count];
      }
      if (!hit) throw new Error("no step of this run can be shown: the machine is too busy");
      await page.look(`t=${window.t0}~${window.t1}&arrows=all&panel=stats&sel=${send.ref}`);
      const { x, y } = await page.point(hit.t0 + 0.0016, 2, window);
      await page.own.mouse.move(x, y);
    },
  },
  "view-messages": {
    of: "lammps", fragment: (meta) => `${part(meta, 0.7, 0.012)}&panel=matrix&theme=dark`,
    act: (page) => page.own.locator('table[aria-label="Messages between timelines"] tbody tr[data-nth]').first().click(),
  },
  "view-hits": {
    of: "lammps", fragment: () => "panel=hits&arrows=none&q=MPI_Sendrecv%20dur%3E100us",
    act: async (page) => {
      await page.own.locator('table[aria-label="Hits"] tbody tr[data-nth]').nth(1).click();
    },
  },
  "view-io": {
    of: "io", fragment: () => "panel=io",
    act: async (page) => {
      const { hit } = await page.ask("search?q=MPI_File_write&from=0&dir=1");
      const length = hit.t1 - hit.t0;
      await page.look(`t=${hit.t0 - length * 0.2}~${hit.t1 + length * 0.2}&timelines=only:!*lane*,!server*&arrows=sel&panel=io&sel=${hit.ref}`);
    },
    height: 800,
  },
  "view-heat": {
    of: "many", fragment: (meta) => `${part(meta, 0, 0.34)}&mode=heat:${meta.categories.findIndex(({ name }) => name === "MPI_Allreduce")}&theme=dark&panel=timelines`,
    height: 720,
  },
};

const chrome = await browser();
const servers = new Map();
for (const [name, { of, fragment, act, height = 800 }] of Object.entries(pictures)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  if (!servers.has(of)) servers.set(of, await serve(traces[of]()));
  const page = await Page.open(chrome, servers.get(of).address, "", { viewport: { width: 1280, height } });
  const panelsRead = () => page.true("every panel has its answer", () => !document.body.textContent.includes("Reading…"));
  const meta = await page.ask("meta");
  await page.look(fragment(meta));
  await page.own.waitForTimeout(600);
  await panelsRead();
  await act?.(page, meta);
  await page.own.waitForTimeout(1000);
  await panelsRead();
  await page.settled();
  await page.own.waitForTimeout(500);
  await page.own.screenshot({ path: join(out, `${name}.png`) });
  await page.close();
}
await chrome.close();
for (const server of servers.values()) server.stop();
