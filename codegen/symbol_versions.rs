//! Has `libtrace.so` ask for no newer symbols of the C library than an old one has (`symbol_versions.c` tells how). Archives need nothing:
//! `libtrace.a` is linked with the C library of the program.

use std::error::Error;
use std::path::Path;
use std::process::Command;

/// The C compiler: `$CC`, else what cargo links with where the recorder is made for another machine than this one, else `cc`.
fn compiler() -> String {
    let named = |name: &str| std::env::var(name).ok();
    let is_foreign = named("HOST") != named("TARGET");
    let linker = named("RUSTC_LINKER").filter(|_| is_foreign);
    named("CC").or(linker).unwrap_or_else(|| "cc".to_owned())
}

/// Compiles `symbol_versions.c` and tells the linker of `libtrace.so`.
pub fn ask_for_oldest(out: &Path) -> Result<(), Box<dyn Error>> {
    let source = include_str!("symbol_versions.c");
    let object = out.join("symbol_versions.o");
    let compiler = compiler();
    let done = Command::new(&compiler)
        .args([
            "-c",
            "-O2",
            "-fPIC",
            "-fno-lto",
            "codegen/symbol_versions.c",
            "-o",
        ])
        .arg(&object)
        .status()?;
    if !done.success() {
        return Err(format!("{compiler} cannot compile codegen/symbol_versions.c").into());
    }
    let wrapped = (source.lines())
        .filter_map(|line| {
            ["FORWARD(", "STAT(", "CALL(", "SUBSTITUTE("]
                .iter()
                .find_map(|macro_name| line.strip_prefix(macro_name))
        })
        .filter_map(|rest| rest.split([',', ')']).next());
    for name in wrapped {
        println!("cargo::rustc-link-arg-cdylib=-Wl,--wrap={name}");
    }
    println!("cargo::rustc-link-arg-cdylib={}", object.display());
    // Libraries that had the functions before glibc 2.34; since then empty, loaded for their names only.
    println!(
        "cargo::rustc-link-arg-cdylib=-Wl,--push-state,--no-as-needed,-l:libpthread.so.0,-l:libdl.so.2,--pop-state"
    );
    Ok(())
}
