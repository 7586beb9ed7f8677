//! The values that a wrapper passes to the filters: the communicator, how much data the call moves, and what tells one poll
//! from another.

use super::wrapper::FunctionWrapper;
use crate::{
    BufferAmount, BufferExtent, Carrier, Class, Direction, Function, Kind, Param, PollOutcome,
    Sentinel,
};
use std::fmt::Write;

impl FunctionWrapper<'_> {
    fn class(&self) -> Option<Class> {
        self.function.map(|f| f.class)
    }

    /// Leaves out what the filters do not want.
    pub(super) fn filter(&self, s: &mut String) {
        let index = self.index;
        let comm = self
            .function
            .and_then(|f| f.comm())
            .filter(|&i| self.params()[i].direction == Direction::In);
        let named = comm.map_or("None".to_owned(), |i| format!("Some(handle::of(a{i}))"));
        let collective = matches!(
            self.class(),
            Some(Class::Collective | Class::Icollective | Class::CollectiveInit)
        );
        let condition = match comm.filter(|_| collective) {
            Some(i) => format!("ok && filter::is_intra(handle::of(a{i}))"),
            None => "ok".to_owned(),
        };
        let data = self.data().join(", ");
        put!(
            s,
            "    if stopped.filtered({index}) && (if {condition} {{ modes::leaves_out({index}, stopped.number(), {named}, &[{data}]) }} \
             else {{ modes::leaves_out({index}, stopped.number(), if ok {{ {named} }} else {{ None }}, &[]) }}) {{"
        );
        self.leave(s, self.brings_nothing().as_deref());
        put!(s, "    }}");
    }

    /// The body of a condition under which the call is left out; a call that messages depend on is recorded for matching only,
    /// where that is wanted, unless it brought `nothing`.
    pub(super) fn leave(&self, s: &mut String, nothing: Option<&str>) {
        let index = self.index;
        let moves = self.function.is_some_and(Function::moves_messages);
        if moves {
            let nothing = nothing.map_or(String::new(), |n| format!("ok && ({n}) || "));
            put!(
                s,
                "        if {nothing}!stopped.is_for_matching({index}) {{"
            );
        }
        if let Some(note) = self.tells_of_access("stopped.thread()") {
            put!(s, "        {note}");
        }
        put!(s, "        stopped.leave_out({index});");
        put!(s, "        return given;");
        if moves {
            put!(s, "        }}");
        }
    }

    /// Expressions for how much data the call moves, by its buffers.
    fn data(&self) -> Vec<String> {
        let Some(class) = self.class() else {
            return Vec::new();
        };
        if !moves_data(class) {
            return Vec::new();
        }
        // Send and receive buffer of a reduction have one count and one datatype.
        let mut pieces: Vec<(BufferExtent, usize)> = Vec::new();
        for (i, p) in self.params().iter().enumerate() {
            let Some(extent) = p.extent.filter(|_| p.kind == Kind::Buffer) else {
                continue;
            };
            match pieces.iter_mut().find(|(other, _)| *other == extent) {
                Some((_, buffer)) if p.sentinels.is_empty() => *buffer = i,
                Some(_) => {}
                None => pieces.push((extent, i)),
            }
        }
        let amounts = pieces
            .iter()
            .flat_map(|&(extent, i)| self.amounts(class, extent, i));
        amounts.collect()
    }

    /// Expressions for the data in buffer `i`.
    fn amounts(&self, class: Class, extent: BufferExtent, i: usize) -> Vec<String> {
        let Some(bytes) = self.bytes(extent) else {
            return Vec::new();
        };
        let buffer = &self.params()[i];
        let exact = format!("filter::exactly({bytes})");
        if buffer.direction == Direction::In {
            let significant = self.is_significant(extent, i);
            return vec![match significant {
                Some(condition) => {
                    format!("if {condition} {{ {exact} }} else {{ filter::NOTHING }}")
                }
                None => exact,
            }];
        }
        let status = self
            .function
            .and_then(|f| f.first(Kind::Status))
            .filter(|_| matches!(class, Class::Recv | Class::Sendrecv));
        let received = match (status, class) {
            (Some(j), _) => {
                format!("filter::received(arg::status(a{j} as *const A::Status, 0), {bytes})")
            }
            (None, Class::Irecv | Class::RecvInit | Class::Isendrecv) => {
                format!("filter::at_most({bytes})")
            }
            _ => match self.is_significant(extent, i) {
                Some(condition) => {
                    format!("if {condition} {{ {exact} }} else {{ filter::NOTHING }}")
                }
                None => exact.clone(),
            },
        };
        let both = buffer.direction == Direction::InOut && class == Class::Sendrecv;
        both.then_some(exact)
            .into_iter()
            .chain([received])
            .collect()
    }

    /// An expression for the bytes of a buffer: an Option, `None` where the arguments do not count.
    fn bytes(&self, extent: BufferExtent) -> Option<String> {
        let is_array = |i: usize| self.params()[i].len.is_some();
        Some(match (extent.count, extent.datatype) {
            (BufferAmount::Param(c), Some(t)) if is_array(c) && is_array(t) => {
                format!("filter::products(a{c}, n{c}, a{t})")
            }
            (BufferAmount::Param(c), Some(t)) if is_array(c) => {
                format!("filter::sum(a{c}, n{c}, handle::of(a{t}))")
            }
            (BufferAmount::Param(c), Some(t)) => {
                format!("filter::elements(a{c} as i64, handle::of(a{t}))")
            }
            (BufferAmount::One, Some(t)) => format!("filter::elements(1, handle::of(a{t}))"),
            (BufferAmount::Param(_) | BufferAmount::One, None) => return None,
        })
    }

    /// Under which condition count and datatype of buffer `i` count.
    fn is_significant(&self, extent: BufferExtent, i: usize) -> Option<String> {
        let params = self.params();
        let mut conditions = Vec::new();
        let counts: Vec<&Param> = match extent.count {
            BufferAmount::Param(c) => [Some(c), extent.datatype]
                .into_iter()
                .flatten()
                .map(|i| &params[i])
                .collect(),
            BufferAmount::One => Vec::new(),
        };
        if counts.iter().any(|p| p.root_only)
            && let (Some(comm), Some(root)) = (
                self.function.and_then(|f| f.comm()),
                params.iter().position(|q| q.kind == Kind::Root),
            )
        {
            conditions.push(format!("lengths::at_root(handle::of(a{comm}), a{root})"));
        }
        let mut places: Vec<usize> = counts.iter().filter_map(|p| p.inplace).collect();
        if params[i].sentinels.contains(&Sentinel::InPlace) {
            places.push(i);
        }
        places.sort_unstable();
        places.dedup();
        for b in places {
            conditions.push(format!("arg::in_place::<A>(a{b} as *const c_void) == 0"));
        }
        (!conditions.is_empty()).then(|| conditions.join(" && "))
    }

    /// The condition under which a call that looks for something has not found it.
    pub(super) fn brings_nothing(&self) -> Option<String> {
        match self.function?.vain()? {
            PollOutcome::Always => None,
            PollOutcome::Not(flag) => Some(format!("arg::value(a{flag}.cast_const()) == 0")),
            PollOutcome::No(count) => Some(format!("arg::value(a{count}.cast_const()) <= 0")),
        }
    }

    /// Counts a poll instead of those before it, where that is wanted. All that goes in tells it from others.
    pub(super) fn poll(&self, s: &mut String) {
        if self.function.and_then(Function::vain).is_none() {
            return;
        }
        let nothing = self
            .brings_nothing()
            .map_or(String::new(), |nothing| format!("({nothing}) && "));
        let mut key = "poll::PollKey::new()".to_owned();
        for (i, p) in self.params().iter().enumerate() {
            let _ = match (p.direction, p.carrier()) {
                (Direction::Out, _) => Ok(()),
                (_, Carrier::I32 | Carrier::I64) if p.indirection() == 0 => {
                    write!(key, ".number(a{i} as i64)")
                }
                (Direction::In, Carrier::Handle | Carrier::Pointer) if p.indirection() == 0 => {
                    write!(key, ".handle(a{i}.bits())")
                }
                (Direction::InOut, Carrier::Handle | Carrier::Pointer) => {
                    write!(key, ".handle(before{i})")
                }
                (Direction::InOut, Carrier::Array(_) | Carrier::ArrayInOut(_))
                    if p.kind == Kind::Request =>
                {
                    write!(key, ".handles(kept.place(before{i}).cast_const(), n{i})")
                }
                (Direction::In, Carrier::Array(_)) if p.kind == Kind::Request => {
                    write!(key, ".handles(a{i} as *const _, n{i})")
                }
                _ => Ok(()),
            };
        }
        put!(
            s,
            "    if ok && {nothing}stopped.sampled({}) {{",
            self.index
        );
        put!(
            s,
            "        poll::again(stopped.thread(), {}, {}, {key});",
            self.index,
            self.number
        );
        put!(s, "    }}");
    }
}

/// Whether a message size can be told of such functions.
fn moves_data(class: Class) -> bool {
    matches!(
        class,
        Class::Send
            | Class::Recv
            | Class::Sendrecv
            | Class::Isend
            | Class::Irecv
            | Class::Isendrecv
            | Class::SendInit
            | Class::RecvInit
            | Class::Collective
            | Class::Icollective
            | Class::CollectiveInit
            | Class::Neighbor
            | Class::Ineighbor
            | Class::NeighborInit
            | Class::Rma
            | Class::RmaRequest
            | Class::FileAccess
    )
}
