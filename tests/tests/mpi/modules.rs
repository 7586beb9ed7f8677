//! The module file that `ci/install` installs, in shells with Lmod and with Environment Modules.

use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tests::{TestFolder, process};

const SOON: Duration = Duration::from_secs(120);

/// What a shell does with the module: the version of the command that it finds, what is preloaded after each word and after the module is
/// unloaded, and where man looks for pages: without MANPATH, and with one of the shell's own.
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
eval libtrace_on
echo "pages: $(manpath -q):"
module unload libtrace
command -v mpitrace || echo gone
echo "unloaded: $LD_PRELOAD"
export MANPATH=/pages
module load libtrace
echo "$MANPATH"
module unload libtrace
echo "$MANPATH"
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
        .env_remove("MANPATH")
        .env_remove("LD_PRELOAD")
        .env("PATH", "/usr/bin:/bin");
    let finished = process::run(&mut shell, SOON);
    let story = finished.story();
    let path = prefix.join("bin/mpitrace").display().to_string();
    let preload = prefix.join("lib/libtrace.so").display().to_string();
    let lines: Vec<&str> = finished.stdout.lines().collect();
    let pages = prefix.join("share/man").display().to_string();
    assert_eq!(lines.len(), 9, "{story}");
    assert_eq!(lines[0], path, "{story}");
    assert!(lines[1].starts_with("mpitrace "), "{story}");
    assert_eq!(lines[2], format!("on: {preload}"), "{story}");
    assert_eq!(lines[3], "off: ", "{story}");
    // The system's own pages are still found beside those of the module.
    if Path::new("/usr/bin/manpath").exists() {
        for place in ["/usr/share/man", &pages] {
            assert!(
                lines[4].contains(&format!("{place}:")),
                "no {place}: {story}"
            );
        }
    }
    assert_eq!(lines[5..7], ["gone", "unloaded: "], "{story}");
    let both = format!("{pages}:/pages");
    assert_eq!(lines[7..], [both.as_str(), "/pages"], "{story}");
}
