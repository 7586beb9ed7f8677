//! Definitions of processes and their clocks: host and program, servers, loaded objects, clock readings.

use crate::args::ByteCursor;
use crate::payload::{put_text, put_u32, put_u64, text};

/// The process that writes the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessDefinition {
    /// Host name.
    pub host: String,
    /// Program (file name of the executable, without directory).
    pub program: String,
    /// User name.
    pub user: String,
    /// Kernel boot ID: processes with the same one share their clocks.
    pub boot: String,
}

impl ProcessDefinition {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        for s in [&self.host, &self.program, &self.user, &self.boot] {
            put_text(out, s);
        }
    }

    pub(super) fn decode(b: &mut ByteCursor<'_>) -> Option<ProcessDefinition> {
        Some(ProcessDefinition {
            host: text(b)?,
            program: text(b)?,
            user: text(b)?,
            boot: text(b)?,
        })
    }
}

/// A process or device whose operations are recorded and that is no rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerDefinition {
    /// Kind of server.
    pub role: ServerKind,
    /// Number among the servers of the same role.
    pub number: u32,
    /// Directory, address or device.
    pub name: String,
}

/// Kind of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub enum ServerKind {
    /// The I/O server that programs see as a file system.
    #[default]
    FrontEnd = 1,
    /// A data server to which the I/O server passes parts of requests.
    DataServer = 2,
    /// A block device.
    Device = 3,
}

impl ServerDefinition {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_u32(out, self.role as u32);
        put_u32(out, self.number);
        put_text(out, &self.name);
    }

    pub(super) fn decode(b: &mut ByteCursor<'_>) -> Option<ServerDefinition> {
        Some(ServerDefinition {
            role: match b.u32()? {
                1 => ServerKind::FrontEnd,
                2 => ServerKind::DataServer,
                3 => ServerKind::Device,
                _ => return None,
            },
            number: b.u32()?,
            name: text(b)?,
        })
    }
}

/// The program or a shared object, as it is loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Absolute path.
    pub path: String,
    /// Load bias: an address in memory minus the address in the file.
    pub base: u64,
    /// First executable address in memory.
    pub start: u64,
    /// Address after the last executable one.
    pub end: u64,
    /// GNU build ID; empty if it has none.
    pub build: Vec<u8>,
}

impl Module {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_text(out, &self.path);
        for v in [self.base, self.start, self.end] {
            put_u64(out, v);
        }
        put_u32(out, self.build.len() as u32);
        out.extend_from_slice(&self.build);
    }

    pub(super) fn decode(b: &mut ByteCursor<'_>) -> Option<Module> {
        Some(Module {
            path: text(b)?,
            base: b.u64()?,
            start: b.u64()?,
            end: b.u64()?,
            build: b.string()??.to_vec(),
        })
    }
}

/// All clocks read at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockReading {
    /// Ticks of the record clock.
    pub ticks: u64,
    /// CLOCK_MONOTONIC, ns.
    pub monotonic: u64,
    /// CLOCK_REALTIME, ns since the epoch.
    pub realtime: u64,
    /// CLOCK_PROCESS_CPUTIME_ID, ns.
    pub cpu: u64,
}

impl ClockReading {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        for v in [self.ticks, self.monotonic, self.realtime, self.cpu] {
            put_u64(out, v);
        }
    }

    pub(super) fn decode(b: &mut ByteCursor<'_>) -> Option<ClockReading> {
        Some(ClockReading {
            ticks: b.u64()?,
            monotonic: b.u64()?,
            realtime: b.u64()?,
            cpu: b.u64()?,
        })
    }
}

/// One comparison of this rank's clock with rank 0's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sync {
    /// Ticks of this rank's clock at the comparison.
    pub ticks: u64,
    /// Offset of rank 0's clock: its time minus this rank's time, ns.
    pub shift: i64,
    /// Round-trip time of the probe, ns: the error is at most half of it.
    pub gap: u64,
}

impl Sync {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_u64(out, self.ticks);
        put_u64(out, self.shift as u64);
        put_u64(out, self.gap);
    }

    pub(super) fn decode(b: &mut ByteCursor<'_>) -> Option<Sync> {
        Some(Sync {
            ticks: b.u64()?,
            shift: b.i64()?,
            gap: b.u64()?,
        })
    }
}
