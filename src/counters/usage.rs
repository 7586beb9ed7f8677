//! Counters of getrusage(2) for a thread, where perf_event_open(2) is forbidden, as in many containers.

/// A counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// Processor time, ns.
    CpuTime,
    /// Page faults.
    Faults,
    /// Page faults that needed no reading from a device.
    MinorFaults,
    /// Page faults that needed a reading from a device.
    MajorFaults,
    /// Context switches, voluntary and other ones.
    Switches,
}

/// All of the running thread at one moment.
pub struct UsageReading(libc::rusage);

impl UsageReading {
    /// Now. A system call.
    pub fn now() -> UsageReading {
        // SAFETY: plain numbers, for which zero is valid; the system call fills them.
        unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
            UsageReading(usage)
        }
    }

    /// One of them.
    pub fn get(&self, which: Usage) -> i64 {
        let u = &self.0;
        match which {
            Usage::CpuTime => {
                let ns = |t: libc::timeval| t.tv_sec * 1_000_000_000 + t.tv_usec * 1000;
                ns(u.ru_utime) + ns(u.ru_stime)
            }
            Usage::Faults => u.ru_minflt + u.ru_majflt,
            Usage::MinorFaults => u.ru_minflt,
            Usage::MajorFaults => u.ru_majflt,
            Usage::Switches => u.ru_nvcsw + u.ru_nivcsw,
        }
    }
}
