//! Marks that the recorder puts into a log, so that logs of several worlds can be joined: when and where the run was, and
//! which communicators reach beyond its MPI_COMM_WORLD. Both stand where other readers look for nothing: in the names of
//! constants, and in the processor field of global ids.

use crate::clog2::{Clog2ConstDef, Gid};

/// Time and machine of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunOrigin {
    /// The log's time zero: CLOCK_MONOTONIC of rank 0, ns.
    pub zero: i64,
    /// Time zero of the log, ns since the epoch.
    pub since_epoch: i64,
    /// The kernel that rank 0 ran under, as a number: logs with the same one have one clock.
    pub boot: u64,
    /// Identity of the run.
    pub run: u64,
}

/// Prefixes of the names of these constants.
const KEYS: [&str; 4] = ["trace.zero=", "trace.epoch=", "trace.boot=", "trace.run="];

impl RunOrigin {
    /// The names of the constants that hold it.
    pub fn names(&self) -> [String; 4] {
        let values = [
            self.zero as u64,
            self.since_epoch as u64,
            self.boot,
            self.run,
        ];
        let mut values = values.into_iter();
        KEYS.map(|key| format!("{key}{:016x}", values.next().unwrap_or(0)))
    }

    /// Whether a constant is one of those that hold this, and none of MPI's.
    pub fn is_part(constant: &Clog2ConstDef) -> bool {
        let name = constant.name.to_str();
        KEYS.iter().any(|key| name.starts_with(key))
    }

    /// Takes a constant in, if it holds something of this.
    pub(super) fn take(&mut self, constant: &Clog2ConstDef) {
        let name = constant.name.to_str();
        let value = |key: &str| u64::from_str_radix(name.strip_prefix(key)?, 16).ok();
        let [zero, since_epoch, boot, run] = KEYS.map(value);
        self.zero = zero.map_or(self.zero, |v| v as i64);
        self.since_epoch = since_epoch.map_or(self.since_epoch, |v| v as i64);
        self.boot = boot.unwrap_or(self.boot);
        self.run = run.unwrap_or(self.run);
    }
}

/// Prefix of the name of the constant that tells how many message endpoints are not in the log.
const UNMATCHED_ENDPOINTS: &str = "trace.halves=";

/// The name of the constant that says that so many message endpoints are not in the log, because their other halves were left out
/// or may have been.
pub fn unmatched_endpoints_name(n: u64) -> String {
    format!("{UNMATCHED_ENDPOINTS}{n:016x}")
}

/// Number of unmatched message endpoints in a constant of this kind; `None` for another constant.
pub fn unmatched_endpoints(constant: &Clog2ConstDef) -> Option<u64> {
    let name = constant.name.to_str();
    u64::from_str_radix(name.strip_prefix(UNMATCHED_ENDPOINTS)?, 16).ok()
}

/// Prefix of the name of the constant that tells how late sends were whose receives were moved after them.
const LATE_MESSAGES: &str = "trace.late=";

/// The name of the constant that says that messages arrived before they were sent, at most by so many ns, and were put right.
pub fn late_messages_name(ns: u64) -> String {
    format!("{LATE_MESSAGES}{ns:016x}")
}

/// Number of late messages in a constant of this kind; `None` for another constant.
pub fn late_messages(constant: &Clog2ConstDef) -> Option<u64> {
    let name = constant.name.to_str();
    u64::from_str_radix(name.strip_prefix(LATE_MESSAGES)?, 16).ok()
}

/// Beginning of the processor field of the global id of a communicator that has members outside MPI_COMM_WORLD.
const CROSSING: &str = "lx";
/// Beginning of the processor field of the global id that stands for the remote group of an intercommunicator across worlds.
const REMOTE: &str = "lr";

/// The global id of a communicator that has members outside MPI_COMM_WORLD. It tells how many processes are in it on either
/// side of the border, those of this world first (of an intercommunicator, of the local and of the remote group).
pub fn crossing_gid(random: i32, time: f64, [own, other]: [usize; 2], more: u32) -> Gid {
    let text = format!("{CROSSING}{own:x}+{other:x}.{:06x}", more & 0xff_ffff);
    Gid::new(random, time, text.as_bytes())
}

/// The global id of the remote group of an intercommunicator that crosses the border.
pub fn remote_of(gid: &Gid) -> Gid {
    let mut remote = *gid;
    for (to, from) in remote.0[12..].iter_mut().zip(REMOTE.bytes()) {
        *to = from;
    }
    remote
}

/// Number of processes of a communicator inside and outside its own MPI_COMM_WORLD, in this order; `None` if
/// its global id is not that of one that crosses the border.
pub fn across_border(gid: &Gid) -> Option<[u32; 2]> {
    let text = std::str::from_utf8(gid.processor()).ok()?;
    let (sizes, _) = text.strip_prefix(CROSSING)?.split_once('.')?;
    let (own, other) = sizes.split_once('+')?;
    let size = |text| u32::from_str_radix(text, 16).ok();
    Some([size(own)?, size(other)?])
}

/// Whether this is the global id of the remote group of an intercommunicator that crosses the border.
pub fn is_beyond(gid: &Gid) -> bool {
    gid.processor().starts_with(REMOTE.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clog2::FixedText;

    #[test]
    fn what_is_put_into_names_comes_out_again() {
        let origin = RunOrigin {
            zero: -5,
            since_epoch: i64::MAX,
            boot: u64::MAX,
            run: 1,
        };
        let mut back = RunOrigin::default();
        for name in origin.names() {
            assert!(name.len() < 32, "{name}");
            let name = FixedText::new(&name);
            let (etype, value) = (-201, 0);
            let constant = Clog2ConstDef { etype, value, name };
            assert!(RunOrigin::is_part(&constant));
            back.take(&constant);
        }
        assert_eq!(back, origin);
        let gid = crossing_gid(-7, 2.5, [0xf_ffff, 0x1f], u32::MAX);
        assert_eq!(across_border(&gid), Some([0xf_ffff, 0x1f]));
        let remote = remote_of(&gid);
        assert!(is_beyond(&remote) && !is_beyond(&gid));
        assert_eq!(across_border(&remote), None);
        assert_eq!((remote.random(), remote.time()), (-7, 2.5));
    }
}
