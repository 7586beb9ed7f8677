//! Chrome's JSON, read by another library: it says what the Perfetto trace of the same drawables says.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use proptest::prelude::*;
use serde_json::Value;
use trace_formats::chrome::{ChromeSink, recognises};
use trace_model::{Category, Definitions, Losses, Topology};

use crate::perfetto::sample::sample;
use crate::perfetto::timeline::{Count, Slice, Timeline, timeline};
use crate::perfetto::{OwnedDrawable, category, definitions, trace, written};

fn chrome(definitions: &Definitions, drawables: &[OwnedDrawable]) -> (Vec<u8>, Losses) {
    let make = |bytes: Rc<RefCell<Vec<u8>>>| {
        let complete = move |written: Vec<u8>| {
            bytes.replace(written);
            Ok(())
        };
        ChromeSink::new(Vec::new(), definitions, complete).expect("begun")
    };
    written(make, drawables)
}

fn text<'v>(event: &'v Value, member: &str) -> &'v str {
    event[member]
        .as_str()
        .unwrap_or_else(|| panic!("{member} of {event}"))
}

/// What the events say.
fn read(json: &[u8]) -> Timeline {
    let json: Value = serde_json::from_slice(json).expect("JSON");
    let mut timeline = Timeline::default();
    let mut names: HashMap<(i64, Option<i64>), String> = HashMap::new();
    let mut open: HashMap<(i64, i64), Vec<usize>> = HashMap::new();
    let mut flows: BTreeMap<String, (usize, Option<usize>)> = BTreeMap::new();
    for event in json["traceEvents"].as_array().expect("events") {
        let pid = event["pid"].as_i64().expect("a pid");
        let tid = event["tid"].as_i64();
        let phase = text(event, "ph");
        if phase == "M" {
            let arguments = &event["args"];
            match text(event, "name") {
                "process_name" | "thread_name" => {
                    names.insert((pid, tid), text(arguments, "name").to_owned());
                }
                "process_labels" => {
                    let labels = text(arguments, "labels").to_owned();
                    timeline.labels.insert(names[&(pid, None)].clone(), labels);
                }
                "process_sort_index" | "thread_sort_index" => {
                    assert!(arguments["sort_index"].is_i64());
                }
                other => panic!("no {other}"),
            }
            continue;
        }
        let time = (event["ts"].as_f64().expect("a time") * 1e3).round() as u64;
        let process = names[&(pid, None)].clone();
        match phase {
            "B" => {
                let number = timeline.slices.len();
                let stack = open.entry((pid, tid.expect("a thread"))).or_default();
                let parent = stack.last().map(|&at| timeline.slices[at].name.clone());
                stack.push(number);
                let no_arguments = serde_json::Map::new();
                let arguments = event["args"].as_object().unwrap_or(&no_arguments);
                let shown = |value: &Value| match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                timeline.slices.push(Slice {
                    process,
                    track: names[&(pid, tid)].clone(),
                    name: text(event, "name").to_owned(),
                    category: text(event, "cat").to_owned(),
                    start: time,
                    end: u64::MAX,
                    parent,
                    arguments: arguments
                        .iter()
                        .map(|(name, value)| (name.clone(), shown(value)))
                        .collect(),
                });
                if event["flow_out"] == true {
                    flows.insert(text(event, "bind_id").to_owned(), (number, None));
                }
                if event["flow_in"] == true {
                    let flow = flows
                        .get_mut(text(event, "bind_id"))
                        .expect("it has started");
                    assert_eq!(flow.1.replace(number), None);
                }
            }
            "E" => {
                let stack = open.get_mut(&(pid, tid.expect("a thread")));
                let at = stack.and_then(Vec::pop).expect("it has begun");
                timeline.slices[at].end = time;
            }
            "C" => {
                let arguments = event["args"].as_object().expect("a value");
                assert_eq!(arguments.len(), 1);
                timeline
                    .counts
                    .extend(arguments.values().map(|value| Count {
                        process: process.clone(),
                        track: text(event, "name").to_owned(),
                        time,
                        value: value.as_f64().expect("a number"),
                    }));
            }
            other => panic!("no phase {other}"),
        }
    }
    assert!(open.values().all(Vec::is_empty));
    let ended = flows.into_values();
    timeline.flows = ended
        .map(|(start, end)| (start, end.expect("it ends")))
        .collect();
    timeline.flows.sort_unstable();
    timeline
}

#[track_caller]
fn assert_same(definitions: &Definitions, drawables: &[OwnedDrawable]) {
    let (json, losses) = chrome(definitions, drawables);
    let (bytes, expected_losses) = trace(definitions, drawables);
    assert_eq!(losses, expected_losses);
    let (found, mut expected) = (read(&json), timeline(&bytes));
    expected.flows.sort_unstable();
    assert_eq!(found.slices, expected.slices);
    assert_eq!(found.flows, expected.flows);
    assert_eq!(found.counts, expected.counts);
    assert_eq!(found.labels, expected.labels);
}

#[test]
fn json_says_what_perfettos_format_says() {
    let (definitions, drawables) = sample();
    assert_same(&definitions, &drawables);
    let (json, _) = chrome(&definitions, &drawables);
    assert!(recognises(&json));
    // One event a line.
    let lines = json.split(|&byte| byte == b'\n').count();
    let parsed: Value = serde_json::from_slice(&json).expect("JSON");
    let events = parsed["traceEvents"].as_array().expect("events").len();
    assert_eq!(lines, events + 3);
}

#[test]
fn a_trace_without_drawables_is_json() {
    assert_same(&Definitions::default(), &[]);
}

proptest! {
    #[test]
    fn names_and_texts_are_quoted(name: String, value: String, ns in 0u64..10_000_000_000) {
        let named: Vec<Category> = vec![category(0, &name, Topology::State, "%s")];
        let definitions = definitions(named, &[(0, 0)]);
        let mut info = trace_model::InfoWriter::default();
        info.text(value.as_bytes());
        let start = ns as f64 / 1e9;
        let ends = [(start, 0), (start + 1e-6, 0)];
        let state = OwnedDrawable::new(Topology::State, 0, info.bytes(), &ends);
        assert_same(&definitions, &[state]);
    }
}
