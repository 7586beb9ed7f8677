//! Sums over the drawables of a search against a look at each of them, and the searches of their lines.

use crate::common::file;
use serde_json::Value;
use std::collections::BTreeMap;
use trace_formats::slog2::{Topology, Vertex};
use trace_model::{Category, Color, InfoWriter};
use viewer_core::{AnswerLimits, Viewer};

/// A drawable as it goes into the file: category, from and to line, start, end, and a number in the info.
#[derive(Clone, Copy, Debug)]
struct Row {
    category: i32,
    from: i32,
    to: i32,
    start: f64,
    end: f64,
    number: i32,
}

/// MPI_Send and MPI_Recv with a tag, two kinds of regions with one name, messages with sizes.
fn categories() -> Vec<Category> {
    let state = |index, name: &str, keys: &[&str]| {
        let mut category = Category::new(index, name.into(), Topology::State, Color::WHITE);
        category.info_keys = keys.iter().map(|&key| key.into()).collect();
        category.info_types = keys.iter().map(|_| b'd').collect();
        category
    };
    let mut message = Category::message();
    message.index = 3;
    vec![
        state(0, "MPI_Send", &["tag="]),
        state(1, "MPI_Recv", &["tag="]),
        state(2, "assemble", &[]),
        message,
        state(4, "assemble", &[]),
    ]
}

/// Two long regions, which are in the root, and many calls and messages.
fn rows() -> Vec<Row> {
    let mut rows = vec![
        Row {
            category: 2,
            from: 0,
            to: 0,
            start: 0.0,
            end: 50.0,
            number: 0,
        },
        Row {
            category: 4,
            from: 1,
            to: 1,
            start: 40.0,
            end: 100.0,
            number: 0,
        },
    ];
    for step in 0..400 {
        let start = f64::from(step) / 4.0;
        let rank = step % 5;
        let other = (rank + 1 + step % 3) % 5;
        let end = start + f64::from(1 + step % 7) / 64.0;
        rows.push(Row {
            category: step % 2,
            from: rank,
            to: rank,
            start,
            end,
            number: step % 3,
        });
        rows.push(Row {
            category: 3,
            from: rank,
            to: other,
            start,
            end: start + 0.125,
            number: 64 << (step % 4),
        });
    }
    rows
}

fn sample(rows: &[Row]) -> Vec<u8> {
    let categories = categories();
    let mut drawables: Vec<_> = rows
        .iter()
        .map(|row| {
            let vertices = vec![
                Vertex {
                    time: row.start,
                    line: row.from,
                },
                Vertex {
                    time: row.end,
                    line: row.to,
                },
            ];
            let mut info = InfoWriter::default();
            match row.category {
                2 | 4 => {}
                3 => {
                    info.int(7);
                    info.int(row.number);
                }
                _ => {
                    info.int(row.number);
                }
            }
            (row.category, vertices, info.bytes().to_vec())
        })
        .collect();
    file(&categories, 5, &mut drawables)
}

fn ask(viewer: &Viewer<'_>, route: &str, name: &str, text: &str) -> Result<Value, String> {
    let escaped: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let answer = viewer.answer(&format!("{route}?{name}={escaped}"), &|| false);
    let answer = answer.map_err(|error| error.message)?;
    Ok(serde_json::from_slice(&answer.body).unwrap())
}

/// Count, sum, least and largest value by label, of those that `group` gives a label and a value.
fn by_hand(
    rows: &[Row],
    group: impl Fn(&Row) -> Option<(String, f64)>,
) -> BTreeMap<String, (u64, f64, f64, f64)> {
    let mut found = BTreeMap::new();
    for (label, value) in rows.iter().filter_map(group) {
        let (count, sum, min, max) =
            found
                .entry(label)
                .or_insert((0, 0.0, f64::INFINITY, f64::NEG_INFINITY));
        (*count, *sum) = (*count + 1, *sum + value);
        (*min, *max) = (f64::min(*min, value), f64::max(*max, value));
    }
    found
}

fn told(answer: &Value) -> BTreeMap<String, (u64, f64, f64, f64)> {
    let lines = answer["lines"].as_array().unwrap().iter();
    let number = |line: &Value, key: &str| line[key].as_f64().unwrap();
    lines
        .map(|line| {
            let labels = line["labels"].as_array().unwrap().iter();
            let labels: Vec<&str> = labels.map(|label| label.as_str().unwrap()).collect();
            let label = labels.join(" / ");
            (
                label,
                (
                    line["count"].as_u64().unwrap(),
                    number(line, "sum"),
                    number(line, "min"),
                    number(line, "max"),
                ),
            )
        })
        .collect()
}

fn duration(row: &Row) -> f64 {
    row.end - row.start
}

#[test]
fn sums_are_those_of_each_drawable_and_lines_are_searches_for_theirs() {
    let rows = rows();
    let bytes = sample(&rows);
    let viewer = Viewer::new("x", &bytes, AnswerLimits::default()).unwrap();
    let names = ["MPI_Send", "MPI_Recv", "assemble", "message", "assemble"];
    let is_call = |row: &Row| row.category < 2;
    type Group = Box<dyn Fn(&Row) -> Option<(String, f64)>>;
    let cases: [(&str, Group); 14] = [
        (
            "sum dur by rank where name:MPI_Recv dur>31.25ms",
            Box::new(|row| {
                (row.category == 1 && duration(row) > 0.031_25)
                    .then(|| (format!("rank {}", row.from), duration(row)))
            }),
        ),
        (
            "count by name",
            Box::new(move |row| Some((names[row.category as usize].to_owned(), duration(row)))),
        ),
        (
            "mean dur by rank",
            Box::new(|row| Some((format!("rank {}", row.from), duration(row)))),
        ),
        (
            "sum bytes by peer",
            Box::new(|row| {
                (row.category == 3).then(|| {
                    (
                        format!("rank {} → rank {}", row.from, row.to),
                        f64::from(row.number),
                    )
                })
            }),
        ),
        (
            "max size by rank where is:arrow",
            Box::new(|row| {
                (row.category == 3).then(|| (format!("rank {}", row.from), f64::from(row.number)))
            }),
        ),
        (
            "min dur by tag where MPI_",
            Box::new(move |row| is_call(row).then(|| (row.number.to_string(), duration(row)))),
        ),
        (
            "sum tag by class where !is:arrow",
            Box::new(move |row| is_call(row).then(|| ("p2p".to_owned(), f64::from(row.number)))),
        ),
        (
            "sum dur by thread",
            Box::new(|row| (row.category != 3).then(|| ("0".to_owned(), duration(row)))),
        ),
        (
            "sum dur by rank, category",
            Box::new(move |row| {
                let name = names[row.category as usize];
                Some((format!("rank {} / {name}", row.from), duration(row)))
            }),
        ),
        (
            "count by tag,name,rank where MPI_",
            Box::new(move |row| {
                let (name, rank) = (names[row.category as usize], row.from);
                is_call(row).then(|| {
                    (
                        format!("{} / {name} / rank {rank}", row.number),
                        duration(row),
                    )
                })
            }),
        ),
        (
            "max bytes by peer, size",
            Box::new(|row| {
                (row.category == 3).then(|| {
                    let (from, to, size) = (row.from, row.to, row.number);
                    (format!("rank {from} → rank {to} / {size}"), f64::from(size))
                })
            }),
        ),
        (
            "sum dur by rank, thread",
            Box::new(|row| {
                (row.category != 3).then(|| (format!("rank {} / 0", row.from), duration(row)))
            }),
        ),
        // Nothing is a message and on a thread.
        ("count by peer, thread", Box::new(|_| None)),
        ("sum dur by rank where rank:3-", Box::new(|_| None)),
    ];
    for (text, group) in cases {
        let Ok(answer) = ask(&viewer, "aggregate", "a", text) else {
            assert!(text.ends_with("3-"), "{text}");
            continue;
        };
        assert_eq!(answer["exact"], true, "{text}");
        assert_eq!(told(&answer), by_hand(&rows, group), "{text}");
        let values: Vec<f64> = answer["lines"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line["value"].as_f64().unwrap())
            .collect();
        let is_least = answer["function"] == "min";
        assert!(
            values.windows(2).all(|two| if is_least {
                two[0] <= two[1]
            } else {
                two[0] >= two[1]
            }),
            "{text}: {values:?}"
        );
        for line in answer["lines"].as_array().unwrap() {
            let query = line["query"].as_str().unwrap();
            let hits = ask(&viewer, "hits", "q", query).unwrap();
            assert_eq!(
                (&hits["count"], &hits["exact"]),
                (&line["count"], &Value::Bool(true)),
                "{text}: {query}"
            );
        }
    }
}

#[test]
fn what_there_is_no_time_for_is_left_out_from_a_moment_on() {
    let rows = rows();
    let bytes = sample(&rows);
    let whole = Viewer::new("x", &bytes, AnswerLimits::default()).unwrap();
    let all = ask(&whole, "aggregate", "a", "count by name").unwrap();
    assert_eq!(all["count"], rows.len());
    let mut parts = 0;
    for whole_bytes in (0..bytes.len() as u64).step_by(1999) {
        let limits = AnswerLimits {
            whole_bytes,
            ..AnswerLimits::default()
        };
        let viewer = Viewer::new("x", &bytes, limits).unwrap();
        let answer = ask(&viewer, "aggregate", "a", "sum dur by name").unwrap();
        let until = answer["until"].as_f64().unwrap();
        if answer["exact"] == true {
            continue;
        }
        parts += 1;
        let names = ["MPI_Send", "MPI_Recv", "assemble", "message", "assemble"];
        let expected = by_hand(&rows, |row| {
            (row.start < until).then(|| (names[row.category as usize].to_owned(), duration(row)))
        });
        assert_eq!(told(&answer), expected, "until {until}");
    }
    assert!(parts > 5, "{parts}");
    // Time that is up at once is told, too.
    let late = whole
        .answer("aggregate?a=count%20by%20name", &|| true)
        .unwrap();
    let late: Value = serde_json::from_slice(&late.body).unwrap();
    assert_eq!(
        (&late["exact"], &late["count"]),
        (&Value::Bool(false), &0.into())
    );
}

#[test]
fn what_cannot_be_summed_is_said() {
    let bytes = sample(&rows());
    let viewer = Viewer::new("x", &bytes, AnswerLimits::default()).unwrap();
    for (text, expected) in [
        (
            "sum colour by rank",
            "a: nothing in this trace has a value colour; expected dur, bytes",
        ),
        (
            "sum dur by colour",
            "a: nothing in this trace has a value colour; expected rank, thread",
        ),
        (
            "sum dur by rank, colour",
            "a: nothing in this trace has a value colour; expected rank, thread",
        ),
        ("sum dur", "a: expected by at character 8"),
    ] {
        let message = ask(&viewer, "aggregate", "a", text).unwrap_err();
        assert!(message.starts_with(expected), "{message}");
    }
    let part = Viewer::part("x", &bytes, None, AnswerLimits::default()).unwrap();
    let message = ask(&part, "aggregate", "a", "sum wait by rank").unwrap_err();
    assert!(
        message.contains("when all of the trace has been read"),
        "{message}"
    );
}

#[test]
fn senders_and_receivers_are_conditions() {
    let rows = rows();
    let bytes = sample(&rows);
    let viewer = Viewer::new("x", &bytes, AnswerLimits::default()).unwrap();
    let count = |query: &str| {
        ask(&viewer, "hits", "q", query).unwrap()["count"]
            .as_u64()
            .unwrap()
    };
    let by_hand = |fits: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| fits(row)).count() as u64;
    assert_eq!(
        count("sender:1 receiver:2"),
        by_hand(&|row| row.category == 3 && row.from == 1 && row.to == 2)
    );
    assert_eq!(
        count("sender:1-2"),
        by_hand(&|row| (1..=2).contains(&row.from))
    );
    assert_eq!(
        count("receiver:0,4"),
        by_hand(&|row| row.category == 3 && [0, 4].contains(&row.to))
    );
    assert_eq!(
        count("!receiver:0"),
        by_hand(&|row| !(row.category == 3 && row.to == 0))
    );
    assert_eq!(count("name:send|recv"), by_hand(&|row| row.category < 2));
}

/// Rank 1 writes 4096 bytes by a call of MPI-IO, which makes one operation; an event and two arrows link them. Then it sends 100 bytes to rank 2.
#[test]
fn bytes_are_those_of_messages_calls_and_operations() {
    let of = |index, name: &str, topology, format: &[u8]| {
        let mut category = Category::new(index, name.into(), topology, Color::WHITE);
        category.set_info_format(format);
        category
    };
    let access = b"CallID=0x%X, function=%s, file=%d, sequence=%l, bytes=%l, first=%l, behind=%l, pieces=%l, lasts=%l ns, complete=%l ns, writes=%d, number=%d";
    let plain = b"CallID=0x%X, bytes=%l";
    let mut message = Category::message();
    message.index = 5;
    let categories = [
        of(0, "MPI_File_write_at", Topology::State, plain),
        of(1, "triggers pwrite", Topology::Arrow, plain),
        of(2, "carries pwrite", Topology::Arrow, plain),
        of(3, "I/O access", Topology::Event, access),
        of(4, "pwrite64", Topology::State, plain),
        message,
    ];
    let info = |category: i32| {
        let mut info = InfoWriter::default();
        match category {
            3 => info
                .long(5)
                .text(b"MPI_File_write_at")
                .int(1)
                .long(1)
                .long(4096),
            5 => info.int(7).int(100),
            _ => info.long(5).long(4096),
        };
        if category == 3 {
            info.long(0)
                .long(4096)
                .long(1)
                .long(9)
                .long(9)
                .int(1)
                .int(1);
        }
        info.bytes().to_vec()
    };
    let at = |time: f64, line| Vertex { time, line };
    let mut drawables: Vec<(i32, Vec<Vertex>, Vec<u8>)> = vec![
        (0, vec![at(1.0, 1), at(2.0, 1)], info(0)),
        (1, vec![at(1.0, 1), at(1.2, 1)], info(1)),
        (2, vec![at(1.0, 1), at(1.3, 1)], info(2)),
        (3, vec![at(1.1, 1)], info(3)),
        (4, vec![at(1.2, 1), at(1.3, 1)], info(4)),
        (5, vec![at(3.0, 1), at(3.5, 2)], info(5)),
    ];
    let bytes = file(&categories, 3, &mut drawables);
    let viewer = Viewer::new("x", &bytes, AnswerLimits::default()).unwrap();
    let sums = |text: &str| {
        let told = told(&ask(&viewer, "aggregate", "a", text).unwrap());
        let sums = told
            .into_iter()
            .map(|(label, (count, sum, ..))| (label, count, sum));
        sums.collect::<Vec<_>>()
    };
    // Lines are searches for just what is summed, without what repeats it.
    for (text, count) in [
        ("sum bytes by rank", 3),
        ("sum bytes by rank where class:io", 1),
        ("max bytes by rank where is:arrow", 1),
    ] {
        let answer = ask(&viewer, "aggregate", "a", text).unwrap();
        let query = answer["lines"][0]["query"].as_str().expect(text);
        let hits = ask(&viewer, "hits", "q", query).unwrap();
        assert_eq!(hits["count"], count, "{text}: {query}");
    }
    let by_class = ask(&viewer, "aggregate", "a", "sum bytes by class").unwrap();
    for line in by_class["lines"].as_array().unwrap() {
        let hits = ask(&viewer, "hits", "q", line["query"].as_str().unwrap()).unwrap();
        assert_eq!(hits["count"], 1, "{line}");
    }
    let one = |label: &str, count, sum| vec![(label.to_owned(), count, sum)];
    assert_eq!(
        sums("sum bytes by peer where is:arrow"),
        one("rank 1 \u{2192} rank 2", 1, 100.0)
    );
    assert_eq!(
        sums("sum bytes by rank"),
        one("rank 1", 3, 4096.0 + 4096.0 + 100.0)
    );
    assert_eq!(
        sums("sum bytes by rank where class:io"),
        one("rank 1", 1, 4096.0)
    );
    assert_eq!(
        sums("sum bytes by rank where class:disk"),
        one("rank 1", 1, 4096.0)
    );
}
