//! `mpitrace run`: how it tells each launcher to preload, and that ranks get what they should.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use test_support::program_file;

/// What a stand-in for libtrace.so holds: the name of the symbol by which `mpitrace run` knows the recorder, as a table of symbols has it.
const STAND_IN: &str = "\0trace_abi\0";

/// A folder with a stand-in for libtrace.so and launchers of our own, removed at the end.
struct Bench {
    folder: PathBuf,
}

impl Bench {
    fn new(test: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("mpitrace-run-{}-{test}", std::process::id()));
        fs::create_dir_all(folder.join("lib")).unwrap();
        fs::write(folder.join("lib/libtrace.so"), STAND_IN).unwrap();
        Bench { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_string()
    }

    /// Writes an executable script.
    fn script(&self, name: &str, text: &str) -> String {
        let path = self.folder.join(name);
        program_file::write_script(&path, text);
        path.to_str().unwrap().to_string()
    }

    fn mpitrace(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
        command.args(arguments).env("TRACE_LIB", self.path("lib"));
        command.env_remove("LD_PRELOAD").current_dir(&self.folder);
        // Open MPI refuses to start ranks for root, as whom containers run.
        command
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.output().unwrap()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_string()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn installed(program: &str) -> bool {
    let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .any(|folder| folder.join(program).is_file());
    if !found {
        test_support::skip(&format!("{program} is not installed"));
    }
    found
}

#[test]
fn launchers_are_told_in_their_own_way() {
    let bench = Bench::new("told");
    let app = bench.script("app", "exit 0");
    let lib = bench.path("lib");
    for (version, expected) in [
        (
            "HYDRA build details:",
            format!("-genv LD_PRELOAD {lib}/libtrace.so -n 2 {app} -x"),
        ),
        (
            "mpirun (Open MPI) 5.0.7",
            format!("-x LD_PRELOAD={lib}/libtrace.so -n 2 {app} -x"),
        ),
    ] {
        let launcher = bench.script("mpiexec", &format!("echo '{version}'"));
        let output = bench.mpitrace(&["run", "--dry-run", "--", &launcher, "-n", "2", &app, "-x"]);
        assert_eq!(stdout(&output), format!("{launcher} {expected}"));
    }
    let launcher = bench.script("mpiexec", "echo something else");
    let output = bench.mpitrace(&["run", "--dry-run", "--", &launcher, "-n", "2", &app, "-x"]);
    assert_eq!(
        stdout(&output),
        format!("{launcher} -n 2 env LD_PRELOAD={lib}/libtrace.so {app} -x")
    );
}

#[test]
fn settings_become_variables() {
    let bench = Bench::new("settings");
    let app = bench.script("app", "env | grep ^TRACE_ | sort; exit 7");
    fs::write(bench.path("my.conf"), "").unwrap();
    let mut arguments = vec!["run", "--quiet", "--conf", "my.conf", "--output", "a b"];
    arguments.extend([
        "--dir",
        "out",
        "--set",
        "settings-dump=1=2",
        "--set",
        "children=4",
        "--set",
        "MPI_Send=disable",
        "--set",
        "MPI_Recv=success",
        "--",
        &app,
    ]);
    let output = bench.mpitrace(&arguments);
    let folder = bench.folder.display();
    assert_eq!(
        stdout(&output),
        format!(
            "TRACE_CHILDREN=4\nTRACE_CONF={folder}/my.conf\nTRACE_DIR={folder}/out\nTRACE_OUTPUT=a b\n\
             TRACE_SETTINGS=MPI_Send disable;MPI_Recv success\nTRACE_SETTINGS_DUMP=1=2"
        )
    );
    assert_eq!(output.status.code(), Some(7), "the program's exit code");
}

#[test]
fn options_of_run_win_over_the_environment() {
    let bench = Bench::new("strength");
    let app = bench.script("app", "env | grep ^TRACE_ | sort");
    let folder = bench.folder.display();
    let arguments = format!("--dir b --set tmpdir=rt -- {app}");
    let output = in_shell(&bench, "export TRACE_DIRECTORY=a", &arguments);
    assert_eq!(
        stdout(&output),
        format!("TRACE_DIR={folder}/b\nTRACE_DIRECTORY={folder}/b\nTRACE_TMPDIR={folder}/rt")
    );
    for (option, setting) in [("--output", "output"), ("--dir", "directory")] {
        let arguments = [
            "run",
            option,
            "b",
            "--set",
            &format!("{setting}=a"),
            "--",
            &app,
        ];
        let output = bench.mpitrace(&arguments);
        assert_eq!(output.status.code(), Some(2));
        let expected = format!("--set {setting}=a: {option} says this, too");
        assert!(stderr(&output).contains(&expected), "{}", stderr(&output));
    }
}

#[test]
fn block_files_that_were_to_be_kept_need_no_advice() {
    let bench = Bench::new("kept");
    let folder = bench.path("tmp");
    fs::create_dir(&folder).unwrap();
    let name = format!("{folder}/libtrace.app.0.4194301.blocks");
    let app = bench.script("app", &format!("head -c 4096 /dev/zero >{name}"));
    fs::write(bench.path("kept.conf"), "keep-blocks yes\n").unwrap();
    for (before, arguments, is_told) in [
        (":", "", true),
        ("export TRACE_KEEP_BLOCKS=1", "", false),
        (":", "--set keep-blocks=on", false),
        (":", "--conf kept.conf", false),
    ] {
        fs::remove_file(&name).ok();
        let arguments = format!("--set tmpdir={folder} {arguments} -- {app}");
        let text = stderr(&in_shell(&bench, before, &arguments));
        assert_eq!(text.contains("mpitrace recover"), is_told, "{text}");
    }
}

#[test]
fn a_signal_ends_mpitrace_as_the_program() {
    use std::os::unix::process::ExitStatusExt;
    let bench = Bench::new("signal");
    let output = bench.mpitrace(&["run", "-q", "--", "sh", "-c", "kill -TERM $$"]);
    assert_eq!(output.status.signal(), Some(15));
}

#[test]
fn an_earlier_preload_stays() {
    let bench = Bench::new("preload");
    let lib = bench.path("lib/libtrace.so");
    let show = ["-c", "echo $LD_PRELOAD"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command
        .args(["run", "-q", "--lib", &lib, "--", "sh"])
        .args(show)
        .env("LD_PRELOAD", "/no/such.so");
    assert_eq!(
        stdout(&command.output().unwrap()),
        format!("{lib}:/no/such.so")
    );
}

#[test]
fn wrong_calls_end_with_2() {
    let bench = Bench::new("wrong");
    fs::write(bench.path("other.so"), "\0trace_abiding\0my_trace_abi\0").unwrap();
    for (arguments, message) in [
        (
            &["run", "--", "./no-such-program"][..],
            "./no-such-program: No such file",
        ),
        (
            &["run", "--", "no-such-program"],
            "no-such-program: not found in PATH",
        ),
        (
            &["run", "--", "/etc/passwd"],
            "/etc/passwd: not an executable file",
        ),
        (
            &["run", "--set", "x", "--", "true"],
            "--set x: expected KEY=VALUE",
        ),
        (
            &["run", "--set", "clok-sync=yes", "--", "true"],
            "--set clok-sync=yes: no setting has the key clok-sync; did you mean clock-sync?",
        ),
        (
            &["run", "--conf", "no.conf", "--", "true"],
            "--conf no.conf: No such file",
        ),
        (
            &["run", "--lib", "no/such/lib", "--", "true"],
            "no/such/lib: no such library",
        ),
        // Any file, and a library that is another one.
        (
            &["run", "--lib", "/etc/passwd", "--", "true"],
            "/etc/passwd: not the recorder of libtrace, which has a symbol trace_abi",
        ),
        (
            &["run", "--lib", "other.so", "--", "true"],
            "other.so: not the recorder of libtrace",
        ),
        (
            &["run", "--lib", "/tmp/..", "--", "true"],
            "no libtrace.so; name it with --lib",
        ),
        (&["run"], "COMMAND"),
    ] {
        let output = bench.mpitrace(arguments);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains(message),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}

/// Real launchers: each rank sees the library and the settings, the launcher itself does not.
#[test]
fn real_launchers() {
    let bench = Bench::new("real");
    // Hydra now and then loses all output of programs that end while it is still connecting to them.
    let show = "echo $LD_PRELOAD $TRACE_DIR $TRACE_FILEROOT; sleep 0.5";
    for (launcher, family, option) in [
        ("mpiexec.mpich", "mpich", "-l"),
        ("mpirun.openmpi", "openmpi", "--oversubscribe"),
    ] {
        if !installed(launcher) {
            continue;
        }
        let mut arguments = vec![
            "run",
            "--dir",
            "/d",
            "--set",
            "fileroot=red;blue",
            "--",
            launcher,
        ];
        // A second program shows that both parts of the command are told.
        arguments.extend([
            "-n", "2", "sh", "-c", show, ":", "-n", "1", "sh", "-c", show,
        ]);
        if family == "openmpi" {
            arguments.insert(7, option);
        }
        let output = bench.mpitrace(&arguments);
        let rank = format!("{}/lib/libtrace.so /d red;blue", bench.folder.display());
        assert_eq!(
            stdout(&output),
            [&rank[..]; 3].join("\n"),
            "{launcher}: {}",
            stderr(&output)
        );
        // The stand-in makes the loader complain once in each process that is told to load it.
        let complaints: Vec<String> = stderr(&output).lines().map(str::to_string).collect();
        assert!(
            complaints.iter().any(|line| line.contains("libtrace.so")),
            "{complaints:?}"
        );
    }
}

/// A program under the launcher of another MPI is warned of: what it loads tells, also behind a wrapper.
#[test]
fn a_launcher_of_another_mpi_is_warned_of() {
    let bench = Bench::new("family");
    fs::write(
        bench.path("app.c"),
        "int MPI_Init(int *, char ***); int main(void) { return MPI_Init(0, 0); }",
    )
    .unwrap();
    let hydra = bench.script("mpiexec", "echo 'HYDRA build details:'");
    for (compiler, warning) in [
        ("mpicc.mpich", ""),
        (
            "mpicc.openmpi",
            "app uses Open MPI, but the launcher is that of MPICH",
        ),
    ] {
        if !installed(compiler) {
            continue;
        }
        let app = bench.path("app");
        let made = Command::new(compiler)
            .args([&bench.path("app.c"), "-o", &app])
            .status()
            .unwrap();
        assert!(made.success());
        let command = [&hydra, "-n", "2", "env", "A=1", &app];
        let output = bench.mpitrace(&[&["run", "--dry-run", "--"], &command[..]].concat());
        let said = stderr(&output);
        assert_eq!(said.contains("warning"), !warning.is_empty(), "{said}");
        assert!(said.contains(warning), "{said}");
    }
}

#[test]
fn io_needs_blocks_and_ends_as_the_program_does() {
    let bench = Bench::new("io");
    let program = bench.script("program", "env | grep ^TRACE_ | sort; exit 3");
    let output = bench.mpitrace(&["run", "--io", "--keep", "--", &program]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let shown = stdout(&output);
    assert!(shown.contains("TRACE_KEEP_BLOCKS=yes"), "{shown}");
    let folder = shown
        .lines()
        .find_map(|line| line.strip_prefix("TRACE_TMPDIR="))
        .expect("a folder of its own");
    assert!(stderr(&output).contains(&format!("block files are in {folder}")));
    fs::remove_dir(folder).expect("it is kept, and empty");
    for wrong in [
        &["run", "--ioserver", "a:b", "--", "true"][..],
        &["run", "--io", "--ioserver", "a", "--", "true"],
        &["run", "--io", "--servers", "2", "--", "true"],
    ] {
        let output = bench.mpitrace(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

/// A value of --blk may be left out, and only what is joined by = is one.
#[test]
fn devices_to_follow_need_no_name() {
    let bench = Bench::new("devices");
    let program = bench.script("program", "exit 0");
    for option in ["--blk", "--blk=."] {
        let arguments = ["run", "--dry-run", "--io", option, "--", &program];
        let output = bench.mpitrace(&arguments);
        assert!(output.status.success(), "{option}: {}", stderr(&output));
        assert!(stdout(&output).contains("program"), "{option}");
    }
}

/// Runs `mpitrace run` with these arguments in a session of its own, from a shell that first does `before`.
fn in_shell(bench: &Bench, before: &str, arguments: &str) -> Output {
    let mpitrace = env!("CARGO_BIN_EXE_mpitrace");
    let lib = bench.path("lib");
    Command::new("sh")
        .arg("-c")
        .arg(format!(
            "{before}; exec {mpitrace} run --lib {lib} {arguments}"
        ))
        .current_dir(&bench.folder)
        .output()
        .unwrap()
}

#[test]
fn signals_stdin_and_exit_codes_are_those_of_the_command() {
    use std::os::unix::process::ExitStatusExt;
    let bench = Bench::new("supervised");
    // A signal to mpitrace alone reaches the command, which may go on after it.
    let signals = [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("USR1", 10),
        ("USR2", 12),
        ("TERM", 15),
    ];
    // A test in the background may ignore some of them, and then everything that it starts does.
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:\t"));
    let ignored = u64::from_str_radix(ignored.unwrap(), 16).unwrap();
    for (signal, number) in signals {
        if ignored >> (number - 1) & 1 == 1 {
            continue;
        }
        let app = bench.script(
            "app",
            &format!("trap 'echo caught; exit 9' {signal}; kill -{signal} $PPID; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1; done"),
        );
        let output = in_shell(&bench, ":", &format!("-q -- {app}"));
        assert_eq!(stdout(&output), "caught", "{signal}");
        assert_eq!(output.status.code(), Some(9), "{signal}");
    }
    // Signals that were ignored before stay ignored.
    let app = bench.script("app", "kill -HUP $$ $PPID; exit 4");
    let output = in_shell(&bench, "trap '' HUP", &format!("-q -- {app}"));
    assert_eq!(output.status.code(), Some(4));
    let app = bench.script("app", "read line; echo \"got $line\"; kill -SEGV $$");
    let output = in_shell(&bench, "exec <<END\nword\nEND\n:", &format!("-q -- {app}"));
    assert_eq!(stdout(&output), "got word");
    assert_eq!(output.status.signal(), Some(11));
    // Killed with mpitrace, not left behind.
    let app = bench.script(
        "app",
        &format!(
            "echo $$ >{}; kill -KILL $PPID; sleep 1; echo alive >{}",
            bench.path("pid"),
            bench.path("alive")
        ),
    );
    let output = in_shell(&bench, ":", &format!("-q -- {app}"));
    assert_eq!(output.status.signal(), Some(9));
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert!(!std::path::Path::new(&bench.path("alive")).exists());
}

#[test]
fn a_run_that_leaves_block_files_is_told_what_to_type() {
    let bench = Bench::new("left");
    let folder = bench.path("tmp");
    fs::create_dir(&folder).unwrap();
    fs::write(format!("{folder}/libtrace.old.0.1.blocks"), [0; 4096]).unwrap();
    let name = format!("{folder}/libtrace.app.0.4194301.blocks");
    let app = bench.script(
        "app",
        &format!("head -c 4096 /dev/zero >{name}; kill -KILL $$"),
    );
    for arguments in [
        format!("--set tmpdir={folder} -- {app}"),
        format!("--conf my.conf -- {app}"),
    ] {
        fs::write(bench.path("my.conf"), format!("tmpdir {folder}\n")).unwrap();
        fs::remove_file(&name).ok();
        let output = in_shell(&bench, ":", &arguments);
        let text = stderr(&output);
        assert!(
            text.ends_with(&format!("mpitrace recover {name}\n")),
            "{text}"
        );
    }
    let output = in_shell(&bench, ":", "-- true");
    assert!(!stderr(&output).contains("recover"), "{}", stderr(&output));
}

#[test]
fn a_run_without_a_trace_is_told() {
    let bench = Bench::new("no-trace");
    let set = format!(
        "--dir {} --set tmpdir={}",
        bench.path("out"),
        bench.path("lib")
    );
    fs::create_dir(bench.path("out")).unwrap();
    fs::write(bench.path("out/old.slog2"), "old").unwrap();
    let told = |command: &str| {
        let output = in_shell(&bench, ":", &format!("{set} -- {command}"));
        stderr(&output).contains("there is no new trace in ")
    };
    assert!(told("true"));
    // One that fails has other troubles.
    assert!(!told("false"));
    for name in ["a.slog2", "old.slog2", "a-2026.meta"] {
        let app = bench.script("app", &format!("echo trace >{}", bench.path("out/") + name));
        assert!(!told(&app), "{name}");
    }
    let app = bench.script("app", &format!("echo >{}", bench.path("lib/x.blocks")));
    assert!(!told(&app));
    let quiet = in_shell(&bench, ":", &format!("{set} -q -- true"));
    assert!(!stderr(&quiet).contains("new trace"));
}

#[test]
fn variables_reach_the_ranks_of_every_launcher() {
    let bench = Bench::new("forwarded");
    let app = bench.script("app", "exit 0");
    let lib = bench.path("lib/libtrace.so");
    fs::write(
        bench.path("progs"),
        format!("# ranks\n0 {app} a\n1-3 {app} b\n"),
    )
    .unwrap();
    let srun = bench.script("srun", "exit 0");
    let reported = |line: &str| {
        let words = line.split(' ').collect::<Vec<_>>();
        let mut arguments = vec!["run", "-q", "--dry-run", "--set", "children=4", "--"];
        arguments.extend(words);
        stdout(&bench.mpitrace(&arguments))
    };
    assert_eq!(
        reported(&format!("{srun} -n 4 --multi-prog progs")),
        format!("{srun} --export=ALL,LD_PRELOAD={lib},TRACE_CHILDREN=4 -n 4 --multi-prog progs")
    );
    assert_eq!(
        reported(&format!("{srun} -n 4 --export=A=1 --multi-prog progs")),
        format!("{srun} -n 4 --export=A=1,LD_PRELOAD={lib},TRACE_CHILDREN=4 --multi-prog progs")
    );
    for (version, expected) in [
        (
            "HYDRA build details:",
            format!("-genv LD_PRELOAD {lib} -genv TRACE_CHILDREN 4 -n 2 {app}"),
        ),
        (
            "mpirun (Open MPI) 5.0.7",
            format!("-x LD_PRELOAD={lib} -x TRACE_CHILDREN=4 -n 2 {app}"),
        ),
    ] {
        let launcher = bench.script("mpiexec", &format!("echo '{version}'"));
        assert_eq!(
            reported(&format!("{launcher} -n 2 {app}")),
            format!("{launcher} {expected}")
        );
    }
}
