//! Comparing each rank's clock with rank 0's: in MPI_Finalize, when the ranks have met, and with `clock-sync twice` in MPI_Init
//! as well. One comparison gives the offset, two give the drift.
//!
//! Rank 0 probes the others one after the other, as MPE does for up to 16 ranks: it sends, the other answers with its time,
//! and the fastest of several rounds counts. A tree, which MPE takes for more ranks, adds up the errors of its levels; a round
//! takes microseconds, so a thousand ranks are done in less than a tenth of a second. Ranks that run under the same kernel
//! as rank 0 read the same clock: they are not probed unless the settings demand it.

use super::failure::ExchangeFailure;
use super::line::Exchange;
use super::meeting;
use super::spread::{ranks, spread};
use super::under_way;
use crate::in_force;
use crate::mpi::world::World;
use crate::platform::clock;
use crate::platform::host;
use crate::platform::job;
use crate::thread::records::put_definition;
use crate::thread::state::Thread;
use blockfile::define::{Definition, Sync};
use settings::ClockSync;

const CLOCK_TAG: i32 = 801;
/// A round trip that is as good as any, ns; with worse ones probing goes on,
const GOOD_ROUND_TRIP_NS: u64 = 20_000;
/// up to so many times the rounds asked for.
const MAX_ROUND_FACTOR: u32 = 20;
/// Said instead of a time when there are no more rounds.
const NO_MORE_ROUNDS: u64 = u64::MAX;

/// Agrees on the ranks whose clocks are compared with rank 0's. Collective.
fn probed(line: &Exchange, world: &World) -> Result<Vec<i32>, ExchangeFailure> {
    let zero = spread(line, world.rank, world.size, boot().to_ne_bytes().to_vec())?;
    let is_probed = match in_force::copy().clock_sync {
        ClockSync::Yes => true,
        ClockSync::No => false,
        ClockSync::Auto | ClockSync::Twice => zero != boot().to_ne_bytes(),
    };
    ranks(line, world.rank, world.size, is_probed)
}

/// A number for the kernel that this process runs under, and for the clock it reads.
fn boot() -> u64 {
    let id = host::boot_id();
    // CLOCK_MONOTONIC can be shifted for a time namespace; the counter cannot.
    let namespace = std::fs::read_link("/proc/self/ns/time").unwrap_or_default();
    let text = format!("{id}{}{:?}", namespace.display(), clock::source());
    job::hash(&text)
}

/// Compares clocks while the program runs: makes the recorder's communicator, if there is none yet. Collective.
///
/// # Errors
/// The ranks have not met, or one does not answer.
pub fn compare_now(t: Option<&mut Thread>, world: &World) -> Result<(), ExchangeFailure> {
    let deadline = in_force::copy().deadline;
    let comm = meeting::meet(deadline, || None::<()>).map_err(|missed| missed.failure())?;
    let compared = compare(t, &Exchange::new(comm, world, deadline), world);
    under_way::release();
    compared
}

/// Compares this rank's clock with rank 0's and writes the result into the thread's block. Collective.
pub fn compare(
    t: Option<&mut Thread>,
    line: &Exchange,
    world: &World,
) -> Result<(), ExchangeFailure> {
    let probed = probed(line, world)?;
    let rounds = in_force::copy().sync_probes.max(1);
    if world.rank != 0 {
        let sync = if probed.contains(&world.rank) {
            answer(line)?
        } else {
            // The same clock: nothing to add, and no doubt about it.
            Sync {
                ticks: clock::now(),
                shift: 0,
                gap: 0,
            }
        };
        if let Some(t) = t {
            put_definition(t, &Definition::Sync(sync));
        }
        return Ok(());
    }
    for rank in probed.into_iter().filter(|&rank| rank != 0) {
        probe(line, rank, rounds)?;
    }
    Ok(())
}

/// Rank 0's part: probes, and tells the best round's result.
fn probe(line: &Exchange, rank: i32, rounds: u32) -> Result<(), ExchangeFailure> {
    line.receive::<8>(rank, CLOCK_TAG)?;
    line.send(rank, CLOCK_TAG, &[0; 8])?;
    let mut best: Option<(u64, i64, u64)> = None;
    // On a busy machine all of a few rounds may have been interrupted.
    let enough = |round, best: Option<(u64, i64, u64)>| {
        round >= rounds && best.is_some_and(|(gap, ..)| gap < GOOD_ROUND_TRIP_NS)
            || round >= MAX_ROUND_FACTOR * rounds
    };
    let mut round = 0;
    while !enough(round, best) {
        round += 1;
        let before = clock::posix(libc::CLOCK_MONOTONIC);
        line.send(rank, CLOCK_TAG, &before.to_ne_bytes())?;
        let answer = line.receive::<16>(rank, CLOCK_TAG)?;
        let after = clock::posix(libc::CLOCK_MONOTONIC);
        let (time, ticks) = answer.split_at(8);
        let time = u64::from_ne_bytes(time.try_into().unwrap_or_default());
        let ticks = u64::from_ne_bytes(ticks.try_into().unwrap_or_default());
        let gap = after - before;
        let shift = (before as i64 + (gap / 2) as i64) - time as i64;
        if best.is_none_or(|(least, ..)| gap < least) {
            best = Some((gap, shift, ticks));
        }
    }
    line.send(rank, CLOCK_TAG, &NO_MORE_ROUNDS.to_ne_bytes())?;
    let (gap, shift, ticks) = best.unwrap_or_default();
    let mut result = [0; 24];
    result[..8].copy_from_slice(&gap.to_ne_bytes());
    result[8..16].copy_from_slice(&shift.to_ne_bytes());
    result[16..].copy_from_slice(&ticks.to_ne_bytes());
    line.send(rank, CLOCK_TAG, &result)
}

/// The part of a rank that is not rank 0: it answers the readings of rank 0.
fn answer(line: &Exchange) -> Result<Sync, ExchangeFailure> {
    line.send(0, CLOCK_TAG, &[0; 8])?;
    line.receive::<8>(0, CLOCK_TAG)?;
    while u64::from_ne_bytes(line.receive::<8>(0, CLOCK_TAG)?) != NO_MORE_ROUNDS {
        let mut answer = [0; 16];
        answer[..8].copy_from_slice(&clock::posix(libc::CLOCK_MONOTONIC).to_ne_bytes());
        answer[8..].copy_from_slice(&clock::now().to_ne_bytes());
        line.send(0, CLOCK_TAG, &answer)?;
    }
    let result = line.receive::<24>(0, CLOCK_TAG)?;
    let word = |i: usize| u64::from_ne_bytes(result[i..i + 8].try_into().unwrap_or_default());
    Ok(Sync {
        ticks: word(16),
        shift: word(8) as i64,
        gap: word(0),
    })
}
