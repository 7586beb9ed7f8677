//! Ends of all kinds: nothing hangs, nothing stays behind, and the traces are complete.

use super::instance::{Instance, has_ended, mpitrace, read, unmount_when_idle, until};
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use test_support::limit_here;

fn signal(pid: i32, signal: i32) {
    // SAFETY: the process was started by this test.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0, "{pid}");
}

/// Processes that `pid` has started.
fn children(pid: i32) -> Vec<i32> {
    let mut all = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task")).unwrap() {
        let text = fs::read_to_string(task.unwrap().path().join("children")).unwrap();
        all.extend(text.split_whitespace().map(|n| n.parse::<i32>().unwrap()));
    }
    all.sort_unstable();
    all
}

/// Whether the trace says that the process has ended as it should.
fn is_complete(path: &std::path::Path) -> bool {
    let bytes = fs::read(path).unwrap();
    blockfile::file::BlockFile::new(&bytes)
        .unwrap()
        .info()
        .ended
        == 1
}

pub fn killed_client() {
    let Some(instance) = Instance::start("client", &["--servers", "2"]) else {
        return;
    };
    let file = instance.mount().join("file");
    for _ in 0..5 {
        let mut client = Command::new("dd")
            .args(["if=/dev/zero", "bs=1M", "count=100000", "conv=notrunc"])
            .arg(format!("of={}", file.display()))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until("it writes", || {
            fs::metadata(&file).is_ok_and(|m| m.len() > 0)
        });
        std::thread::sleep(Duration::from_millis(20));
        client.kill().unwrap();
        client.wait().unwrap();
        fs::remove_file(&file).unwrap();
    }
    fs::write(&file, "still there").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "still there");
    // Nobody has it open: it can be unmounted.
    instance.unmount();
    assert!(is_complete(&instance.trace()));
    let left = |number| fs::read_dir(instance.base().join(format!("data.{number}"))).unwrap();
    assert_eq!(
        left(0).count() + left(1).count(),
        1,
        "objects of removed files"
    );
}

pub fn killed_data_server() {
    let Some(instance) = Instance::start("data", &["--servers", "3", "--stripe", "1K"]) else {
        return;
    };
    let path = instance.mount().join("file");
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)
        .unwrap();
    let data = vec![7; 10_000];
    file.write_all_at(&data, 0).unwrap();
    let servers = children(instance.pid());
    assert_eq!(servers.len(), 3);
    signal(servers[1], libc::SIGKILL);
    let begun = Instant::now();
    // Nobody waits for an answer that cannot come: a server has 60 s for one.
    let errno = |e: std::io::Error| e.raw_os_error().unwrap();
    assert_eq!(errno(file.write_at(&data, 10_000).unwrap_err()), libc::EIO);
    assert_eq!(
        errno(file.read_at(&mut [0; 3000], 0).unwrap_err()),
        libc::EIO
    );
    assert_eq!(errno(file.sync_all().unwrap_err()), libc::EIO);
    // Data of the other servers can still be read.
    assert_eq!(file.read_at(&mut [0; 1000], 0).unwrap(), 1000);
    assert_eq!(file.metadata().unwrap().len(), 10_000);
    let fresh = File::create(instance.mount().join("new"));
    assert_eq!(errno(fresh.unwrap_err()), libc::EIO);
    assert!(!instance.base().join("names/new").exists());
    fs::remove_file(&path).unwrap();
    drop(file);
    assert!(begun.elapsed() < limit_here(Duration::from_secs(60)));
    instance.unmount();
    assert!(is_complete(&instance.trace()) && is_complete(&instance.data_trace(0)));
    assert!(!is_complete(&instance.data_trace(1)));
    let (operations, _) = read(&instance.data_trace(1));
    assert!(operations.len() > 3);
}

pub fn killed_server() {
    let Some(instance) = Instance::start("server", &["--servers", "2"]) else {
        return;
    };
    fs::write(instance.mount().join("file"), "abc").unwrap();
    let servers = children(instance.pid());
    signal(instance.pid(), libc::SIGKILL);
    for (number, pid) in (0..).zip(servers) {
        until("data servers end", || has_ended(pid));
        assert!(is_complete(&instance.data_trace(number)));
    }
    let (operations, _) = read(&instance.trace());
    assert!(operations.len() > 3);
    // The place is told apart from one that is free, and can be had again.
    let refused = instance.command(&["--no-trace"][..0]).output().unwrap();
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(
        !refused.status.success() && why.contains("server has died"),
        "{why}"
    );
    unmount_when_idle(&instance.mount());
    drop(fs::remove_file(instance.reported("TRACE_TIDS")));
}

pub fn ended_by_signals() {
    for number in [libc::SIGTERM, libc::SIGINT] {
        let Some(instance) = Instance::start("signal", &["--servers", "2"]) else {
            return;
        };
        fs::write(instance.mount().join("file"), "abc").unwrap();
        signal(instance.pid(), number);
        instance.wait();
        assert!(!instance.is_mounted());
        assert!(is_complete(&instance.trace()) && is_complete(&instance.data_trace(1)));
        assert!(!fs::exists(instance.reported("TRACE_TIDS")).unwrap());
    }
}

pub fn ended_while_in_use() {
    let Some(instance) = Instance::start("use", &[]) else {
        return;
    };
    let mut file = File::create(instance.mount().join("file")).unwrap();
    file.write_all(b"abc").unwrap();
    let busy = Command::new("umount")
        .arg(instance.mount())
        .output()
        .unwrap();
    assert!(!busy.status.success());
    file.write_all(b"def").unwrap();
    signal(instance.pid(), libc::SIGTERM);
    until("it is detached", || !instance.is_mounted());
    // Who has it open is served for a while.
    file.write_all(b"ghi").unwrap();
    instance.wait();
    let gone = file.write_all(b"jkl").unwrap_err().raw_os_error().unwrap();
    assert!(
        gone == libc::ENOTCONN || gone == libc::ECONNABORTED,
        "{gone}"
    );
    assert!(is_complete(&instance.trace()));
    assert_eq!(
        fs::read(instance.base().join("file")).unwrap(),
        b"abcdefghi"
    );
}

pub fn refused() {
    let Some(instance) = Instance::start("refused", &[]) else {
        return;
    };
    let fails = |base: &std::path::Path, mount: &std::path::Path, options: &[&str], why: &str| {
        let mut command = mpitrace();
        command.args(["ioserver", "--no-trace"]).args(options);
        let output = command.arg(base).arg(mount).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(why), "{text}");
    };
    let (base, mount, plain) = (instance.base(), instance.mount(), instance.plain());
    fails(&base, &mount, &[], "mounted here already");
    fails(&base, &plain.join("none"), &[], "No such file");
    fs::write(plain.join("file"), "").unwrap();
    fails(&base, &plain, &[], "not empty");
    fails(&base, &plain.join("file"), &[], "no directory");
    fs::create_dir(base.join("inner")).unwrap();
    fails(&base, &base.join("inner"), &[], "inside");
    let empty = plain.join("empty");
    fs::create_dir(&empty).unwrap();
    fails(&plain, &mount, &["--servers", "2"], "mounted here already");
    let other = instance.plain().with_file_name("other");
    fs::create_dir(&other).unwrap();
    fails(
        &plain,
        &other,
        &["--servers", "2"],
        "neither empty nor made by",
    );
    fs::remove_file(plain.join("file")).unwrap();
    fs::remove_dir(&empty).unwrap();
    fs::write(plain.join("stripe"), "servers 3\nstripe 65536\n").unwrap();
    fails(
        &plain,
        &other,
        &["--servers", "2"],
        "servers 3, stripe 65536",
    );
    instance.unmount();
}

/// Data servers that were started before, as on other hosts; the front end comes and goes.
pub fn data_servers_of_their_own() {
    let Some(instance) = Instance::start("own", &[]) else {
        return;
    };
    instance.unmount();
    let mut servers = Vec::new();
    let mut addresses = Vec::new();
    for number in 0..2 {
        let store = instance.plain().join(number.to_string());
        fs::create_dir(&store).unwrap();
        let mut child = mpitrace()
            .args(["dataserver", "--listen", "tcp:127.0.0.1:0", "--number"])
            .arg(number.to_string())
            .arg("--trace")
            .arg(instance.plain().join(format!("{number}.blocks")))
            .arg(&store)
            .env("XDG_CONFIG_HOME", instance.plain().join("config"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        addresses.push(line.trim().strip_prefix("listening ").unwrap().to_owned());
        servers.push(child);
    }
    let data: Vec<u8> = (0..1_000_000u32).map(|i| (i / 7) as u8).collect();
    for round in 0..2 {
        let trace = instance.plain().join(format!("front{round}.blocks"));
        let mut front = mpitrace();
        front.args(["ioserver", "--background", "--data-server", &addresses[0]]);
        front
            .args(["--data-server", &addresses[1], "--trace"])
            .arg(&trace);
        let front = front
            .arg(instance.base())
            .arg(instance.mount())
            .env("XDG_CONFIG_HOME", instance.plain().join("config"))
            .output()
            .unwrap();
        assert!(front.status.success(), "{front:?}");
        let file = instance.mount().join("file");
        match round {
            0 => fs::write(&file, &data).unwrap(),
            _ => assert!(fs::read(&file).unwrap() == data),
        }
        unmount_when_idle(&instance.mount());
        until("the trace is complete", || is_complete(&trace));
    }
    let swapped = mpitrace()
        .args(["ioserver", "--background", "--no-trace"])
        .args([
            "--data-server",
            &addresses[1],
            "--data-server",
            &addresses[0],
        ])
        .arg(instance.base())
        .arg(instance.mount())
        .env("XDG_CONFIG_HOME", instance.plain().join("config"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&swapped.stderr);
    assert!(
        !swapped.status.success() && said.contains("this is number 1, expected number 0"),
        "{said}"
    );
    for (number, mut child) in servers.into_iter().enumerate() {
        signal(child.id() as i32, libc::SIGTERM);
        assert!(child.wait().unwrap().success());
        assert!(is_complete(
            &instance.plain().join(format!("{number}.blocks"))
        ));
        let store = instance.plain().join(number.to_string());
        assert_eq!(fs::read_dir(store).unwrap().count(), 1);
    }
}
