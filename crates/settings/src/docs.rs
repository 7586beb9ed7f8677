//! `docs/user/settings.md`, made from the table of options; a test compares the file with it.

use std::path::{Path, PathBuf};

use super::{
    names::PATTERNS,
    options::{OPTIONS, OTHER_VARIABLES, Settings, SettingsOption, VariableMeaning},
};

const HEAD: &str = "\
# Settings

<!-- Made from the table in crates/settings/src/options.rs: UPDATE_DOCS=1 cargo test -p settings -->

No setting is needed. Settings come from a file with the syntax and the keys of SST-DUMPI's `dumpi.conf`, so existing files go on
working, or from the environment. Rank 0's settings hold for all ranks.

## Where settings come from

The strongest comes first:

1. the environment variable `TRACE_<KEY>` of an option, in capitals and with `_` for `-` (`TRACE_RANK_BITS` for `rank-bits`), then
   the variables of MPE that mean the same,
2. `TRACE_SETTINGS`: lines of a configuration file, separated by `;` or line ends,
3. the configuration file of the run: the one that `TRACE_CONF` names, else the one that `DUMPI_CONF` names, else `dumpi.conf` in the
   working directory. If a named file cannot be read, one line says so and the next is taken,
4. the user's own file: `libtrace.conf` in `$XDG_CONFIG_HOME`, else in `~/.config`,
5. the file of the machine: `/etc/libtrace.conf`,
6. variables that systems set for everybody (`TMPDIR`, `TMP`, `TEMP`), if they name a folder that can be written to, in UTF-8,
7. the defaults.

What a stronger source leaves open, a weaker one may set. A file that nobody has named (`dumpi.conf`, `libtrace.conf`) counts only if it
belongs to the user or to root and others cannot write to it. `mpitrace settings` prints what would be in force for a program that is
started here and now, and which source each setting comes from.

An empty variable counts as not set.

For example, to write SLOG2 only and print the settings in force:

    mpiexec -n 4 env LD_PRELOAD=…/libtrace.so TRACE_OUTPUTS=slog2 TRACE_SETTINGS_DUMP=- ./program

## The file

* One `key value` per line, separated by any number of blanks, tabs or `=`: `timestamp wall`, `timestamp = wall` and
  `timestamp=wall` are the same. `#` begins a comment anywhere in a line. Keys and values are case-sensitive.
* Only the first two words of a line count (except for lists, `outputs`). There are no quotes. In names write `%x20` for a
  blank, `%x23` for `#`, `%x3D` for `=`. Variables do not need this.
* The first occurrence of a key holds, except for `PAPI`, `tracing` and `debug`, which add up.
* Sizes are numbers of bytes; `K`, `M`, `G`, `T` after the number stand for powers of 1024.
* A bad line never stops the program. One line on stderr names it, and it is left out, so that a weaker source or the default
  holds:

      trace: dumpi.conf:3: timestamp 'sometimes': allowed are none, cpu, wall, full; using wall
      trace: dumpi.conf:4: unknown key 'MPI_send', left out; did you mean MPI_Send?

";

const FUNCTIONS: &str = "\
## Single functions

A key that is the name of an MPI function (`MPI_Send`, `MPI_File_open`, also `MPIO_Wait` and the like) sets what becomes of its calls:

| value | effect |
|---|---|
| `enable` | recorded |
| `success` | recorded if the call succeeded: it returned no error, and for tests and probes the flag is true |
| `disable` | [counted only](glossary.md#counted-only-ignored-lost) |

`MPI_Default` (or `MPI_ALL_FUNCTIONS`) is the value for all functions that have no line. The large-count form `MPI_Send_c` follows
`MPI_Send` unless it has a line of its own. Functions have no variables of their own; use `TRACE_SETTINGS`:

    TRACE_SETTINGS='MPI_Default disable; MPI_Init enable; MPI_Finalize enable; MPI_Allreduce enable'

Disabling functions that create communicators, datatypes or requests makes DUMPI files that SST/macro cannot replay.

## Patterns in names

";

const PATTERN_NOTE: &str = "\
A `%` that begins none of these stays as it is. A `/` in an inserted value becomes `_`. `MPE_LOGFILE_PREFIX`, `MPE_TMPDIR`, `TMPDIR`, `TMP` and `TEMP`
are taken as they are, without patterns.
";

const TAIL: &str = "\
## Batch jobs

A batch system may give each job a `TMPDIR` of its own, and remove it when the job ends or is killed for its time limit. Block files
in it would be removed as well. The recorder takes a temporary folder for the job's own in two cases. A batch system names a job (the
variables of `%j`), and its number is in the name of the folder or of what is mounted there. Or the folder is below
`SLURM_TMPDIR`, `PBS_JOBDIR` or `FLUX_JOB_TMPDIR`. Rank 0 then says at the start, in one line, where the block files are:

* **In the folder of the output files**, if nobody has set `tmpdir` for the recorder. It is the first of `directory`/`output` and the
  folders above it that exists. It stays after the job, and the DUMPI files of all ranks go there anyway. If the hosts share it,
  `mpitrace recover FOLDER` finds the block files of all hosts in one place. Nothing is needed at SIGTERM or in the grace time before
  SIGKILL, because the file has what was recorded at any moment.
* **In the temporary folder all the same**, if the output folder cannot be written to, or is on FUSE, 9P, SMB or AFS. A file that is
  mapped from a server which goes away would end the program by SIGBUS. To keep what a killed job has recorded, set
  `TRACE_TMPDIR` to a folder that stays. The recorder uses it whatever it is.

The cost, measured with 2 million calls of MPI_Comm_size in one rank: 29 ns a call at best with block files on tmpfs, 28 ns on ext4,
66 ns on a FUSE file system (`mpitrace ioserver`), where the mean was 110 to 138 ns. MPI_Finalize took 0.7 to 1.1 s on all three. A
full block of 64 KB is one write. On a parallel file system each rank makes a file at the start and removes it at the end. If that is
too much, `TRACE_TMPDIR=/dev/shm` keeps the calls in memory, and nothing remains of a killed job.

[clusters.md](clusters.md) has batch scripts and what is left of a job. In an array of jobs `TRACE_OUTPUT=%p-%j-%a` gives each task files of its own.

## Several hosts

Rank 0's settings hold for all ranks, except for the place of block files, which each rank's own settings decide. MPICH's mpiexec and
srun give ranks on other hosts the whole environment. Open MPI's mpirun gives only what `-x` names:

    mpirun -x LD_PRELOAD=…/libtrace.so -x TRACE_DIR=/scratch/traces -x TRACE_OUTPUTS=slog2 -n 64 ./program

`mpitrace run` does that for each `TRACE_…` variable that is set (`--dry-run` shows it), with `--export` for `srun --multi-prog`. If
the hosts do not share the output folder, the DUMPI file of each rank is in the folder of that name on its own host. The closing line
counts the files that rank 0 sees, and the next line says how many it does not see.

## Where this differs from SST-DUMPI

* `timestamp` is `wall` unless set; SST-DUMPI's default is `full`.
* `success` leaves out failed calls and unsuccessful tests and probes; with SST-DUMPI it is the same as `enable`.
* An illegal value gives one line on stderr; SST-DUMPI aborts the program.
* Rank 0 reads the settings for all; with SST-DUMPI each rank reads for itself.
* A key without value, a word after the value, and a second line with another value give a line on stderr. As with SST-DUMPI, they
  have no effect.
* A line with an illegal value does not count as the first occurrence: a later good line holds.
* Lines longer than 1023 characters are not split. A carriage return before a line's end is a blank.
* `fileroot` may have patterns, and begins at `directory`.
* `DUMPI_MEMBUF_SIZE` is not read; `blocks` bounds the memory. `LOGNAME` and `TZ` mean the same.
* MPE's `MPE_SYNC_ALGORITHM`, `MPE_LOG_OVERHEAD`, `CLOG_BUFFERED_BLOCKS` and `MPE_LOG_FORMAT` are not read.

## A file with everything in it

These are the defaults, as `settings-dump` writes them.

";

/// The text of `docs/user/settings.md`.
fn document() -> String {
    let mut text = HEAD.to_owned();
    for options in OPTIONS.chunk_by(|one, next| one.group == next.group) {
        let group = options.first().map_or("", |option| option.group);
        text += &format!(
            "## {group}\n\n| key | values | default | variables | effect |\n|---|---|---|---|---|\n"
        );
        text.extend(options.iter().map(row));
        text.push('\n');
    }
    text += FUNCTIONS;
    text += &table(["pattern", "stands for"], PATTERNS);
    text += &format!("\n{PATTERN_NOTE}\n## Other variables\n\n");
    text += &table(["variable", "meaning"], OTHER_VARIABLES);
    text += &format!("\n{TAIL}");
    for line in Settings::default().to_text().lines() {
        text += &format!("    {line}\n");
    }
    text
}

/// One option as a row of its table.
fn row(option: &SettingsOption) -> String {
    let keys = std::iter::once(&option.key)
        .chain(option.synonyms)
        .map(|key| format!("`{key}`"));
    let default = match (option.get)(&Settings::default()).join(" ") {
        empty if empty.is_empty() => "none".into(),
        value => format!("`{value}`"),
    };
    let variables = option
        .variables
        .iter()
        .map(|variable| match variable.meaning {
            VariableMeaning::Opposite => format!("`{}` (the opposite)", variable.name),
            _ => format!("`{}`", variable.name),
        });
    let variables = std::iter::once(format!("`{}`", option.variable())).chain(variables);
    format!(
        "| {} | {} | {default} | {} | {} |\n",
        keys.collect::<Vec<_>>().join(", "),
        (option.allowed)(),
        variables.collect::<Vec<_>>().join(", "),
        option.doc.split_whitespace().collect::<Vec<_>>().join(" "),
    )
}

fn table(head: [&str; 2], rows: &[(&str, &str)]) -> String {
    let mut text = format!("| {} | {} |\n|---|---|\n", head[0], head[1]);
    for (name, meaning) in rows {
        text += &format!("| `{name}` | {meaning} |\n");
    }
    text
}

/// The root folder of the project.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_document_is_what_the_table_says() {
    let path = root().join("docs/user/settings.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, document()).expect("docs/user/settings.md can be written");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == document(),
        "docs/user/settings.md is not up to date: run this test with UPDATE_DOCS=1"
    );
}

#[test]
fn every_row_of_the_document_has_its_cells_filled() {
    let rows: Vec<String> = OPTIONS.iter().map(row).collect();
    for row in &rows {
        let cells: Vec<&str> = row
            .trim()
            .trim_matches('|')
            .split('|')
            .map(str::trim)
            .collect();
        assert_eq!(cells.len(), 5, "{row}");
        assert!(cells.iter().all(|cell| !cell.is_empty()), "{row}");
    }
}
