//! Makes the wrappers for the `mpi.h` that `$MPICC` (else `mpicc`) finds, and asks that MPI library's headers for the values
//! of its constants. Needs libclang and a compiler wrapper; links no MPI.

#[path = "codegen/constants.rs"]
mod constants;
#[path = "codegen/symbol_versions.rs"]
mod symbol_versions;

use std::env;
use std::error::Error;
use std::fs;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=MPICC");
    println!("cargo::rerun-if-changed=codegen");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mpicc = wrappers::header::mpicc();
    let table = wrappers::table()?;
    let header = wrappers::header::read(&mpicc)?;
    let generated = wrappers::generate::generate(&table, &header);
    // What the table lacks is recorded by name only; whoever builds is told, because the table should have it.
    let unknown: Vec<&String> = generated
        .unknown
        .iter()
        .filter(|name| !name.starts_with("MPIX_"))
        .collect();
    if !unknown.is_empty() {
        println!("cargo::warning=not in the function table, recorded by name only: {unknown:?}");
    }
    for misfit in &generated.misfits {
        println!(
            "cargo::warning=declared otherwise than in the function table, recorded by name only: {misfit}"
        );
    }
    println!("cargo::rustc-check-cfg=cfg(large_counts)");
    let declares = |name: &str| header.functions.iter().any(|f| f.name == name);
    if declares("MPI_Type_get_envelope_c") && declares("MPI_Type_get_contents_c") {
        println!("cargo::rustc-cfg=large_counts");
    }
    println!("cargo::rustc-check-cfg=cfg(sessions)");
    if declares("MPI_Session_init") && declares("MPI_Group_from_session_pset") {
        println!("cargo::rustc-cfg=sessions");
    }
    symbol_versions::ask_for_oldest(&mpicc, &out)?;
    fs::write(out.join("mpi.rs"), &header.types)?;
    fs::write(out.join("functions.rs"), &generated.functions)?;
    fs::write(out.join("pmpi.rs"), &generated.pmpi)?;
    fs::write(out.join("wrappers.rs"), &generated.wrappers)?;
    fs::write(out.join("exports.rs"), &generated.exports)?;
    fs::write(
        out.join("constants.rs"),
        constants::read(&mpicc, &out, &header.constants)?,
    )?;
    Ok(())
}
