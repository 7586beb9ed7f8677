//! A running `mpitrace view`, and a client that sends what it is told, byte by byte if need be.

use rustix::process::{Pid, Signal, kill_process};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use test_support::patience;

/// A server; ended when this is dropped.
pub struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// Address that it has printed: `http://127.0.0.1:PORT/#k=TOKEN`.
    pub address: String,
    pub port: u16,
    pub base: String,
    pub token: String,
    /// Name and value, once somebody has logged in.
    pub cookie: String,
}

/// An answer of the server.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> serde_json::Value {
        assert_eq!(self.status, 200, "{}", self.text());
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// The command without anything in the environment that changes what it does.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command.arg("view").args(arguments);
    for name in [
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "SSH_CONNECTION",
        "XDG_RUNTIME_DIR",
    ] {
        command.env_remove(name);
    }
    command
}

pub fn data(name: &str) -> String {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace-formats/tests/data");
    data.join(name).to_str().unwrap().to_owned()
}

pub fn sample() -> String {
    data("slog2/sample.slog2")
}

/// A trace of that many drawables, 16 ranks.
pub fn synthetic(folder: &Path, drawables: u64) -> PathBuf {
    let path = folder.join("synthetic.slog2");
    let synth = Command::new(env!("CARGO_BIN_EXE_mpitrace"))
        .args(["synth", "--quiet", "--ranks", "16", "--drawables"])
        .arg(drawables.to_string())
        .arg(&path)
        .output()
        .unwrap();
    assert!(synth.status.success(), "{synth:?}");
    path
}

impl Server {
    /// Starts it, and logs in.
    pub fn start(arguments: &[&str]) -> Server {
        Server::of(&mut command(arguments))
    }

    /// The same with another environment.
    pub fn of(command: &mut Command) -> Server {
        let mut server = Server::unknown(command);
        server.log_in();
        server
    }

    /// Starts it without logging in.
    pub fn unknown(command: &mut Command) -> Server {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut address = String::new();
        stdout.read_line(&mut address).unwrap();
        let address = address.trim_end().to_owned();
        let (page, token) = address.split_once("#k=").unwrap_or((&address, ""));
        let (host, base) = page
            .strip_prefix("http://")
            .unwrap()
            .split_once('/')
            .unwrap();
        Server {
            child,
            stdout,
            port: host.split_once(':').unwrap().1.parse().unwrap(),
            base: format!("/{base}"),
            token: token.to_owned(),
            cookie: String::new(),
            address,
        }
    }

    fn log_in(&mut self) {
        let login = format!("{}login", self.base);
        let length = self.token.len().to_string();
        let reply = self.send("POST", &login, &[("Content-Length", &length)], &self.token);
        assert_eq!(reply.status, 204, "{}", reply.text());
        let cookie = reply.header("set-cookie").split(';').next().unwrap();
        self.cookie = cookie.to_owned();
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(patience())).unwrap();
        stream
    }

    /// A request with these headers and no others but Host, unless that is among them.
    pub fn send(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut stream = self.connect();
        stream
            .write_all(request(method, target, headers, body).as_bytes())
            .unwrap();
        read_reply(&mut stream)
    }

    /// A question of the page.
    pub fn get(&self, target: &str) -> Reply {
        let target = format!("{}{target}", self.base);
        self.send("GET", &target, &[("Cookie", &self.cookie)], "")
    }

    /// What the page wants to be done.
    pub fn post(&self, target: &str) -> Reply {
        let target = format!("{}{target}", self.base);
        self.send("POST", &target, &[("Cookie", &self.cookie)], "")
    }

    /// A line of /proc/PID/status, in kB.
    pub fn memory(&self, what: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(what))
            .unwrap();
        let number = line.trim_start_matches(':').trim().trim_end_matches(" kB");
        number.parse().unwrap()
    }

    /// Processor time that it has used, in clock ticks (100 a second).
    pub fn ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        fields
            .skip(11)
            .take(2)
            .map(|field| field.parse::<u64>().unwrap())
            .sum()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.pid() as i32).unwrap(), signal).unwrap();
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for the end. Gives the exit code and what else it has printed.
    pub fn wait(&mut self) -> (ExitStatus, String) {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (wait(&mut self.child), rest)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for a process, but not forever.
pub fn wait(child: &mut Child) -> ExitStatus {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(begun.elapsed() < patience(), "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn request(method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut text = format!("{method} {target} HTTP/1.1\r\n");
    let is_named = |(name, _): &(&str, &str)| name.eq_ignore_ascii_case("host");
    if !headers.iter().any(is_named) {
        text.push_str("Host: localhost\r\n");
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    format!("{text}Connection: close\r\n\r\n{body}")
}

/// Reads until the server closes the connection.
pub fn read_reply(stream: &mut impl Read) -> Reply {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no head in {:?}", String::from_utf8_lossy(&bytes)));
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    let headers = lines.map(|line| line.split_once(": ").unwrap());
    let headers: HashMap<String, String> = headers
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let body = bytes[end + 4..].to_vec();
    Reply {
        status: status.parse().unwrap(),
        headers,
        body,
    }
}
