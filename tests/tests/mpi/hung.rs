//! Looking at a program that hangs: by a signal, and from outside without one.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tests::trace::TraceSetup;
use tests::{Mpi, Program, TestFolder, process};

/// Output of `mpitrace`.
fn mpitrace(arguments: &[&std::ffi::OsStr]) -> String {
    let output = Command::new(tests::mpitrace()).args(arguments).output();
    let output = output.expect("mpitrace");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn where_a_program_hangs_is_told() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("hangs").compile(mpi);
        let folder = TestFolder::new(&format!("{}-hangs", mpi.suffix()));
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &[("TRACE_DUMP_SIGNAL", "USR1")];
        let mut command = mpi.mpiexec(2);
        tracing.settings(&mut command, &folder);
        let (printed, end) = (folder.path().join("said"), folder.path().join("end"));
        let child = command
            .arg("env")
            .arg(format!("LD_PRELOAD={}", tests::recorder().display()))
            .arg(&program)
            .arg(&end)
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(folder.path().join("out")).expect("own folder"))
            .stderr(std::fs::File::create(&printed).expect("own folder"))
            .spawn();
        let mut child = child.expect("a launcher");
        // Both ranks are where they stay.
        let trace = folder.path().join("trace");
        let (begun, limit) = (Instant::now(), process::limit_here(Duration::from_secs(60)));
        let text = loop {
            let text = mpitrace(&["status".as_ref(), trace.as_os_str()]);
            if text.contains("in MPI_Recv") && text.contains("outside MPI") {
                break text;
            }
            assert!(begun.elapsed() < limit, "{text}");
            std::thread::sleep(Duration::from_millis(50));
        };
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with("hangs, rank 0 of 2, process "),
            "{text}"
        );
        assert!(lines[1].contains("in MPI_Recv for "), "{text}");
        assert!(
            lines[2].starts_with("hangs, rank 1 of 2, process "),
            "{text}"
        );
        // The trace so far, of the running program.
        let out = folder.path().join("so far");
        let sofar = mpitrace(&[
            "recover".as_ref(),
            "--force".as_ref(),
            "--dir".as_ref(),
            out.as_os_str(),
            trace.as_os_str(),
        ]);
        assert!(sofar.contains(".slog2"), "{sofar}");
        let pids: Vec<&str> = lines
            .iter()
            .filter_map(|line| Some(line.split_once("process ")?.1))
            .collect();
        assert_eq!(pids.len(), 2, "{text}");
        let one = mpitrace(&["status".as_ref(), pids[0].as_ref()]);
        assert!(
            one.contains("rank 0 of 2") && !one.contains("rank 1"),
            "{one}"
        );
        for pid in pids {
            let sent = Command::new("kill").args(["-USR1", pid]).status();
            assert!(sent.expect("kill").success());
        }
        let begun = Instant::now();
        loop {
            let printed = std::fs::read_to_string(&printed).expect("own folder");
            let says = |start: &str, what: &str| {
                let whole = printed.rsplit_once('\n').map_or("", |(whole, _)| whole);
                let mut lines = whole.lines();
                let line = lines.find(|line| line.starts_with(start));
                line.inspect(|line| assert!(line.contains(what), "{printed}"))
                    .is_some()
            };
            if says("trace: rank 0, thread 0", "in MPI_Recv for ")
                && says("trace: rank 1, thread 0", "outside MPI")
            {
                break;
            }
            assert!(begun.elapsed() < limit, "{printed}");
            std::thread::sleep(Duration::from_millis(10));
        }
        std::fs::write(&end, "").expect("own folder");
        assert!(child.wait().expect("own child").success());
    }
}
