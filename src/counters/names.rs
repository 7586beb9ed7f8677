//! Names of performance counters: what `perf list` calls them, and PAPI's presets as far as every kernel has a counter for them.

use super::usage::Usage;

/// Event that the kernel counts (perf_event_open).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerfEvent {
    /// `type` of perf_event_open.
    pub kind: u32,
    /// `config` of perf_event_open.
    pub config: u64,
    /// Not what happens in the kernel.
    pub user_only: bool,
    /// Substitute counter if perf_event_open is forbidden.
    pub usage: Option<Usage>,
}

const HARDWARE: u32 = 0;
/// Counted by the kernel itself.
pub const SOFTWARE: u32 = 1;
const CACHE: u32 = 3;
const RAW: u32 = 4;

/// PERF_COUNT_HW_*, with PAPI's names.
const HARDWARE_NAMES: &[(u64, &[&str])] = &[
    (
        0,
        &[
            "cycles",
            "cpu-cycles",
            "PAPI_TOT_CYC",
            "perf_count_hw_cpu_cycles",
        ],
    ),
    (
        1,
        &["instructions", "PAPI_TOT_INS", "perf_count_hw_instructions"],
    ),
    (
        2,
        &[
            "cache-references",
            "PAPI_L3_TCA",
            "perf_count_hw_cache_references",
        ],
    ),
    (
        3,
        &["cache-misses", "PAPI_L3_TCM", "perf_count_hw_cache_misses"],
    ),
    (
        4,
        &[
            "branches",
            "branch-instructions",
            "PAPI_BR_INS",
            "perf_count_hw_branch_instructions",
        ],
    ),
    (
        5,
        &[
            "branch-misses",
            "PAPI_BR_MSP",
            "perf_count_hw_branch_misses",
        ],
    ),
    (6, &["bus-cycles", "perf_count_hw_bus_cycles"]),
    (
        7,
        &[
            "stalled-cycles-frontend",
            "idle-cycles-frontend",
            "perf_count_hw_stalled_cycles_frontend",
        ],
    ),
    (
        8,
        &[
            "stalled-cycles-backend",
            "idle-cycles-backend",
            "PAPI_RES_STL",
            "perf_count_hw_stalled_cycles_backend",
        ],
    ),
    (
        9,
        &["ref-cycles", "PAPI_REF_CYC", "perf_count_hw_ref_cpu_cycles"],
    ),
];

/// PERF_COUNT_SW_*.
const SOFTWARE_NAMES: &[(u64, Option<Usage>, &[&str])] = &[
    (
        0,
        Some(Usage::CpuTime),
        &["cpu-clock", "perf_count_sw_cpu_clock"],
    ),
    (
        1,
        Some(Usage::CpuTime),
        &["task-clock", "perf_count_sw_task_clock"],
    ),
    (
        2,
        Some(Usage::Faults),
        &["page-faults", "faults", "perf_count_sw_page_faults"],
    ),
    (
        3,
        Some(Usage::Switches),
        &["context-switches", "cs", "perf_count_sw_context_switches"],
    ),
    (
        4,
        None,
        &[
            "cpu-migrations",
            "migrations",
            "perf_count_sw_cpu_migrations",
        ],
    ),
    (
        5,
        Some(Usage::MinorFaults),
        &["minor-faults", "perf_count_sw_page_faults_min"],
    ),
    (
        6,
        Some(Usage::MajorFaults),
        &["major-faults", "perf_count_sw_page_faults_maj"],
    ),
    (
        7,
        None,
        &["alignment-faults", "perf_count_sw_alignment_faults"],
    ),
    (
        8,
        None,
        &["emulation-faults", "perf_count_sw_emulation_faults"],
    ),
];

/// Caches by their names in `perf list`.
const CACHES: &[&str] = &[
    "L1-dcache",
    "L1-icache",
    "LLC",
    "dTLB",
    "iTLB",
    "branch",
    "node",
];

/// Accesses to a cache: name, operation and result.
const ACCESSES: &[(&str, u64, u64)] = &[
    ("loads", 0, 0),
    ("load-misses", 0, 1),
    ("stores", 1, 0),
    ("store-misses", 1, 1),
    ("prefetches", 2, 0),
    ("prefetch-misses", 2, 1),
];

/// PAPI's presets that are counters of caches.
const PRESETS: &[(&str, &str)] = &[
    ("PAPI_L1_DCA", "L1-dcache-loads"),
    ("PAPI_L1_DCM", "L1-dcache-load-misses"),
    ("PAPI_L1_LDM", "L1-dcache-load-misses"),
    ("PAPI_L1_STM", "L1-dcache-store-misses"),
    ("PAPI_L1_ICM", "L1-icache-load-misses"),
    ("PAPI_L3_LDM", "LLC-load-misses"),
    ("PAPI_L3_STM", "LLC-store-misses"),
    ("PAPI_TLB_DM", "dTLB-load-misses"),
    ("PAPI_TLB_IM", "iTLB-load-misses"),
];

/// The counter of this name; `None` if there is none. Upper and lower case are the same, `perf::` may stand before it, `:u` behind it
/// leaves out what happens in the kernel.
pub fn event(name: &str) -> Option<PerfEvent> {
    let name = match name.get(..6) {
        Some(prefix) if prefix.eq_ignore_ascii_case("perf::") => &name[6..],
        _ => name,
    };
    let (name, user_only) = match name.strip_suffix(":u") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let is = |other: &&str| name.eq_ignore_ascii_case(other);
    let new = |kind, config, usage: Option<Usage>| {
        Some(PerfEvent {
            kind,
            config,
            user_only,
            // It cannot tell the kernel's part apart.
            usage: usage.filter(|_| !user_only),
        })
    };
    if let Some((config, _)) = HARDWARE_NAMES.iter().find(|(_, n)| n.iter().any(is)) {
        return new(HARDWARE, *config, None);
    }
    if let Some((config, usage, _)) = SOFTWARE_NAMES.iter().find(|(.., n)| n.iter().any(is)) {
        return new(SOFTWARE, *config, *usage);
    }
    let name = PRESETS
        .iter()
        .find(|(preset, _)| is(preset))
        .map_or(name, |(_, cache)| cache);
    if let Some(digits) = name.strip_prefix(['r', 'R'])
        && !digits.is_empty()
        && let Ok(config) = u64::from_str_radix(digits, 16)
    {
        return new(RAW, config, None);
    }
    let (cache, rest) = (0..).zip(CACHES).find_map(|(number, cache)| {
        let head = name.get(..cache.len())?;
        let rest = name.get(cache.len()..)?.strip_prefix('-')?;
        head.eq_ignore_ascii_case(cache).then_some((number, rest))
    })?;
    let (_, operation, result) = ACCESSES
        .iter()
        .find(|(access, ..)| rest.eq_ignore_ascii_case(access))?;
    new(CACHE, cache | operation << 8 | result << 16, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_perf_and_papi_are_known() {
        let is = |name: &str| event(name).map(|e| (e.kind, e.config, e.user_only));
        assert_eq!(is("PAPI_TOT_CYC"), Some((HARDWARE, 0, false)));
        assert_eq!(is("papi_br_msp"), is("branch-misses"));
        assert_eq!(is("instructions:u"), Some((HARDWARE, 1, true)));
        assert_eq!(is("perf::PERF_COUNT_SW_PAGE_FAULTS"), is("page-faults"));
        assert_eq!(is("cs"), Some((SOFTWARE, 3, false)));
        assert_eq!(is("PAPI_L1_DCM"), Some((CACHE, 0x1_0000, false)));
        assert_eq!(is("dTLB-store-misses"), Some((CACHE, 0x1_0103, false)));
        assert_eq!(is("r01C2"), Some((RAW, 0x1C2, false)));
        for wrong in [
            "",
            "r",
            "rxyz",
            "PAPI_FP_OPS",
            "L1-dcache",
            "LLC-",
            "perf::",
            "page faults",
        ] {
            assert_eq!(is(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_getrusage_knows_is_known_to_be_so() {
        assert_eq!(event("faults").and_then(|e| e.usage), Some(Usage::Faults));
        assert_eq!(event("faults:u").and_then(|e| e.usage), None);
        assert_eq!(event("cpu-migrations").and_then(|e| e.usage), None);
    }
}
