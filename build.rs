//! Makes the wrappers from the function table and the facts about the binary interfaces of MPI. Needs a C compiler, and no MPI.
//!
//! With the feature `site`, the facts about the interface of one MPI library are read from that library's own `mpi.h`, which `$MPICC`
//! (else `mpicc`) finds: it may declare functions that the facts in the tree do not have. That needs libclang.

#[path = "codegen/symbol_versions.rs"]
mod symbol_versions;

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use wrappers::abi::{AbiFacts, MpiAbi, abi_facts};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=codegen");
    println!("cargo::rerun-if-changed=build.rs");
    refuse_others()?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let table = wrappers::table()?;
    let facts: Result<Vec<AbiFacts>, _> = MpiAbi::ALL.into_iter().map(abi_facts).collect();
    let mut facts = facts?;
    of_site(&mut facts, table, &out)?;
    let generated = wrappers::generate::generate(table, &facts);
    symbol_versions::ask_for_oldest(&out)?;
    // The table of the exported functions is right as it is linked: else each process would look up all of them when it starts.
    println!("cargo::rustc-link-arg-cdylib=-Wl,-Bsymbolic-functions");
    fs::write(out.join("functions.rs"), &generated.functions)?;
    fs::write(out.join("constants.rs"), &generated.constants)?;
    fs::write(out.join("pmpi.rs"), &generated.pmpi)?;
    fs::write(out.join("wrappers.rs"), &generated.wrappers)?;
    fs::write(out.join("exports.rs"), &generated.exports)?;
    Ok(())
}

/// Refuses processors that the recorder has no assembler for.
fn refuse_others() -> Result<(), Box<dyn Error>> {
    let of_target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let (processor, endian, width) = (
        of_target("ARCH"),
        of_target("ENDIAN"),
        of_target("POINTER_WIDTH"),
    );
    let is_known = matches!(processor.as_str(), "x86_64" | "aarch64");
    if is_known && endian == "little" && width == "64" {
        return Ok(());
    }
    let text = "the recorder is made for x86-64 and little-endian aarch64, 64 bits wide; this is";
    Err(format!("{text} {processor}, {endian}-endian, {width} bits wide").into())
}

/// Puts the facts about the site's own MPI library in the place of those about libraries of the same interface, and keeps the
/// extensions that those have.
#[cfg(feature = "site")]
fn of_site(
    facts: &mut [AbiFacts],
    table: &wrappers::Table,
    out: &Path,
) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=MPICC");
    let mpicc = wrappers::header::mpicc();
    let mut site = wrappers::header::read(&mpicc)?.facts(&mpicc, table, out)?;
    for (unknown, _) in site
        .extensions
        .iter()
        .filter(|(e, _)| !e.name.starts_with("MPIX_"))
    {
        println!(
            "cargo::warning={}: not in the function table, or declared otherwise there: recorded by name only",
            unknown.name
        );
    }
    let place = facts.iter_mut().find(|known| known.abi == site.abi);
    if let Some(place) = place {
        let known = std::mem::take(&mut place.extensions);
        let is_news = |name: &str| site.extensions.iter().all(|(e, _)| e.name != name);
        let kept: Vec<_> = known
            .into_iter()
            .filter(|(e, _)| is_news(&e.name))
            .collect();
        site.extensions.extend(kept);
        *place = site;
    }
    Ok(())
}

/// Nothing: the recorder is made for the libraries that the facts in the tree are about.
#[cfg(not(feature = "site"))]
fn of_site(_: &mut [AbiFacts], _: &wrappers::Table, _: &Path) -> Result<(), Box<dyn Error>> {
    Ok(())
}
