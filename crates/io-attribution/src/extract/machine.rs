//! Identity of machines: processes with the same one ran on the same machine.

use unify::scan::Scan;

/// A number for a machine and its boot; 0 if it is not known.
pub(super) fn machine_number(scan: &Scan) -> u64 {
    let process = scan.library.process();
    if process.boot.is_empty() {
        return 0;
    }
    // FNV-1a: equal in all processes, unlike the hashes of maps.
    process.boot.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, b| {
        (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3)
    })
}
