//! How traces are opened and shown, and what is left at the end: nothing.

use super::server::{Server, command, data, read_reply, request, sample, synthetic, wait};
use rustix::process::Signal;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use test_support::{patience, program_file};

fn names_in(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < patience(), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn several_traces_of_several_formats() {
    let temporary = tempfile::tempdir().unwrap();
    let given = ["clog2/small.clog2", "paje/mixed.trace", "clog1/small.clog"].map(data);
    let mut arguments = vec![sample()];
    arguments.extend(given);
    let mut command = command(&["-q"]);
    let mut server = Server::of(command.args(&arguments).env("TMPDIR", temporary.path()));
    let traces = server.get("traces").json();
    let expected = ["sample.slog2", "small.clog2", "mixed.trace", "small.clog"];
    for (n, name) in expected.iter().enumerate() {
        assert_eq!(traces["traces"][n]["name"], *name);
        let meta = server.get(&format!("t/{n}/meta")).json();
        assert_eq!(meta["name"], *name);
        assert!(meta["drawables"].as_u64().unwrap() > 0, "{meta}");
    }
    assert_eq!(server.get("t/4/meta").status, 404);
    // Files made of the others have no name, so that nothing is left however it ends.
    assert_eq!(names_in(temporary.path()), [""; 0]);
    server.signal(Signal::INT);
    let (status, rest) = server.wait();
    assert_eq!((status.code(), rest.as_str()), (Some(0), ""));
}

#[test]
fn a_conversion_that_is_broken_off_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let slog2 = synthetic(folder.path(), 300_000);
    let clog2 = folder.path().join("a.clog2");
    let mut convert = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    let done = convert
        .args(["convert", "-q"])
        .args([&slog2, &clog2])
        .status()
        .unwrap();
    assert!(done.success());
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut command = command(&[clog2.to_str().unwrap(), "-q"]);
        command
            .env("TMPDIR", temporary.path())
            .stdout(Stdio::null());
        let mut child = command.spawn().unwrap();
        eventually("a file to convert to", || {
            !names_in(temporary.path()).is_empty()
        });
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, signal).unwrap();
        let status = wait(&mut child);
        // On a fast machine it was done already.
        let code = status.code().unwrap();
        assert!(code == 128 + signal.as_raw() || code == 0, "{status}");
        assert_eq!(names_in(temporary.path()), [""; 0], "{signal:?}");
    }
}

#[test]
fn wrong_calls_say_what_is_wrong() {
    let refuse = |arguments: &[&str], code: i32, expected: &str| {
        let output = command(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains(expected), "{text}");
        assert!(output.stdout.is_empty());
    };
    refuse(&[], 2, "TRACE");
    refuse(&["/nowhere/a.slog2"], 1, "/nowhere/a.slog2");
    refuse(&[env!("CARGO_MANIFEST_PATH")], 1, "of no known format");
    refuse(&[&sample(), "--idle", "soon"], 2, "90s, 30m or 8h");
    refuse(&[&sample(), "--base-path", "/a/../b"], 2, "expected a path");
    refuse(&[&sample(), "--socket", "/nowhere/s"], 1, "/nowhere/s");
    let server = Server::start(&[&sample(), "-q"]);
    let port = server.port.to_string();
    refuse(&[&sample(), "--port", &port], 1, &format!("port {port}: "));
}

#[test]
fn a_socket_is_for_one_user_and_goes_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    // One that a killed server has left is replaced.
    drop(UnixListener::bind(&path).unwrap());
    let sample = sample();
    let arguments = [sample.as_str(), "-q", "--socket", path.to_str().unwrap()];
    let mut server = Server::unknown(&mut command(&arguments));
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let ask = |text: String| {
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        read_reply(&mut stream)
    };
    let length = server.token.len().to_string();
    let login = ask(request(
        "POST",
        "/login",
        &[("Content-Length", &length)],
        &server.token,
    ));
    assert_eq!(login.status, 204);
    let cookie = login.header("set-cookie").split(';').next().unwrap();
    assert_eq!(ask(request("GET", "/t/0/meta", &[], "")).status, 401);
    assert_eq!(
        ask(request("GET", "/t/0/meta", &[("Cookie", cookie)], "")).status,
        200
    );
    // A second server does not take it away.
    let output = command(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        ask(request("GET", "/t/0/meta", &[("Cookie", cookie)], "")).status,
        200
    );
    server.signal(Signal::TERM);
    assert_eq!(server.wait().0.code(), Some(0));
    assert!(!path.exists());
}

#[test]
fn it_ends_when_nobody_looks() {
    const IDLE: Duration = Duration::from_secs(1);
    // Before the latest request that was answered: the server counts from a later moment.
    let mut asked = Instant::now();
    let mut server = Server::start(&[&sample(), "-q", "--idle", "1s"]);
    let begun = Instant::now();
    while begun.elapsed() < IDLE.mul_f64(1.5) && !server.has_ended() {
        std::thread::sleep(Duration::from_millis(100));
        let now = Instant::now();
        let answer = std::panic::catch_unwind(|| server.get("t/0/meta").status);
        if !answer.is_ok_and(|status| status == 200) {
            break;
        }
        asked = now;
    }
    // On a busy machine this test may not have asked for so long.
    assert!(
        !server.has_ended() || asked.elapsed() >= IDLE,
        "it has ended too soon"
    );
    assert_eq!(server.wait().0.code(), Some(0));
}

#[test]
fn the_way_there_by_ssh_is_told() {
    let mut command = command(&[&sample()]);
    command
        .env("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 2222")
        .env("USER", "me");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut address).unwrap();
    let port = address.strip_prefix("http://127.0.0.1:").unwrap();
    let port = port.split('/').next().unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let line = stderr
        .lines()
        .map(Result::unwrap)
        .find(|line| line.contains("ssh "));
    let line = line.unwrap();
    let expected = format!("ssh -p 2222 -N -L {port}:127.0.0.1:{port} me@");
    assert!(line.contains(&expected), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// With a stand-in for the program that opens browsers, which notes its arguments.
#[test]
fn the_browser_is_not_told_the_token_where_others_can_see_it() {
    let folder = tempfile::tempdir().unwrap();
    let (opener, noted) = (folder.path().join("xdg-open"), folder.path().join("noted"));
    let script = format!("echo \"$*\" >{0}.new; mv {0}.new {0}", noted.display());
    program_file::write_script(&opener, &script);
    let runtime = folder.path().join("runtime");
    fs::create_dir(&runtime).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let with = |arguments: &[&str]| {
        let mut command = command(arguments);
        command
            .env("PATH", &path)
            .env("DISPLAY", ":7")
            .env("XDG_RUNTIME_DIR", &runtime);
        Server::of(&mut command)
    };
    let mut server = with(&[&sample(), "-q"]);
    eventually("the browser to be opened", || noted.exists());
    let argument = fs::read_to_string(&noted).unwrap();
    let argument = Path::new(argument.trim_end());
    assert!(!argument.display().to_string().contains(&server.token));
    let page = fs::read_to_string(argument).unwrap();
    assert!(
        page.contains(&format!("url={}\"", server.address)),
        "{page}"
    );
    assert_eq!(
        fs::metadata(argument).unwrap().permissions().mode() & 0o777,
        0o600
    );
    server.signal(Signal::INT);
    assert_eq!(server.wait().0.code(), Some(0));
    assert_eq!(names_in(&runtime), [""; 0]);
    fs::remove_file(&noted).unwrap();
    drop(with(&[&sample(), "-q", "--no-open"]));
    assert!(!noted.exists() && names_in(&runtime).is_empty());
}

#[test]
fn files_of_the_page_from_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    put("index.html", "one");
    put("viewer.js", "1");
    put(".hidden", "1");
    let server = Server::start(&[&sample(), "-q", "--dev", folder.path().to_str().unwrap()]);
    assert_eq!(server.get("").text(), "one");
    put("index.html", "two");
    assert_eq!(server.get("").text(), "two");
    assert!(
        server
            .get("viewer.js")
            .header("content-type")
            .starts_with("text/javascript")
    );
    for name in [
        ".hidden",
        "../index.html",
        "nothing.js",
        "%2e%2e/index.html",
    ] {
        assert_eq!(server.get(name).status, 404, "{name}");
    }
}
