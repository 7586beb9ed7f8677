//! Distribution of data to all ranks: up the tree to rank 0, and down again.

use super::failure::ExchangeFailure;
use super::line::Exchange;
use super::tree::{children, parent};

/// Tag of messages to the parent.
pub const UP_TAG: i32 = 701;
/// Tag of messages to the children.
const DOWN_TAG: i32 = 702;

/// Gives every rank what rank 0 has. Collective.
pub fn spread(
    line: &Exchange,
    rank: i32,
    size: i32,
    bytes: Vec<u8>,
) -> Result<Vec<u8>, ExchangeFailure> {
    let bytes = match parent(rank) {
        None => bytes,
        Some(up) => line.receive_all(up, DOWN_TAG)?,
    };
    for child in children(rank, size) {
        line.send_all(child, DOWN_TAG, &bytes)?;
    }
    Ok(bytes)
}

/// Tells every rank why one of them cannot go on, if one cannot. Collective.
pub fn any_failure(
    line: &Exchange,
    rank: i32,
    size: i32,
    own: Result<(), String>,
) -> Result<Option<String>, ExchangeFailure> {
    let mut why = own.err().unwrap_or_default().into_bytes();
    for child in children(rank, size) {
        let theirs = line.receive_all(child, UP_TAG)?;
        if why.is_empty() {
            why = theirs;
        }
    }
    if let Some(up) = parent(rank) {
        line.send_all(up, UP_TAG, &why)?;
    }
    let why = spread(line, rank, size, why)?;
    Ok((!why.is_empty()).then(|| String::from_utf8_lossy(&why).into_owned()))
}

/// Gives every rank the list of the ranks for which `is_one` holds, in ascending order. Collective.
pub fn ranks(
    line: &Exchange,
    rank: i32,
    size: i32,
    is_one: bool,
) -> Result<Vec<i32>, ExchangeFailure> {
    let mut all: Vec<u8> = Vec::new();
    if is_one {
        all.extend(rank.to_ne_bytes());
    }
    for child in children(rank, size) {
        all.extend(line.receive_all(child, UP_TAG)?);
    }
    if let Some(up) = parent(rank) {
        line.send_all(up, UP_TAG, &all)?;
    }
    let all = spread(line, rank, size, all)?;
    let (numbers, _) = all.as_chunks::<4>();
    let mut ranks: Vec<i32> = numbers.iter().map(|n| i32::from_ne_bytes(*n)).collect();
    ranks.sort_unstable();
    Ok(ranks)
}
