//! Merged records whose times can be corrected.

use super::record::{MergedBody, MergedRecord};
use trace_formats::clog2::{Clog2CommEvent, Clog2Msg, Clog2RecordHeader};
use unify::forward::ForwardedRecord;

impl ForwardedRecord for MergedRecord {
    fn header(&self) -> &Clog2RecordHeader {
        &self.header
    }

    fn set_time(&mut self, time: f64) {
        self.header.time = time;
    }

    fn message(&self) -> Option<&Clog2Msg> {
        match &self.body {
            MergedBody::Message { message, .. } => Some(message),
            _ => None,
        }
    }

    fn comm(&self) -> Option<&Clog2CommEvent> {
        match &self.body {
            MergedBody::Comm(event) => Some(event),
            _ => None,
        }
    }

    fn begins(&self) -> Option<i32> {
        match self.body {
            MergedBody::Enter { etype } => Some(etype),
            _ => None,
        }
    }

    fn ends(&mut self) -> Option<(i32, &mut f64)> {
        match &mut self.body {
            MergedBody::Leave(state) => Some((state.etypes[0], &mut state.start)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::LeftState;
    use super::super::state_info::StateInfo;
    use super::*;
    use trace_formats::clog2::msg_etype;
    use unify::forward::{ForwardLimits, ForwardedMessages, Forwarding};

    fn endpoint(time: f64, rank: i32, partner: i32, is_send: bool) -> MergedRecord {
        let etype = if is_send {
            msg_etype::SEND
        } else {
            msg_etype::RECV
        };
        MergedRecord {
            header: Clog2RecordHeader {
                time,
                icomm: 0,
                rank,
                thread: 0,
            },
            body: MergedBody::Message {
                message: Clog2Msg {
                    etype,
                    icomm: 0,
                    rank: partner,
                    tag: 1,
                    size: 4,
                },
                ahead: 0,
            },
        }
    }

    fn corrected(records: &[MergedRecord]) -> (Vec<MergedRecord>, ForwardedMessages) {
        let mut forwarding = Forwarding::new(ForwardLimits::STREAM);
        let mut out = Vec::new();
        for record in records {
            forwarding.push(record.clone(), |r| out.push(r.clone()));
        }
        let result = forwarding.finish(|r| out.push(r.clone()));
        (out, result)
    }

    /// The beginning and the end of a state of rank 1.
    fn state(start: f64, end: f64, etypes: [i32; 2], thread: i32) -> [MergedRecord; 2] {
        let record = |time, body| MergedRecord {
            header: Clog2RecordHeader {
                time,
                icomm: 0,
                rank: 1,
                thread,
            },
            body,
        };
        let leave = LeftState {
            start,
            etypes,
            info: StateInfo::default(),
        };
        [
            record(start, MergedBody::Enter { etype: etypes[0] }),
            record(end, MergedBody::Leave(leave)),
        ]
    }

    #[test]
    fn states_begin_when_their_beginnings_do() {
        // Rank 1's clock is 5 s behind. It receives in one state, nested in another one of the same kind; a third state on another
        // thread begins at the same time.
        let [outer_enter, outer_leave] = state(0.5, 3.0, [10, 11], 0);
        let [inner_enter, inner_leave] = state(1.5, 2.5, [10, 11], 0);
        let [other_enter, other_leave] = state(1.5, 2.0, [10, 11], 1);
        let records = [
            outer_enter,
            endpoint(1.0, 1, 0, false),
            inner_enter,
            other_enter,
            other_leave,
            inner_leave,
            outer_leave,
            endpoint(5.5, 0, 1, true),
        ];
        let (out, result) = corrected(&records);
        assert_eq!((out.len(), result.violations), (records.len(), 1));
        assert!(out.iter().map(|r| r.header.time).is_sorted());
        let mut entered: Vec<(i32, f64)> = Vec::new();
        let mut spans = Vec::new();
        for record in &out {
            let (thread, time) = (record.header.thread, record.header.time);
            match &record.body {
                MergedBody::Enter { .. } => entered.push((thread, time)),
                MergedBody::Leave(state) => {
                    let at = entered.iter().rposition(|&(on, _)| on == thread);
                    let (_, began) = entered.remove(at.expect("a beginning"));
                    assert_eq!(state.start.to_bits(), began.to_bits());
                    spans.push((thread, state.start, time));
                }
                _ => {}
            }
        }
        // The outer state began before the message and keeps its time; what follows the receive moves along.
        let [other, inner, outer] = spans[..] else {
            panic!("{spans:?}");
        };
        assert_eq!((other.0, inner.0, outer.0), (1, 0, 0));
        assert_eq!(outer.1, 0.5);
        assert!(outer.2 > inner.2 && inner.2 > other.2, "{spans:?}");
        assert!(inner.1 > 5.5 && other.1 > 5.5, "{spans:?}");
    }
}
