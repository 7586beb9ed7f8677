//! What a viewer makes of a Perfetto trace: slices, flows and counters, with the rules that it demands.

use std::collections::{BTreeMap, HashMap};

use super::decode::{Decoded, Value, packets};

/// A slice that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    pub process: String,
    /// Name of the thread or the track.
    pub track: String,
    pub name: String,
    pub category: String,
    pub start: u64,
    pub end: u64,
    /// Name of the slice that it is in.
    pub parent: Option<String>,
    pub arguments: BTreeMap<String, String>,
}

/// A value of a counter.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    pub process: String,
    pub track: String,
    pub time: u64,
    pub value: f64,
}

#[derive(Debug, Default)]
pub struct Timeline {
    /// In the order in which they begin.
    pub slices: Vec<Slice>,
    /// Both slices of each flow, as positions in `slices`.
    pub flows: Vec<(usize, usize)>,
    pub counts: Vec<Count>,
    /// Labels of processes, by name.
    pub labels: BTreeMap<String, String>,
}

#[derive(Default)]
struct Names {
    by_use: HashMap<(&'static str, u64), String>,
}

impl Names {
    fn define(&mut self, packet: &Decoded) {
        let Some(data) = packet.message("interned_data") else {
            return;
        };
        for (list, text) in [
            ("event_categories", "name"),
            ("event_names", "name"),
            ("debug_annotation_names", "name"),
            ("debug_annotation_string_values", "str"),
        ] {
            for entry in data.all(list) {
                let Value::Message(entry) = entry else {
                    panic!("an entry of {list}, not {entry:?}")
                };
                let iid = entry.number("iid").expect("a number");
                let text = entry.text(text).expect("a name").to_owned();
                assert!(iid > 0);
                let before = self.by_use.insert((list, iid), text);
                assert_eq!(before, None, "{list} {iid} is defined once");
            }
        }
    }

    fn get(&self, list: &'static str, iid: Option<u64>) -> String {
        let iid = iid.unwrap_or_else(|| panic!("no iid for {list}"));
        let found = self.by_use.get(&(list, iid));
        found
            .unwrap_or_else(|| panic!("{list} {iid} before its definition"))
            .clone()
    }
}

/// Reads a trace. Panics where a rule is broken: packets in order of time, tracks and names defined before use, each end with a
/// beginning, each flow with one start and then one end.
pub fn timeline(trace: &[u8]) -> Timeline {
    let mut timeline = Timeline::default();
    let mut names = Names::default();
    let mut processes: HashMap<u64, String> = HashMap::new();
    let mut tracks: HashMap<u64, (String, String)> = HashMap::new();
    let mut open: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut flows: BTreeMap<u64, (usize, Option<usize>)> = BTreeMap::new();
    let mut last = 0;
    for (nth, packet) in packets(trace).iter().enumerate() {
        assert_eq!(packet.number("trusted_packet_sequence_id"), Some(1));
        let flags = packet.number("sequence_flags").unwrap_or(0);
        assert_eq!(
            flags & 1 == 1,
            nth == 0,
            "state is cleared at the beginning"
        );
        assert_eq!(packet.get("first_packet_on_sequence").is_some(), nth == 0);
        names.define(packet);
        if let Some(descriptor) = packet.message("track_descriptor") {
            let uuid = descriptor.number("uuid").expect("a uuid");
            if descriptor.word("process_ordering").is_some() {
                assert_eq!((uuid, nth), (0, 1), "the order of processes is the trace's");
                continue;
            }
            assert!(uuid != 0 && !processes.contains_key(&uuid) && !tracks.contains_key(&uuid));
            if let Some(process) = descriptor.message("process") {
                let name = process.text("process_name").expect("a name").to_owned();
                if let Some(label) = process.text("process_labels") {
                    timeline.labels.insert(name.clone(), label.to_owned());
                }
                processes.insert(uuid, name);
                continue;
            }
            let parent = descriptor.number("parent_uuid").expect("a parent");
            let of_thread = || tracks.get(&parent).map(|(process, _)| process);
            let process = processes.get(&parent).or_else(of_thread);
            let process = process.expect("a parent that is known").clone();
            let thread = descriptor.message("thread");
            let name = thread.map_or_else(
                || descriptor.text("name"),
                |thread| thread.text("thread_name"),
            );
            let name = name.expect("a name").to_owned();
            tracks.insert(uuid, (process, name));
            continue;
        }
        let Some(event) = packet.message("track_event") else {
            continue;
        };
        let time = packet.number("timestamp").expect("a time");
        assert!(last <= time, "{last}, then {time}");
        last = time;
        let uuid = event.number("track_uuid").expect("a track");
        let (process, track) = tracks.get(&uuid).expect("a track that is known").clone();
        match event.word("type").expect("a type") {
            "TYPE_SLICE_BEGIN" => {
                assert!(flags & 2 == 2, "names need the state");
                let number = timeline.slices.len();
                let stack = open.entry(uuid).or_default();
                let parent = stack
                    .last()
                    .map(|&at: &usize| timeline.slices[at].name.clone());
                stack.push(number);
                timeline.slices.push(Slice {
                    process,
                    track,
                    name: names.get("event_names", event.number("name_iid")),
                    category: names.get("event_categories", event.number("category_iids")),
                    start: time,
                    end: u64::MAX,
                    parent,
                    arguments: arguments(event, &names),
                });
                if let Some(flow) = event.number("flow_ids") {
                    let before = flows.insert(flow, (number, None));
                    assert_eq!(before, None, "flow {flow} starts once");
                }
                if let Some(flow) = event.number("terminating_flow_ids") {
                    let flow = flows.get_mut(&flow).expect("a flow that has started");
                    assert_eq!(flow.1.replace(number), None, "a flow ends once");
                }
            }
            "TYPE_SLICE_END" => {
                let at = open.get_mut(&uuid).and_then(Vec::pop);
                timeline.slices[at.expect("a slice that has begun")].end = time;
            }
            "TYPE_COUNTER" => {
                let value = match (
                    event.get("counter_value"),
                    event.get("double_counter_value"),
                ) {
                    (Some(Value::Signed(value)), None) => *value as f64,
                    (None, Some(Value::Real(value))) => *value,
                    other => panic!("one value, not {other:?}"),
                };
                timeline.counts.push(Count {
                    process,
                    track,
                    time,
                    value,
                });
            }
            other => panic!("no {other} is expected"),
        }
    }
    assert!(open.values().all(Vec::is_empty), "every slice has ended");
    let ended = flows.into_values();
    timeline.flows = ended
        .map(|(start, end)| (start, end.expect("a flow that has an end")))
        .collect();
    timeline
}

fn arguments(event: &Decoded, names: &Names) -> BTreeMap<String, String> {
    let mut arguments = BTreeMap::new();
    for annotation in event.all("debug_annotations") {
        let Value::Message(annotation) = annotation else {
            panic!("an annotation, not {annotation:?}")
        };
        let name = names.get("debug_annotation_names", annotation.number("name_iid"));
        let value = match annotation.number("string_value_iid") {
            Some(iid) => names.get("debug_annotation_string_values", Some(iid)),
            None => match (
                annotation.get("int_value"),
                annotation.get("double_value"),
                annotation.get("string_value"),
                annotation.number("pointer_value"),
            ) {
                (Some(Value::Signed(value)), None, None, None) => value.to_string(),
                (None, Some(Value::Real(value)), None, None) => value.to_string(),
                (None, None, Some(Value::Text(value)), None) => value.clone(),
                (None, None, None, Some(value)) => format!("{value:#x}"),
                other => panic!("one value, not {other:?}"),
            },
        };
        let before = arguments.insert(name.clone(), value);
        assert_eq!(before, None, "{name} stands once");
    }
    arguments
}
