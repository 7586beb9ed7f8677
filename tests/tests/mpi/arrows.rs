//! Arrows are true whatever filters leave out: `programs/arrows.c` writes down each message that it sends and receives, with the
//! calls at which a trace draws it, and the length of each tells which one it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use tests::trace::{LIMIT, TraceSetup, TracedRun};
use tests::{Mpi, Program, contents, process};
use trace_formats::clog2::{Clog2Body, Clog2Reader, msg_etype};

fn installed() -> impl Iterator<Item = Mpi> {
    Mpi::ALL.into_iter().filter(|mpi| mpi.installed())
}

/// Source, destination, tag, number in the channel.
type Message = [i64; 4];

/// A line of the program's.
struct Half {
    message: Message,
    is_send: bool,
    function: String,
    /// Of the call among those of its function on its rank.
    number: u64,
    on: bool,
}

/// Message endpoints that the program printed.
fn made(run: &TracedRun) -> Vec<Half> {
    let mut halves = Vec::new();
    for rank in 0..run.ranks {
        let path = run.folder.path().join(format!("messages.{rank}"));
        for line in fs::read_to_string(path).expect("the program's").lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |i: usize| words[i].parse::<i64>().expect(line);
            let is_send = words[0] == "sent";
            let (own, other) = (rank as i64, number(1));
            let (from, to) = if is_send { (own, other) } else { (other, own) };
            halves.push(Half {
                message: [from, to, number(2), number(3)],
                is_send,
                function: words[4].to_owned(),
                number: number(5) as u64,
                on: number(6) == 1,
            });
        }
    }
    halves
}

/// The arrows that there should be if these calls are recorded.
fn expected(run: &TracedRun, recorded: impl Fn(&Half) -> bool) -> BTreeSet<Message> {
    let halves = made(run);
    let side = |is_send: bool| -> BTreeSet<Message> {
        let of = halves.iter().filter(|h| h.is_send == is_send);
        of.filter(|h| recorded(h)).map(|h| h.message).collect()
    };
    side(true).intersection(&side(false)).copied().collect()
}

/// The arrows of a CLOG2 file, as every reader draws them: the n-th send of a channel to its n-th receive. No half is left
/// over, and both are of one message.
#[track_caller]
fn drawn(bytes: &[u8]) -> BTreeSet<Message> {
    let mut channels: BTreeMap<[i32; 3], [Vec<i32>; 2]> = BTreeMap::new();
    for record in Clog2Reader::new(bytes).expect("a CLOG2 file").records() {
        let record = record.expect("sound");
        if let Clog2Body::Msg(m) = record.body {
            let (own, is_send) = (record.header.rank, m.etype == msg_etype::SEND);
            let (from, to) = if is_send {
                (own, m.rank)
            } else {
                (m.rank, own)
            };
            let sides = channels.entry([from, to, m.tag]).or_default();
            sides[usize::from(!is_send)].push(m.size);
        }
    }
    let mut arrows = BTreeSet::new();
    for ([from, to, tag], [sends, receives]) in channels {
        assert_eq!(sends, receives, "from {from} to {to} with tag {tag}");
        let message = |size: i32| [from, to, tag, size - 8].map(i64::from);
        arrows.extend(sends.into_iter().map(message));
    }
    arrows
}

/// A run with these settings. Gives the arrows, and how many halves rank 0 says are not drawn.
#[track_caller]
fn run(
    mpi: Mpi,
    ranks: usize,
    settings: &str,
    arguments: &[&str],
) -> (TracedRun, BTreeSet<Message>) {
    let mut tracing = TraceSetup::new(mpi, ranks);
    let variables = [("TRACE_SETTINGS", settings)];
    tracing.variables = &variables;
    let run = tracing.run(&Program::c("arrows").compile(mpi), arguments);
    assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
    let arrows = drawn(&fs::read(run.file("clog2")).expect("a file"));
    let slog2 = contents::slog2(&run.file("slog2"));
    assert_eq!(slog2.arrows, arrows.len() as u64, "{settings}");
    (run, arrows)
}

/// Number of message endpoints that are not drawn, as rank 0 says.
fn printed(run: &TracedRun) -> usize {
    let mut lines = run.finished.stderr.lines();
    let Some(line) = lines.find(|l| l.contains(" message endpoint")) else {
        return 0;
    };
    assert!(lines.all(|l| !l.contains("not drawn")), "{line}");
    let digits: String = line.chars().filter(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

/// Exactly those arrows are drawn of which both calls are recorded, and what has no arrow is counted.
#[track_caller]
fn is_exact(
    run: &TracedRun,
    arrows: &BTreeSet<Message>,
    what: &str,
    recorded: impl Fn(&Half) -> bool,
) {
    let expected = expected(run, &recorded);
    assert!(expected.len() > 20, "{what}: {}", expected.len());
    let differ: Vec<_> = expected.symmetric_difference(arrows).take(5).collect();
    assert_eq!(expected.len(), arrows.len(), "{what}: {differ:?}");
    assert!(differ.is_empty(), "{what}: {differ:?}");
    let halves = made(run).iter().filter(|h| recorded(h)).count();
    assert_eq!(printed(run), halves - 2 * arrows.len(), "{what}");
}

#[test]
fn functions_left_out() {
    for mpi in installed() {
        for (ranks, left_out) in [
            (3, &["MPI_Isend"][..]),
            (2, &["MPI_Send", "MPI_Waitall", "MPI_Irecv"]),
            (4, &["MPI_Start", "MPI_Mprobe", "MPI_Recv_init", "MPI_Wait"]),
            (3, &["MPI_Recv", "MPI_Mrecv", "MPI_Test"]),
        ] {
            let lines: Vec<_> = left_out.iter().map(|f| format!("{f} disable")).collect();
            let (run, arrows) = run(mpi, ranks, &lines.join(";"), &["20"]);
            is_exact(&run, &arrows, &lines.join(" "), |half| {
                !left_out.contains(&half.function.as_str())
            });
            for (rank, calls) in run.in_dumpi() {
                let shown = left_out.iter().find(|f| calls.contains_key(**f));
                assert_eq!(shown, None, "rank {rank}");
            }
        }
    }
}

#[test]
fn nothing_left_out() {
    for mpi in installed() {
        let (run, arrows) = run(mpi, 3, "MPI_Barrier disable", &["20"]);
        is_exact(&run, &arrows, "all", |_| true);
    }
}

/// All ranks write the files together, whose leaves are so small that messages cross leaves, windows and rounds.
#[test]
fn written_in_parallel() {
    for mpi in installed() {
        for (ranks, settings) in [
            (2, "merge parallel; outputs dumpi clog2 slog2; leaf 1K"),
            (3, "merge parallel; leaf 2K; children 3; clog2-block 1K"),
            (5, "merge parallel; leaf 4K; first-calls 60"),
        ] {
            let (run, arrows) = run(mpi, ranks, settings, &["30"]);
            let is_whole = !settings.contains("first-calls");
            is_exact(&run, &arrows, settings, |half| {
                is_whole || half.number <= 60
            });
            if is_whole {
                run.holds_calls(&run.made());
            }
            for extension in ["slog2", "clog2"] {
                let mut check = Command::new(tests::mpitrace());
                check.arg("check").arg(run.file(extension));
                process::run(&mut check, LIMIT).succeeded();
            }
        }
    }
}

#[test]
fn first_calls() {
    for mpi in installed() {
        let (run, arrows) = run(mpi, 3, "first-calls 50", &["30"]);
        is_exact(&run, &arrows, "first", |half| half.number <= 50);
    }
}

/// Each rank switches recording off and on in the midst of exchanges.
#[test]
fn switched_off_and_on() {
    for mpi in installed() {
        for (ranks, settings) in [(2, ""), (3, "MPI_Send disable"), (4, "first-calls 100000")] {
            let (run, arrows) = run(mpi, ranks, settings, &["30", "off"]);
            is_exact(&run, &arrows, settings, |half| {
                half.on && !(ranks == 3 && half.function == "MPI_Send")
            });
        }
    }
}

/// Of messages of some sizes.
#[test]
fn sizes() {
    for mpi in installed() {
        let settings = "message-size 20-40; MPI_Isend disable";
        let (run, arrows) = run(mpi, 3, settings, &["30"]);
        let expected = expected(&run, |half| {
            (20..=40).contains(&(half.message[3] + 8)) && half.function != "MPI_Isend"
        });
        assert!(expected.len() > 20, "{}", expected.len());
        assert_eq!(expected, arrows, "{mpi:?}");
    }
}

/// Windows of numbers of calls, which each rank enters and leaves somewhere, also without enough room for what is in front; and
/// one of time, of which is known only that it has an end of the run.
#[test]
fn windows() {
    for mpi in installed() {
        for (settings, arguments) in [
            ("time 0.8-", &["30", "pause=50"][..]),
            ("calls 320-900", &["30"]),
            ("calls 320-2000000; matching-only-limit 0", &["30"]),
            ("calls 2000-; matching-only-limit 64K", &["100"]),
        ] {
            let (run, arrows) = run(mpi, 3, settings, arguments);
            let all = expected(&run, |_| true);
            assert!(arrows.len() > 50, "{settings}: {}", arrows.len());
            assert!(arrows.is_subset(&all), "{settings}");
            let is_time = settings.starts_with("time");
            assert!(is_time || arrows.len() < all.len(), "{settings}");
        }
    }
}

/// Behind a gap of calls of which nothing is known, nearly all messages are drawn, whatever files there are: those are not that were
/// under way where the ranks enter the window.
#[test]
fn behind_a_gap() {
    for mpi in installed() {
        for (limit, outputs) in [("64K", "clog2"), ("16K", "clog2,slog2")] {
            let mut tracing = TraceSetup::new(mpi, 3);
            let variables = [
                ("TRACE_SETTINGS", "calls 2000-"),
                ("TRACE_MATCHING_ONLY_LIMIT", limit),
                ("TRACE_OUTPUTS", outputs),
            ];
            tracing.variables = &variables;
            let run = tracing.run(&Program::c("arrows").compile(mpi), &["100"]);
            assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
            let arrows = drawn(&fs::read(run.file("clog2")).expect("a file"));
            assert!(arrows.is_subset(&expected(&run, |_| true)), "{outputs}");
            let missing = printed(&run);
            assert!(
                arrows.len() > 1000 && missing < 300,
                "{outputs}: {} arrows, {missing} endpoints without one",
                arrows.len()
            );
        }
    }
}

/// Without any room, the drawn arrows are true.
#[test]
fn no_room() {
    for mpi in installed() {
        let (run, arrows) = run(mpi, 3, "matching-only-limit 0", &["60", "off"]);
        let all = expected(&run, |half| half.on);
        assert!(arrows.is_subset(&all) && arrows.len() < all.len());
        assert!(printed(&run) >= 2 * (all.len() - arrows.len()));
    }
}

/// Arrows that `mpitrace recover` draws of a killed run are as true.
#[test]
fn recovered() {
    for mpi in installed() {
        let settings = "MPI_Isend disable; MPI_Waitall disable";
        let mut tracing = TraceSetup::new(mpi, 3);
        let variables = [("TRACE_SETTINGS", settings)];
        tracing.variables = &variables;
        let run = tracing.run(&Program::c("arrows").compile(mpi), &["20", "off", "die"]);
        assert!(!run.finished.status.success(), "{}", run.finished.story());
        let folder = run.folder.path().join("recovered");
        let mut recover = Command::new(tests::mpitrace());
        recover
            .arg("recover")
            .arg("--formats=clog2")
            .arg("--dir")
            .arg(&folder)
            .arg(run.trace());
        let printed = process::run(&mut recover, LIMIT).succeeded().stdout;
        let file = fs::read_dir(&folder).expect("made").find_map(|entry| {
            let path = entry.expect("sound").path();
            path.extension()
                .is_some_and(|e| e == "clog2")
                .then_some(path)
        });
        let arrows = drawn(&fs::read(file.expect(&printed)).expect("a file"));
        let expected = expected(&run, |half| {
            half.on && !["MPI_Isend", "MPI_Waitall"].contains(&half.function.as_str())
        });
        assert!(expected.len() > 20, "{}", expected.len());
        assert_eq!(expected, arrows, "{printed}");
        assert!(
            printed.contains("message endpoints are not drawn"),
            "{printed}"
        );
    }
}
