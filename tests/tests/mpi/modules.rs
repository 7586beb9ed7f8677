//! The module file that `ci/install` installs, in shells with Lmod and with Environment Modules.

use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tests::{TestFolder, process};

const SOON: Duration = Duration::from_secs(120);

/// What a shell does with the module: the version of the command that it finds, and what is preloaded after each word.
const SCRIPT: &str = r#"
shopt -s expand_aliases
module use "$PREFIX/share/modulefiles"
module load libtrace
command -v mpitrace
mpitrace --version
eval libtrace_on
echo "on: $LD_PRELOAD"
eval libtrace_off
echo "off: $LD_PRELOAD"
module unload libtrace
command -v mpitrace || echo gone
"#;

#[test]
fn the_module_is_loaded_and_preloads_only_if_told() {
    let folder = TestFolder::new("module");
    let prefix = folder.path().join("libtrace");
    let mut install = tests::install();
    process::run(install.arg(&prefix), SOON).succeeded();
    // Debian lets only one of them be installed.
    let systems = [
        "/usr/share/lmod/lmod/init/bash",
        "/usr/share/modules/init/bash",
    ];
    let Some(init) = systems.iter().find(|init| Path::new(init).exists()) else {
        return tests::skip("neither Lmod nor Environment Modules is installed");
    };
    let mut shell = Command::new("bash");
    shell
        .args(["--norc", "-c", &format!("source {init}\n{SCRIPT}")])
        .env("PREFIX", &prefix)
        .env_remove("MODULEPATH")
        .env("PATH", "/usr/bin:/bin");
    let finished = process::run(&mut shell, SOON);
    let story = finished.story();
    let path = prefix.join("bin/mpitrace").display().to_string();
    let preload = prefix.join("lib/libtrace.so").display().to_string();
    let lines: Vec<&str> = finished.stdout.lines().collect();
    assert_eq!(lines.len(), 5, "{story}");
    assert_eq!(lines[0], path, "{story}");
    assert!(lines[1].starts_with("mpitrace "), "{story}");
    assert_eq!(lines[2], format!("on: {preload}"), "{story}");
    assert_eq!(lines[3..], ["off: ", "gone"], "{story}");
}
