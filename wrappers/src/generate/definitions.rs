//! The part of a wrapper that writes definitions of what the call has made or used.

use super::wrapper::FunctionWrapper;
use crate::{Class, Direction, Function, Kind};
use std::fmt::Write;

impl FunctionWrapper<'_> {
    /// Writes definitions of the communicators, datatypes and views that the call made, also of a call that is not recorded.
    pub(super) fn definitions(&self, s: &mut String, ignored: bool) {
        let Some(f) = self.function else { return };
        match f.class {
            Class::Init => put!(s, "    if r == 0 {{ init::initialized(); }}"),
            Class::Session if f.name == "MPI_Session_init" => {
                put!(
                    s,
                    "    if r == 0 {{ process_set::opened(handle::at(a2)); init::session_started(); }}"
                );
            }
            _ => {}
        }
        let mut lines = Vec::new();
        if f.name == "MPI_File_set_view" {
            lines.push(
                "views::set(t, handle::of(a0), a1, handle::of(a2), handle::of(a3), a4);".to_owned(),
            );
        }
        if let (Class::RmaSync, Some(group), false) = (f.class, f.first(Kind::Group), ignored) {
            lines.push(format!("define::group(t, handle::of(a{group}));"));
        }
        if !ignored {
            lines.extend(self.used_datatypes(f));
        }
        for (i, p) in f.params.iter().enumerate() {
            // The tool interface gives predefined datatypes, also before MPI_Init, when MPI may not be asked about them.
            let makes_datatype = p.kind == Kind::Datatype && p.direction == Direction::Out;
            let made = f.creates.contains(&i) || (makes_datatype && f.class != Class::Tool);
            if !made {
                continue;
            }
            match (p.kind, p.len.is_some()) {
                (Kind::Comm, false) => {
                    let parent = match f.comm().filter(|_| f.class != Class::Spawn) {
                        Some(j) if f.params[j].direction == Direction::In => format!("Some(handle::of(a{j}))"),
                        _ => "None".to_owned(),
                    };
                    lines.push(format!(
                        "if let Some(made) = handle::at(a{i}) {{ define::comm(t, made, {parent}, {}); }}",
                        origin(f)
                    ));
                }
                (Kind::File, false) if !ignored => lines.push(format!(
                    "if let Some(made) = handle::at(a{i}) {{ views::opened(made); }}"
                )),
                (Kind::Datatype, false) => lines.push(format!(
                    "if let Some(made) = handle::at(a{i}) {{ define::datatype(t, made); }}"
                )),
                (Kind::Datatype, true) if !ignored => lines.push(format!(
                    "for j in 0..n{i}.unwrap_or(0) {{ define::datatype(t, handle::of(a{i}.add(j).read_unaligned())); }}"
                )),
                _ => {}
            }
        }
        if lines.is_empty() {
            return;
        }
        if ignored {
            put!(
                s,
                "        if r == 0 && let Some(t) = call.maker(P == 0) {{"
            );
        } else {
            put!(s, "    if ok {{");
            put!(s, "        let t = stopped.thread();");
        }
        for line in lines {
            put!(s, "        {line}");
        }
        put!(s, "    }}");
        if f.name == "MPI_File_set_view" {
            match ignored {
                true => put!(
                    s,
                    "        if r != 0 && let Some(t) = call.maker(P == 0) {{"
                ),
                false => put!(s, "    if !ok {{ let t = stopped.thread();"),
            }
            put!(s, "        views::refused(t, handle::of(a0));");
            put!(s, "    }}");
        }
    }

    /// Statements that define datatypes of buffers which no call has made. MPI is asked about such a datatype, so they hold only where the call has used
    /// it: what MPI ignores may be anything.
    fn used_datatypes(&self, f: &Function) -> Vec<String> {
        // With MPI_NO_OP these ignore all that is said of the origin.
        let may_ignore = f.name.contains("et_accumulate");
        let has_buffer = f.params.iter().any(|p| p.kind == Kind::Buffer);
        if may_ignore || !has_buffer || f.class == Class::Tool {
            return Vec::new();
        }
        let mut used = Vec::new();
        for (i, p) in f.params.iter().enumerate() {
            match p.kind {
                Kind::Root => used.push(format!("a{i} >= 0")),
                Kind::Source | Kind::Dest | Kind::Target if p.len.is_none() => {
                    used.push(format!("a{i} != A::PROC_NULL"));
                }
                _ => {}
            }
        }
        let datatypes = f.params.iter().enumerate().filter(|(_, p)| {
            let is_datatype = p.kind == Kind::Datatype && p.direction == Direction::In;
            is_datatype && p.len.is_none() && !p.root_only
        });
        datatypes
            .map(|(i, p)| {
                let in_place = p
                    .inplace
                    .map(|buffer| format!("arg::in_place::<A>(a{buffer} as *const c_void) == 0"));
                let conditions: Vec<String> = used.iter().cloned().chain(in_place).collect();
                let define = format!("define::uses_datatype::<A>(t, a{i});");
                match conditions.is_empty() {
                    true => define,
                    false => format!("if {} {{ {define} }}", conditions.join(" && ")),
                }
            })
            .collect()
    }
}

/// Origin of a new communicator: how its members know each other; see `blockfile::define::CommOrigin`.
fn origin(f: &Function) -> &'static str {
    match f.name.as_str() {
        "MPI_Comm_create_group"
        | "MPI_Intercomm_create"
        | "MPI_Comm_create_from_group"
        | "MPI_Intercomm_create_from_groups" => "CommOrigin::ByMembers",
        "MPI_Comm_idup" | "MPI_Comm_idup_with_info" => "CommOrigin::LaterFromParent",
        _ if f.class == Class::Spawn => "CommOrigin::Outside",
        _ => "CommOrigin::FromParent",
    }
}
