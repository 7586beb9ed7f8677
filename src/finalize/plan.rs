//! Which files are written, and under which names.

use super::outputs::{self, OutputPlan};
use super::rank_summary::RankSummary;
use crate::api::mpe;
use crate::mpi::library;
use crate::mpi::world::World;
use crate::platform::{environment, host, program};
use merge::dumpi;
use settings::{CallIds, NameValues, Settings, expand, job_id};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use trace_formats::clog2::Preamble;
use trace_formats::clog2::states;
use trace_formats::dumpi::meta;
use trace_formats::dumpi::print::Zone;
use unify::functions::FunctionSelection;

/// For which calls the info box shows the CallID.
pub fn call_ids(settings: &Settings) -> states::CallIdDisplay {
    match settings.callids {
        CallIds::All => states::CallIdDisplay::All,
        CallIds::Io => states::CallIdDisplay::Files,
        CallIds::None => states::CallIdDisplay::None,
    }
}

/// The choice of functions of the program that are shown, by names as people write them.
pub fn choice(settings: &Settings) -> FunctionSelection {
    FunctionSelection {
        include: settings.functions_include.clone(),
        exclude: settings.functions_exclude.clone(),
        demangle: Some(library::demangled),
    }
}

/// Root of the DUMPI files, their time stamp, base of the merged files, and what keeps other runs from the DUMPI names.
pub fn names(
    world: &World,
    settings: &Settings,
) -> (PathBuf, String, PathBuf, Option<dumpi::Claim>) {
    let job = job_id(&environment::var).unwrap_or_else(|| world.job.to_string());
    let stamp_of = |second: i64| {
        let prefix = meta::prefix(b"", u64::try_from(second).unwrap_or(0), Zone::Local);
        String::from_utf8_lossy(&prefix)
            .trim_start_matches('-')
            .to_owned()
    };
    let (program, host) = (program::name(), host::host());
    let names = |stamp: &str| -> [PathBuf; 3] {
        let names = NameValues {
            program: &program,
            job: &job,
            task: &environment::array_task(),
            date: stamp,
            host: &host,
            ranks: world.size as u32,
            rank: 0,
            pid: std::process::id(),
        };
        let mut all: [PathBuf; 3] = [&settings.directory, &settings.fileroot, &settings.output]
            .map(|p| expand(p, &names).into());
        // As the program names its log with MPE_Finish_log, unless the user names it.
        if let Some(prefix) =
            mpe::prefix().filter(|_| settings.output == Settings::default().output)
        {
            all[2] = prefix;
        }
        // Of a name that is a folder's the file has the usual name in it: an ending alone would make a hidden file.
        let usual = Settings::default();
        for (path, name) in all[1..].iter_mut().zip([&usual.fileroot, &usual.output]) {
            let last = path.as_os_str().as_bytes().rsplit(|&b| b == b'/').next();
            if matches!(last, None | Some(b"" | b"." | b"..")) {
                path.push(expand(name, &names));
            }
        }
        all
    };
    // A world that was spawned runs beside the one that spawned it, in the same directory.
    let spawned = |name: PathBuf| {
        if world.spawned {
            merge::outputs::with_ending(&name, &format!("-spawned-{}", world.job))
        } else {
            name
        }
    };
    let mut second = world.started;
    loop {
        let stamp = stamp_of(second);
        let [directory, root, base] = names(&stamp);
        // Without the dots of a relative name: the paths are shown to the user.
        let directory: PathBuf = environment::home().join(directory).components().collect();
        let (root, base) = (spawned(directory.join(root)), spawned(directory.join(base)));
        let options = dumpi::DumpiOptions {
            root: root.clone(),
            folders: settings.dumpi_folders,
            stamp: stamp.clone(),
            ..dumpi::DumpiOptions::default()
        };
        if let Some(parent) = root.parent() {
            // A directory that cannot be made shows when the files are.
            drop(std::fs::create_dir_all(parent));
        }
        let mut claim = None;
        if settings.outputs.dumpi && !settings.overwrite {
            match dumpi::Claim::new(&options) {
                // Another run of the same second has this name: the next one is free.
                Ok(None) => {
                    second += 1;
                    continue;
                }
                Ok(own) => claim = own,
                // Nothing can be written there: that shows when the files are.
                Err(_) => {}
            }
        }
        return (root, stamp, base, claim);
    }
}

/// Plan of the outputs: as the settings say, below `base`, for the processes of `whole`.
pub fn plan(
    world: &World,
    settings: &Settings,
    base: &Path,
    whole: &RankSummary,
    mut preamble: Preamble,
) -> OutputPlan {
    preamble.block_size = u32::try_from(settings.clog2_block).unwrap_or(65536);
    let numbered = |names: &[(u32, String)]| {
        let names = names.iter().map(|(rank, name)| (*rank, name.as_str()));
        outputs::numbered(names, world.size as u32)
    };
    let (hosts, nodes) = numbered(&whole.hosts);
    let (programs, program_of) = numbered(&whole.programs);
    OutputPlan {
        base: base.to_path_buf(),
        replace: settings.overwrite,
        clog2: settings.outputs.clog2,
        slog2: settings.outputs.slog2,
        preamble,
        children: settings.children,
        leaf: settings.leaf,
        nodes,
        hosts,
        program_of,
        programs,
        counters: whole.counters.clone(),
        forward: settings.clock_forward,
    }
}
