//! Data servers and who should not use them: those without the secret, other users, those who only cost, and files in the
//! store that others have put there.

use super::instance::{mpitrace, until};
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use test_support::{limit_here, program_file};

const WRITE: u16 = 3;
const CLOCK: u16 = 9;
/// Error numbers in answers.
const NONE: i32 = 0;

/// A running `mpitrace dataserver`.
struct DataServer {
    folder: TempDir,
    child: Child,
    address: String,
}

impl DataServer {
    /// Starts one with a secret of its own.
    fn start(listen: &str) -> DataServer {
        Self::start_by(listen, &[])
    }

    /// As [`start`](Self::start); `prefix` goes before the command, and may make it another user's.
    fn start_by(listen: &str, prefix: &[&str]) -> DataServer {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(folder.path().join("store")).unwrap();
        let secret = folder.path().join("secret");
        fs::write(&secret, "a secret of some length\n").unwrap();
        fs::set_permissions(&secret, Permissions::from_mode(0o600)).unwrap();
        let mut program = PathBuf::from(mpitrace().get_program());
        if !prefix.is_empty() {
            // The build may lie where others cannot look.
            let copy = folder.path().join("mpitrace");
            program_file::copy(&program, &copy);
            program = copy;
            fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        }
        let mut command = Command::new(prefix.first().unwrap_or(&"env"));
        command.args(prefix.get(1..).unwrap_or_default());
        let listen = match listen {
            "unix" => format!("unix:{}", folder.path().join("socket").display()),
            tcp => tcp.to_owned(),
        };
        let command = command
            .arg(program)
            .args(["dataserver", "--no-trace", "--listen", &listen, "--secret"])
            .args([&secret, &folder.path().join("store")]);
        let errors = fs::File::create(folder.path().join("errors")).unwrap();
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening ");
        DataServer {
            address: address.expect("it listens").to_owned(),
            folder,
            child,
        }
    }

    fn object(&self, number: u64) -> PathBuf {
        self.folder.path().join(format!("store/{number:016x}"))
    }

    fn tcp(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address.strip_prefix("tcp:").unwrap()).unwrap();
        stream
            .set_read_timeout(Some(limit_here(Duration::from_secs(40))))
            .unwrap();
        stream
    }

    fn unix(&self) -> UnixStream {
        let stream = UnixStream::connect(self.address.strip_prefix("unix:").unwrap()).unwrap();
        stream
            .set_read_timeout(Some(limit_here(Duration::from_secs(40))))
            .unwrap();
        stream
    }

    /// The command that starts an I/O server with it, which uses this secret.
    fn front_end(&self, secret: &str) -> Command {
        let at = |name: &str| self.folder.path().join(name);
        for name in ["base", "mnt"] {
            drop(fs::create_dir(at(name)));
            fs::set_permissions(at(name), Permissions::from_mode(0o777)).unwrap();
        }
        fs::write(at("other"), secret).unwrap();
        fs::set_permissions(at("other"), Permissions::from_mode(0o600)).unwrap();
        let mut command = mpitrace();
        command.args(["ioserver", "--no-trace", "--data-server", &self.address]);
        command
            .arg("--secret")
            .args(["other", "base", "mnt"].map(at));
        command.current_dir(self.folder.path());
        command
    }

    fn errors(&self) -> String {
        fs::read_to_string(self.folder.path().join("errors")).unwrap()
    }

    /// Whether it is still there.
    fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for DataServer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A question about file `number`, with `behind` announced behind it.
fn question(action: u16, number: u64, behind: u32) -> Vec<u8> {
    let mut bytes = b"MPQ1".to_vec();
    bytes.extend(action.to_le_bytes());
    bytes.extend([0; 2]);
    for word in [u64::MAX, 1, number, 0, 0, u64::from(behind)] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend([0; 4]);
    bytes.extend(behind.to_le_bytes());
    bytes
}

/// Asks to write some bytes; gives the error number.
fn write(stream: &mut (impl Read + Write), number: u64) -> i32 {
    stream.write_all(&question(WRITE, number, 4)).unwrap();
    stream.write_all(b"data").unwrap();
    errno(stream).expect("an answer")
}

/// The error number of the next answer; `None` when the connection is closed.
fn errno(stream: &mut impl Read) -> Option<i32> {
    let mut answer = [0; 24];
    stream.read_exact(&mut answer).ok()?;
    assert_eq!(&answer[..4], b"MPA1");
    Some(i32::from_le_bytes(answer[4..8].try_into().unwrap()))
}

#[test]
fn nothing_is_done_for_who_has_no_secret() {
    let mut server = DataServer::start("tcp:127.0.0.1:0");
    let mut stream = server.tcp();
    stream.write_all(&question(WRITE, 7, 4)).unwrap();
    let _closed = stream.write_all(b"data");
    assert_eq!(errno(&mut stream), None);
    assert!(!server.object(7).exists());
    let wrong = server
        .front_end("another secret of some length")
        .output()
        .unwrap();
    let why = String::from_utf8(wrong.stderr).unwrap();
    assert_eq!(wrong.status.code(), Some(1), "{why}");
    assert!(why.contains("its secret is not that of"), "{why}");
    assert!(why.contains("/other"), "{why}");
    until("it is told", || {
        server.errors().contains("a connection is given up")
    });
    assert!(server.is_running());
}

#[test]
fn other_users_are_refused_at_a_socket() {
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } != 0 {
        test_support::skip("only root can be another user");
        return;
    }
    let server = DataServer::start("unix");
    let socket = server.folder.path().join("socket");
    fs::set_permissions(&socket, Permissions::from_mode(0o777)).unwrap();
    assert_eq!(write(&mut server.unix(), 7), NONE);
    assert!(server.object(7).exists());
    let address = server.address.clone();
    let refused = std::thread::spawn(move || {
        // SAFETY: changes the user of this thread alone, which ends soon.
        let changed = unsafe { libc::syscall(libc::SYS_setresuid, -1, 65_534, -1) };
        assert_eq!(changed, 0);
        let mut stream = UnixStream::connect(address.strip_prefix("unix:").unwrap()).unwrap();
        drop(stream.write_all(&question(WRITE, 8, 0)));
        errno(&mut stream)
    });
    assert_eq!(refused.join().unwrap(), Some(libc::EACCES));
    assert!(!server.object(8).exists());
    let reported = "the other end is user 65534, this one is user 0";
    until("it is told", || server.errors().contains(reported));
}

#[test]
fn strangers_are_few_and_short_lived() {
    let mut server = DataServer::start("tcp:127.0.0.1:0");
    let mut silent: Vec<TcpStream> = (0..200).map(|_| server.tcp()).collect();
    // The first ones make room for later ones.
    assert_eq!(silent[0].read(&mut [0]).unwrap_or(0), 0);
    let threads = || {
        let path = format!("/proc/{}/task", server.child.id());
        fs::read_dir(path).unwrap().count()
    };
    until("only some have a thread", || threads() < 80);
    assert_eq!(silent[199].read(&mut [0]).unwrap_or(0), 0);
    until("no connection is left", || threads() < 8);
    assert!(server.is_running());
}

/// If no further thread can be had, connections are closed; later ones are served.
#[test]
fn the_server_survives_a_limit_of_threads() {
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } != 0 {
        test_support::skip("only root can have another user's server, whose threads are limited");
        return;
    }
    let user = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
    ];
    let limited = [&user[..], &["prlimit", "--nproc=50:50"]].concat();
    let mut server = DataServer::start_by("unix", &limited);
    let mut streams: Vec<UnixStream> = (0..200).map(|_| server.unix()).collect();
    let mut served = 0;
    for stream in &mut streams {
        let sent = stream.write_all(&question(CLOCK, 0, 0));
        served += usize::from(sent.is_ok() && errno(stream) == Some(NONE));
    }
    assert!((1..50).contains(&served), "{served}");
    drop(streams);
    until("a new connection is served", || {
        let mut stream = server.unix();
        let sent = stream.write_all(&question(CLOCK, 0, 0));
        sent.is_ok() && errno(&mut stream) == Some(NONE)
    });
    assert!(server.is_running());
}

/// A client that announces much and sends nothing takes no memory.
#[test]
fn half_sent_questions_cost_little() {
    let server = DataServer::start("unix");
    let streams: Vec<UnixStream> = (0..60)
        .map(|number| {
            let mut stream = server.unix();
            stream
                .write_all(&question(WRITE, number, 16 << 20))
                .unwrap();
            stream.write_all(&[7; 1000]).unwrap();
            stream
        })
        .collect();
    let mut other = server.unix();
    assert_eq!(write(&mut other, 100), NONE);
    let status = fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let data = status.lines().find(|line| line.starts_with("VmHWM:"));
    let most: u64 = data
        .unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    // 60 times 16 MB would be a million.
    assert!(most < 100_000, "{most} KB");
    drop(streams);
}

#[test]
fn what_others_put_into_the_store_is_not_taken() {
    let server = DataServer::start("unix");
    let target = server.folder.path().join("target");
    fs::write(&target, "of value").unwrap();
    symlink(&target, server.object(1)).unwrap();
    fs::hard_link(&target, server.object(2)).unwrap();
    symlink(server.folder.path().join("none"), server.object(3)).unwrap();
    let made = Command::new("mkfifo").arg(server.object(4)).status();
    assert!(made.unwrap().success());
    let mut stream = server.unix();
    for number in 1..=4 {
        assert_ne!(write(&mut stream, number), NONE, "{number}");
    }
    assert_eq!(fs::read(&target).unwrap(), b"of value");
    assert!(!server.folder.path().join("none").exists());
    assert_eq!(write(&mut stream, 5), NONE);
    assert_eq!(fs::read(server.object(5)).unwrap(), b"data");
    until("it is told", || {
        server.errors().contains("not a file that this server made")
    });
}
