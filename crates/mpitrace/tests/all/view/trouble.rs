//! Traces that are shortened or replaced while they are open, damaged ones, and names that are not what names should be.

use super::server::{Server, command, data, sample, synthetic};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

#[test]
fn a_trace_that_is_shortened_while_it_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = synthetic(folder.path(), 100_000);
    let server = Server::start(&[path.to_str().unwrap(), &sample(), "-q"]);
    assert_eq!(server.get("t/0/picture?w=500").status, 200);
    let file = File::options().write(true).open(&path).unwrap();
    for length in [fs::metadata(&path).unwrap().len() / 2, 5000, 0] {
        file.set_len(length).unwrap();
        for question in ["picture?w=700", "meta", "timelines", "export.svg"] {
            let reply = server.get(&format!("t/0/{question}"));
            assert_eq!(reply.status, 410, "{question}: {}", reply.text());
            let text = reply.text();
            let name = path.display().to_string();
            assert!(
                text.contains(&name) && text.contains("while it was open"),
                "{text}"
            );
        }
    }
    // The other one has nothing to do with it.
    assert_eq!(server.get("t/1/picture?w=500").status, 200);
}

/// Shortened while it is read: most of the file goes just as pictures are being made of all of it.
#[test]
fn a_trace_that_is_shortened_while_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = synthetic(folder.path(), 400_000);
    let server = Server::start(&[path.to_str().unwrap(), "-q"]);
    let is_short = AtomicBool::new(false);
    let (answered, answers) = mpsc::channel();
    let (server, is_short) = (&server, &is_short);
    std::thread::scope(|scope| {
        // With the sender: nobody waits for an answer after it has failed.
        let asking = scope.spawn(move || {
            let mut statuses = Vec::new();
            let mut left = 20;
            while left > 0 {
                // Questions from here on are about the short file.
                left -= usize::from(is_short.load(Ordering::SeqCst));
                let width = 1000 + statuses.len() % 3000;
                statuses.push(server.get(&format!("t/0/picture?w={width}")).status);
                let _ = answered.send(());
            }
            statuses
        });
        answers.recv().unwrap();
        answers.recv().unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(8192).unwrap();
        is_short.store(true, Ordering::SeqCst);
        let statuses = asking.join().unwrap();
        assert!(
            statuses.iter().all(|status| [200, 410].contains(status)),
            "{statuses:?}"
        );
        assert_eq!(statuses.last(), Some(&410));
    });
}

#[test]
fn a_trace_that_is_replaced_or_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.slog2");
    fs::copy(sample(), &path).unwrap();
    let server = Server::start(&[path.to_str().unwrap(), "-q"]);
    assert_eq!(server.get("t/0/meta").status, 200);
    // One that was removed is still there for those who have it open.
    let other = folder.path().join("b.slog2");
    fs::copy(sample(), &other).unwrap();
    fs::rename(&path, folder.path().join("c.slog2")).unwrap();
    assert_eq!(server.get("t/0/meta").status, 200);
    fs::rename(&other, &path).unwrap();
    let reply = server.get("t/0/meta");
    assert_eq!(reply.status, 410);
    assert!(
        reply.text().contains("was replaced by another file"),
        "{}",
        reply.text()
    );

    let server = Server::start(&[path.to_str().unwrap(), "-q"]);
    let mut file = File::options().append(true).open(&path).unwrap();
    file.write_all(b"more").unwrap();
    let reply = server.get("t/0/picture?w=100");
    assert_eq!(reply.status, 410);
    assert!(
        reply.text().contains("was changed while it was open"),
        "{}",
        reply.text()
    );
}

/// What a file holds after it was written anew has another number. Pages that show what was there before are not answered about it.
#[test]
fn a_trace_that_was_replaced_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = synthetic(folder.path(), 5000);
    let server = Server::start(&[path.to_str().unwrap(), &sample(), "-q"]);
    let reopen = |number: usize| server.post(&format!("t/{number}/reopen"));
    let names = || {
        let answer = server.get("traces").json();
        let traces = answer["traces"].as_array().unwrap().clone();
        traces
            .iter()
            .map(|trace| trace["n"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    // Nothing has happened, so nothing is opened.
    assert_eq!(reopen(0).json()["n"], 0);
    assert_eq!(server.get("t/0/reopen").status, 405);
    assert_eq!(reopen(7).status, 404);
    assert_eq!(names(), [0, 1]);

    // One that is being written; as often as somebody tries.
    let whole = fs::read(sample()).unwrap();
    let other = folder.path().join("b.slog2");
    fs::write(&other, &whole[..whole.len() / 2]).unwrap();
    fs::rename(&other, &path).unwrap();
    for _ in 0..100 {
        let refused = reopen(0);
        assert_eq!(refused.status, 409, "{}", refused.text());
        assert!(refused.text().contains(&path.display().to_string()));
    }
    fs::write(&path, "no trace").unwrap();
    assert!(reopen(0).text().contains(&path.display().to_string()));

    fs::write(&other, &whole).unwrap();
    fs::rename(&other, &path).unwrap();
    let found = reopen(0).json();
    assert_eq!(
        (&found["n"], &found["name"]),
        (&2.into(), &"synthetic.slog2".into())
    );
    assert_eq!(
        server.get("t/2/timelines").body,
        server.get("t/1/timelines").body
    );
    assert_eq!(
        server.get("t/2/picture?w=300").body,
        server.get("t/1/picture?w=300").body
    );
    assert_eq!(server.get("t/0/meta").status, 410);
    assert_eq!(names(), [1, 2]);
    // Another page that still shows the first one gets the same; so does one after it was replaced again.
    assert_eq!(reopen(0).json()["n"], 2);
    fs::write(&other, &whole).unwrap();
    fs::rename(&other, &path).unwrap();
    assert_eq!(reopen(0).json()["n"], 3);
    assert_eq!(
        (reopen(2).json()["n"].as_u64(), names()),
        (Some(3), vec![1, 3])
    );
    // One of another format now, which is converted; and that one is replaced as well.
    let small = fs::read(data("clog2/small.clog2")).unwrap();
    fs::write(&path, &small).unwrap();
    assert_eq!(reopen(0).json()["n"], 4);
    let kinds = || server.get("t/4/meta").json()["categories"].clone();
    let names_of_kinds = kinds();
    assert!(
        names_of_kinds.to_string().contains("MPE_Comm_init"),
        "{names_of_kinds}"
    );
    fs::write(&other, &small).unwrap();
    fs::rename(&other, &path).unwrap();
    let refused = server.get("t/4/meta");
    assert_eq!(refused.status, 410);
    assert!(
        refused.text().contains("was replaced by another file"),
        "{}",
        refused.text()
    );
    assert_eq!(reopen(4).json()["n"], 5);
    assert_eq!(server.get("t/5/meta").status, 200);
    // What was removed can be looked at until the end.
    fs::remove_file(&path).unwrap();
    assert_eq!(server.get("t/5/meta").status, 200);
    assert_eq!(reopen(0).json()["n"], 5);
}

#[test]
fn damaged_traces_are_refused_or_shown_as_far_as_they_go() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.slog2");
    let file = fs::read(sample()).unwrap();
    for part in [1, 5, 9, 13] {
        fs::write(&path, &file[..file.len() * part / 16]).unwrap();
        let mut command = command(&[path.to_str().unwrap(), "-q"]);
        let output = command.stderr(Stdio::piped()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("cut.slog2"), "{text}");
    }
    // Bytes of the tree that are not what they were: a refusal or an answer, and the next question is answered.
    let middle = file.len() / 4;
    for seed in 0..8_usize {
        let mut damaged = file.clone();
        for n in 0..64 {
            let at = middle + (seed * 7919 + n * 104_729) % (file.len() / 2);
            damaged[at] = (seed * 31 + n * 17) as u8;
        }
        fs::write(&path, &damaged).unwrap();
        let mut command = command(&[path.to_str().unwrap(), "-q"]);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Either it ends without an address, or it shows what there is.
        let mut address = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut address).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        if address.is_empty() {
            continue;
        }
        let server = Server::start(&[path.to_str().unwrap(), "-q"]);
        for question in ["meta", "timelines", "picture?w=300", "export.svg?w=800"] {
            let reply = server.get(&format!("t/0/{question}"));
            assert!(
                [200, 400, 413, 500].contains(&reply.status),
                "{question}: {}",
                reply.status
            );
            assert!(
                !reply.text().contains("which is an error in it"),
                "{question} panicked"
            );
        }
    }
}

/// Names that would be more than text if a page put them into itself as they are.
#[test]
fn names_stay_text() {
    let names = [
        "<script>alert(1)</script>".to_owned(),
        "\\\"]}; </style><img src=x onerror=alert(1)>".to_owned(),
        "x".repeat(10_000),
        "\u{1b}[31m\u{7}\u{202e}control".to_owned(),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("<b>name&amp;.trace");
    let mut text = String::from(
        "%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
         %EventDef PajeDefineStateType 1\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
         %EventDef PajeCreateContainer 2\n% Time date\n% Alias string\n% Type string\n% Container string\n% Name string\n%EndEventDef\n\
         %EventDef PajePushState 3\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef\n\
         %EventDef PajePopState 4\n% Time date\n% Type string\n% Container string\n%EndEventDef\n\
         0 P 0 Process\n1 S P State\n",
    );
    for (n, name) in names.iter().enumerate() {
        let quoted = name.replace('"', "'");
        text.push_str(&format!("2 0.0 c{n} P 0 \"{quoted}\"\n"));
        text.push_str(&format!("3 {n}.0 S c{n} \"{quoted}\"\n4 {n}.5 S c{n}\n"));
    }
    fs::write(&path, text).unwrap();
    let server = Server::start(&[path.to_str().unwrap(), "-q"]);
    let meta = server.get("t/0/meta");
    assert_eq!(meta.header("content-type"), "application/json");
    let categories = meta.json()["categories"].as_array().unwrap().clone();
    let known: Vec<&str> = categories
        .iter()
        .map(|c| c["name"].as_str().unwrap())
        .collect();
    assert!(known.contains(&"<script>alert(1)</script>"), "{known:?}");
    assert!(
        known.iter().any(|name| name.contains("onerror=alert(1)>")),
        "{known:?}"
    );
    assert!(
        known.iter().all(|name| !name.contains(['\u{1b}', '\u{7}'])),
        "{known:?}"
    );
    assert_eq!(
        server.get("traces").json()["traces"][0]["name"],
        "<b>name&amp;.trace"
    );
    let labels = server.get("t/0/timelines").json();
    assert!(labels["label"].as_array().unwrap().len() >= 4, "{labels}");
    let svg = server.get("t/0/export.svg");
    assert_eq!(svg.header("content-type"), "image/svg+xml");
    let saved = "attachment; filename=\"_b_name_amp_.trace.svg\"";
    assert_eq!(svg.header("content-disposition"), saved);
    assert!(!svg.text().contains("<script") && !svg.text().contains("<img"));
    let page = server.get("t/0/export.html");
    if page.status != 200 {
        test_support::skip(
            "exported pages: mpitrace was built without viewer/dist/view.wasm (ci/build-wasm)",
        );
        return;
    }
    let text = page.text();
    assert!(
        text.contains("data-name=\"&lt;b&gt;name&amp;amp;.trace\"") && !text.contains("<b>name")
    );
    assert!(
        !text.contains("<img src=x"),
        "what is in the trace is base64"
    );
}
