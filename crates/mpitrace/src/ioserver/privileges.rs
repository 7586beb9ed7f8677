//! Setuid and setgid bits of files that others write to. The system takes them away when somebody without CAP_FSETID writes
//! to a file or cuts it (setgid, where the group may not execute: when it is somebody outside of the group). A server of
//! root's writes for others: its threads have the capability only while they work for root, and the group of whom they work
//! for.

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use std::cell::Cell;

thread_local! {
    /// Whether this thread has the capability, if the process has it at all.
    static KEEPS_BITS: Cell<bool> = const { Cell::new(true) };
    /// The group whose this thread is for the system's files, where it is not the process's.
    static GROUP: Cell<Option<u32>> = const { Cell::new(None) };
}

/// The process leaves all groups but its main one: they are not those of whom it works for. Root needs none.
pub fn leave_groups() {
    if rustix::process::geteuid().is_root() {
        // SAFETY: an empty list is read. Where the system forbids it, fewer setgid bits are taken away.
        let _ = unsafe { libc::setgroups(0, std::ptr::null()) };
    }
}

/// Makes this thread act with the rights of a user and a group from now on.
pub fn act_for(user: u32, group: u32) {
    keep_bits(user == 0);
    if GROUP.replace(Some(group)) != Some(group) && rustix::process::geteuid().is_root() {
        // SAFETY: changes a number of this thread.
        unsafe { libc::setfsgid(group) };
    }
}

/// Does what sets bits: whether the user may, the kernel has found out before it asked.
pub fn with_bits<T>(act: impl FnOnce() -> T) -> T {
    let before = KEEPS_BITS.get();
    keep_bits(true);
    let result = act();
    keep_bits(before);
    result
}

fn keep_bits(keep: bool) {
    if KEEPS_BITS.get() == keep {
        return;
    }
    let changed = capabilities(None).and_then(|sets| {
        let mut effective = sets.effective;
        let may = sets.permitted.contains(CapabilitySet::FSETID);
        effective.set(CapabilitySet::FSETID, keep && may);
        set_capabilities(None, CapabilitySets { effective, ..sets })
    });
    if changed.is_ok() {
        KEEPS_BITS.set(keep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_the_capability_for_root_only() {
        let has = || {
            let sets = capabilities(None).unwrap();
            sets.effective.contains(CapabilitySet::FSETID)
        };
        let at_first = has();
        act_for(1000, 1000);
        assert!(!has());
        assert_eq!(with_bits(has), at_first);
        assert!(!has());
        act_for(0, 0);
        assert_eq!(has(), at_first);
    }
}
