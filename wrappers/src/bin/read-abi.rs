//! Writes the facts about the MPI libraries of one binary interface, `wrappers/abi/*.abi`, from installed headers and libraries.
//!
//! ```text
//! read-abi MPICC...     compiler wrappers of libraries of one interface, the oldest version first
//! ```
//!
//! The file is printed. A constant on which the libraries differ is an error: no file of facts holds for both.

use std::collections::BTreeMap;
use std::error::Error;
use wrappers::abi::AbiFacts;
use wrappers::header;

fn main() -> Result<(), Box<dyn Error>> {
    let wrappers: Vec<String> = std::env::args().skip(1).collect();
    if wrappers.is_empty() {
        return Err("read-abi: compiler wrappers are expected, as mpicc.mpich".into());
    }
    let table = wrappers::table()?;
    let out = tempfile::tempdir()?;
    let mut all = Vec::new();
    for mpicc in &wrappers {
        all.push(header::read(mpicc)?.facts(mpicc, table, out.path())?);
    }
    let merged = merged(&all)?;
    println!(
        "# What the MPI libraries of one binary interface have in common; wrappers/src/abi.rs tells what the lines mean.\n\
         # Written by `cargo run -p wrappers --features header --bin read-abi`, not by hand.\n{merged}",
    );
    Ok(())
}

/// The facts about several libraries of one interface.
fn merged(all: &[AbiFacts]) -> Result<AbiFacts, Box<dyn Error>> {
    let mut merged = all[0].clone();
    let mut lacking: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    merged.lacking.clear();
    for (facts, number) in all.iter().zip(1..) {
        if (facts.abi, facts.status) != (merged.abi, merged.status) {
            return Err(format!("{:?} is of another interface", facts.headers).into());
        }
        if number > 1 {
            merged.headers.extend_from_slice(&facts.headers);
            join(&mut merged.addresses, &facts.addresses)?;
            join(&mut merged.handles, &facts.handles)?;
            join(&mut merged.datatypes, &facts.datatypes)?;
            join(&mut merged.integers, &facts.integers)?;
            for library in &facts.libraries {
                if !merged.libraries.contains(library) {
                    merged.libraries.push(library.clone());
                }
            }
            for (extension, _) in &facts.extensions {
                match merged.extensions.iter_mut().find(|(e, _)| e == extension) {
                    Some((_, headers)) => headers.push(number),
                    None => merged.extensions.push((extension.clone(), vec![number])),
                }
            }
        }
        for (name, _) in &facts.lacking {
            lacking.entry(name.clone()).or_default().push(number);
        }
    }
    merged.lacking = lacking.into_iter().collect();
    Ok(merged)
}

/// Adds the constants of another library, whose values must be the same.
fn join<T: Clone + PartialEq + std::fmt::Debug>(
    known: &mut Vec<(String, T)>,
    others: &[(String, T)],
) -> Result<(), Box<dyn Error>> {
    for (name, value) in others {
        match known.iter().find(|(known, _)| known == name) {
            Some((_, other)) if other == value => {}
            Some((_, other)) => return Err(format!("{name} is {other:?} and {value:?}").into()),
            None => known.push((name.clone(), value.clone())),
        }
    }
    Ok(())
}
