//! Many requests at once, clients that vanish, memory.

use super::server::{Reply, Server, read_reply, request, sample, synthetic};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};
use test_support::patience;

/// As many as a busy page and a few more of them ask at once.
const AT_ONCE: usize = 200;

/// Sends a request for each target, then reads the answers.
fn all_at_once(server: &Server, targets: &[String]) -> Vec<Reply> {
    let cookie = [("Cookie", server.cookie.as_str())];
    let mut streams: Vec<TcpStream> = targets.iter().map(|_| server.connect()).collect();
    for (stream, target) in streams.iter_mut().zip(targets) {
        let text = request("GET", target, &cookie, "");
        stream.write_all(text.as_bytes()).unwrap();
    }
    streams.iter_mut().map(read_reply).collect()
}

#[test]
fn two_hundred_requests_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let trace = synthetic(folder.path(), 20_000);
    let server = Server::start(&[trace.to_str().unwrap(), &sample(), "-q"]);
    let targets: Vec<String> = (0..AT_ONCE)
        .map(|n| match n % 4 {
            0 => "/t/0/picture?w=400".to_owned(),
            1 => "/t/1/meta".to_owned(),
            2 => "/t/0/timelines".to_owned(),
            _ => format!("/t/0/picture?w={}", 300 + n),
        })
        .collect();
    let replies = all_at_once(&server, &targets);
    for (target, reply) in targets.iter().zip(&replies) {
        assert_eq!(reply.status, 200, "{target}: {}", reply.text());
        let alone = server.get(&target[1..]);
        assert_eq!(alone.body, reply.body, "{target}");
    }
}

#[test]
fn a_connection_serves_one_request_after_the_other() {
    let server = Server::start(&[&sample(), "-q"]);
    let mut stream = server.connect();
    let one = format!(
        "GET /t/0/meta HTTP/1.1\r\nHost: localhost\r\nCookie: {}\r\n\r\n",
        server.cookie
    );
    let last = request("GET", "/t/0/meta", &[("Cookie", &server.cookie)], "");
    stream
        .write_all(format!("{one}{one}{last}").as_bytes())
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 3);
}

#[test]
fn for_clients_that_vanish_nothing_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let trace = synthetic(folder.path(), 400_000);
    let server = Server::start(&[trace.to_str().unwrap(), "-q"]);
    let cookie = [("Cookie", server.cookie.as_str())];
    let target = |n: usize| format!("/t/0/picture?w={}&arrows=none", 800 + n);
    let begun = Instant::now();
    let before = server.ticks();
    assert_eq!(server.get(&target(0)[1..]).status, 200);
    let one = (server.ticks() - before).max(1);
    for n in 1..400 {
        let mut stream = server.connect();
        let text = request("GET", &target(n), &cookie, "");
        stream.write_all(text.as_bytes()).unwrap();
        // Some close, some are gone in the middle of a request.
        match n % 3 {
            0 => drop(stream.shutdown(Shutdown::Both)),
            1 => drop(
                server
                    .connect()
                    .write_all(&text.as_bytes()[..text.len() / 2]),
            ),
            _ => drop(stream),
        }
    }
    // It is there for others, and does not go on working.
    assert_eq!(server.get("t/0/meta").status, 200);
    let mut last = server.ticks();
    while begun.elapsed() < patience() {
        std::thread::sleep(Duration::from_millis(500));
        let now = server.ticks();
        if now == last {
            break;
        }
        last = now;
    }
    let used = server.ticks() - before;
    assert!(
        used < 200 * one,
        "{used} ticks for 400 clients, one picture takes {one}"
    );
}

#[test]
fn nonsense_on_a_connection_ends_that_connection() {
    let server = Server::start(&[&sample(), "-q"]);
    let long = format!(
        "GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "a".repeat(200_000)
    );
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
        long.as_bytes(),
    ] {
        let mut stream = server.connect();
        // It may close before it has read everything.
        drop(stream.write_all(bytes));
        drop(stream.shutdown(Shutdown::Write));
        let mut reply = Vec::new();
        drop(stream.read_to_end(&mut reply));
        assert!(
            !reply.starts_with(b"HTTP/1.1 200"),
            "{}",
            String::from_utf8_lossy(&reply)
        );
    }
    assert_eq!(server.get("t/0/meta").status, 200);
}

/// Beyond what is mapped, which the kernel takes back when it needs it.
#[test]
fn memory_has_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    let trace = synthetic(folder.path(), 20_000);
    let server = Server::start(&[trace.to_str().unwrap(), "-q"]);
    // As large as pictures may be: each takes a hundred megabytes while it is made, and twenty until it is sent.
    let targets: Vec<String> = (0..12)
        .map(|n| format!("/t/0/picture?w={}&max=0", 900_000 + n))
        .collect();
    for reply in all_at_once(&server, &targets) {
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert!(reply.body.len() > 20 << 20);
    }
    let own = server.memory("VmHWM") - server.memory("RssFile");
    assert!(own < 512 << 10, "{own} kB");
    // A question that is too large is refused before memory is taken for it.
    for target in [
        "t/0/picture?w=4000000000",
        "t/0/picture?w=100000000&y0=0&y1=4000000000",
    ] {
        let status = server.get(target).status;
        assert!(status == 400 || status == 413, "{target}: {status}");
    }
}

/// Connections that send nothing, or nothing that shows that they may ask, are closed soon; one that may stays.
#[test]
fn connections_without_the_token_are_short_lived() {
    let server = Server::start(&[&sample(), "-q"]);
    let mut known = server.connect();
    let ask = format!(
        "GET /t/0/meta HTTP/1.1\r\nHost: localhost\r\nCookie: {}\r\n\r\n",
        server.cookie
    );
    known.write_all(ask.as_bytes()).unwrap();
    let (mut silent, mut stranger) = (server.connect(), server.connect());
    stranger
        .write_all(b"GET /t/0/meta HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    // Reading gives up after `patience`.
    let mut nothing = Vec::new();
    silent.read_to_end(&mut nothing).unwrap();
    assert!(nothing.is_empty());
    let mut refused = String::new();
    stranger.read_to_string(&mut refused).unwrap();
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    known
        .write_all(request("GET", "/t/0/meta", &[("Cookie", &server.cookie)], "").as_bytes())
        .unwrap();
    let mut text = String::new();
    known.read_to_string(&mut text).unwrap();
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 2, "{text}");
}
