//! Hosts made of Linux namespaces, for runs over several hosts on one machine. Each has its own network, name, processes, /tmp,
//! shared memory, boot id and monotonic clock. All other folders are shared, as on a cluster. The launcher runs on a host of its own,
//! `head`, and starts its helpers on the others by a script in place of ssh.

use crate::process::{self, FinishedCommand, TestFolder};
use crate::trace::LIMIT;
use crate::{Mpi, target};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const HEAD: &str = include_str!("head.sh");
const NODE: &str = include_str!("node.sh");
const AGENT: &str = include_str!("agent.sh");

/// Options of nsenter for what the host of the launcher has of its own.
const OF_HEAD: [&str; 3] = ["-n", "-u", "-m"];

/// A host for ranks.
struct Node {
    name: String,
    /// Made by `unshare`, which takes the host with it when it is killed.
    keeper: Child,
    /// The host's first process, as seen from outside.
    process: u32,
}

/// Hosts `node1`, `node2` … and `head`. They end with this value.
pub struct Hosts {
    folder: PathBuf,
    head: Child,
    nodes: Vec<Node>,
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            node.end();
        }
        let _ = self.head.kill();
        let _ = self.head.wait();
    }
}

impl Node {
    fn end(&mut self) {
        // A namespace of processes ends with its first one.
        let _ = Command::new("kill")
            .args(["-KILL", &self.process.to_string()])
            .stderr(Stdio::null())
            .status();
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}

impl Hosts {
    /// Makes a host for each number: by so many seconds its monotonic clock is ahead. `None`, and a line that says why, where that is not
    /// possible. Files of the hosts are in `folder`.
    pub fn new(folder: &TestFolder, ahead: &[u64]) -> Option<Hosts> {
        if target().starts_with("/tmp") {
            crate::skip(
                "hosts of namespaces have a /tmp of their own, and what they are to run is there",
            );
            return None;
        }
        match Hosts::make(&folder.path().join("hosts"), ahead) {
            Ok(hosts) => Some(hosts),
            Err(why) => {
                crate::skip(&format!("no hosts of namespaces: {why}"));
                None
            }
        }
    }

    fn make(folder: &Path, ahead: &[u64]) -> Result<Hosts, String> {
        fs::create_dir_all(folder).expect("own folder");
        let mut names = "127.0.0.1 localhost\n10.77.0.254 head\n".to_owned();
        for n in 1..=ahead.len() {
            names += &format!("10.77.0.{n} node{n}\n");
        }
        fs::write(folder.join("hosts"), names).expect("own folder");
        for (name, text) in [("head.sh", HEAD), ("node.sh", NODE), ("agent.sh", AGENT)] {
            let path = folder.join(name);
            fs::write(&path, text).expect("own folder");
            fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("own file");
        }
        let mut head = Command::new("unshare");
        head.args(OF_HEAD).arg(folder.join("head.sh")).arg(folder);
        let mut hosts = Hosts {
            folder: folder.to_owned(),
            head: ready(&mut head)?,
            nodes: Vec::new(),
        };
        for (n, ahead) in (1..).zip(ahead) {
            hosts.add(n, *ahead)?;
        }
        Ok(hosts)
    }

    fn add(&mut self, n: usize, ahead: u64) -> Result<(), String> {
        let name = format!("node{n}");
        let tmp = self.folder.join(format!("{name}.tmp"));
        fs::create_dir_all(&tmp).expect("own folder");
        let ahead = ahead.to_string();
        let mut keeper = self.on_head("unshare");
        keeper
            .args(["-n", "-u", "-i", "-m", "-p", "-T"])
            .args(["--monotonic", &ahead, "--boottime", &ahead])
            .args(["--fork", "--kill-child", "--mount-proc"])
            .arg(self.folder.join("node.sh"))
            .arg(&name)
            .arg(tmp);
        let keeper = ready(&mut keeper)?;
        let process = process::descendants(keeper.id()).get(1).copied();
        let mut node = Node {
            name,
            keeper,
            process: process.unwrap_or_default(),
        };
        let (name, process) = (&node.name, node.process);
        fs::write(
            self.folder.join(format!("{name}.pid")),
            format!("{process}\n"),
        )
        .expect("own folder");
        let link = format!(
            "ip link add {name} type veth peer name eth0 netns {process}
             ip link set {name} master switch up
             nsenter -t {process} -n ip addr add 10.77.0.{n}/24 dev eth0
             nsenter -t {process} -n ip link set eth0 up"
        );
        let linked = succeeded(self.on_head("sh").args(["-ec", &link]));
        if linked.is_err() {
            node.end();
        }
        linked.map(|()| self.nodes.push(node))
    }

    /// A command in the network, under the name and with the folders of the launcher's host.
    fn on_head(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        let process = self.head.id().to_string();
        command.args(["-t", &process]).args(OF_HEAD).arg(program);
        command
    }

    /// The launcher with so many ranks on each host, working in `folder`, to which the program is to be appended.
    pub fn mpiexec(&self, mpi: Mpi, per_host: &[usize], folder: &Path) -> Command {
        assert_eq!(per_host.len(), self.nodes.len(), "hosts");
        let launcher = mpi.mpiexec(per_host.iter().sum());
        let mut command = self.on_head("sh");
        mpi.environment(&mut command);
        command.args(["-c", "cd \"$0\" && exec \"$@\""]).arg(folder);
        command.arg(launcher.get_program());
        let agent = self.folder.join("agent.sh");
        let hosts = self.nodes.iter().zip(per_host);
        let names = hosts.map(|(node, ranks)| format!("{}:{ranks}", node.name));
        let names = names.collect::<Vec<_>>().join(",");
        if mpi.is_mpich() {
            command.args(["-launcher", "ssh", "-launcher-exec"]);
            command.arg(agent).args(["-hosts", &names]);
        } else {
            command.args(["--mca", "plm_rsh_agent"]).arg(agent);
            // Hosts that are not full by themselves share the processors of this machine.
            command.args(["--mca", "mpi_yield_when_idle", "1"]);
            command.args(["--host", &names]);
        }
        command.args(launcher.get_args());
        command
    }

    /// Runs a command on a host; the number begins with 1.
    pub fn run_on(&self, n: usize, script: &str) -> FinishedCommand {
        let mut command = Command::new("nsenter");
        let process = self.nodes[n - 1].process.to_string();
        command.args(["-t", &process, "-a", "sh", "-ec", script]);
        process::run(&mut command, LIMIT)
    }

    /// What is the /tmp of a host there, as seen from outside.
    pub fn tmp(&self, n: usize) -> PathBuf {
        self.folder.join(format!("node{n}.tmp"))
    }

    /// Takes the cable of a host out.
    pub fn cut_off(&self, n: usize) {
        let name = &self.nodes[n - 1].name;
        let mut command = self.on_head("ip");
        succeeded(command.args(["link", "set", name, "down"])).expect("a link that was up");
    }

    /// Makes what goes to a host slow: so many Mbit a second.
    pub fn slow_down(&self, n: usize, mbits: u32) {
        let name = &self.nodes[n - 1].name;
        let rate = format!("{mbits}mbit");
        let mut command = self.on_head("tc");
        command.args(["qdisc", "add", "dev", name, "root", "tbf"]);
        command.args(["rate", &rate, "burst", "64k", "latency", "200ms"]);
        succeeded(&mut command).expect("a queue for a link");
    }

    /// Ends a host and everything on it, as without power.
    pub fn power_off(&mut self, n: usize) {
        self.nodes[n - 1].end();
    }
}

/// Starts what makes a host, and waits until it is there.
fn ready(command: &mut Command) -> Result<Child, String> {
    let text = format!("{command:?}");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{text}: {e}"))?;
    let mut line = String::new();
    let stdout = child.stdout.take().expect("piped above");
    let read = BufReader::new(stdout).read_line(&mut line);
    if read.is_ok() && line == "ready\n" {
        return Ok(child);
    }
    let _ = child.kill();
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}

fn succeeded(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|e| format!("{command:?}: {e}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}
