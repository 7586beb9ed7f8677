//! The part of a wrapper that tells whom the call waits for.

use super::wrapper::FunctionWrapper;
use crate::{Direction, Function};
use std::fmt::Write;

impl FunctionWrapper<'_> {
    /// Tells whom the call waits for, for those who look at a program that hangs.
    pub(super) fn wait(&self, s: &mut String) {
        if let Some(wait) = self.function.and_then(Function::waits_on_window) {
            let int = |parameter: Option<usize>| match parameter {
                Some(i) => format!("a{i} as i32"),
                None => "0".to_owned(),
            };
            let group = match wait.group {
                Some(i) => format!("a{i}.bits()"),
                None => "0".to_owned(),
            };
            put!(
                s,
                "    call.waits_on_window(a{}.bits(), {}, {}, {group});",
                wait.window,
                int(wait.target),
                int(wait.lock_type)
            );
            return;
        }
        let Some(wait) = self.function.and_then(Function::waits) else {
            return;
        };
        if let Some(requests) = wait.requests {
            match self.params()[requests].len {
                None => put!(s, "    call.waits_for_request(before{requests});"),
                Some(_) => put!(
                    s,
                    "    call.waits_for_requests(kept.place(before{requests}).cast_const(), before{requests}.len().unwrap_or(0));"
                ),
            }
            return;
        }
        let int = |parameter: Option<usize>| match parameter {
            Some(i) => format!("a{i} as i32"),
            None => "0".to_owned(),
        };
        if let Some(comm) = wait.comm {
            put!(
                s,
                "    call.waits(a{comm}.bits(), {}, {}, {});",
                int(wait.dest),
                int(wait.source),
                int(wait.tag)
            );
        }
        if let Some(tag) = wait.send_tag {
            put!(s, "    call.sends_with_tag(a{tag} as i32);");
        }
        if let Some(object) = wait.object {
            let handle = match self.params()[object].direction {
                Direction::InOut => format!("before{object}"),
                _ => format!("a{object}.bits()"),
            };
            put!(s, "    call.waits_on_object({handle});");
        }
    }
}
