//! Settings: the input is a configuration file, `TRACE_SETTINGS`, and the value of a variable, parted by bytes 0x1E. Whatever
//! they say, complaints are lines for a terminal, and the settings in force survive their way to the other ranks.
#![no_main]

use libfuzzer_sys::fuzz_target;
use settings::{OPTIONS, Settings};
use std::io;
use std::path::Path;

fn table() -> &'static wrappers::Table {
    wrappers::table().expect("the table of this build")
}

fuzz_target!(
    init: {
        if let Some(folder) = std::env::var_os("FUZZ_SEEDS") {
            let folder = Path::new(&folder);
            let all = Settings::default().to_text();
            std::fs::write(folder.join("defaults"), all).expect("a seed");
            let filters = "class p2p local disable\nranks 0-3,8\ncomm-size 2-\nmessage-size 1K-1M\n\
                           time 0.5-60\ncalls 1-\nMPI_Send success\nPAPI_X A\n\x1Edebug all;quiet yes\x1Edebug\x1Eall";
            std::fs::write(folder.join("filters"), filters).expect("a seed");
        }
    },
    |data: &[u8]| {
        let mut parts = data.split(|&b| b == 0x1E);
        let mut next = || parts.next().unwrap_or_default();
        let (file, lines) = (next(), String::from_utf8_lossy(next()));
        let (key, value) = (next(), String::from_utf8_lossy(next()));
        let option = OPTIONS.iter().find(|option| option.key.as_bytes() == key);
        let number = usize::from(key.first().copied().unwrap_or_default()) % OPTIONS.len();
        let variable = option.unwrap_or(&OPTIONS[number]).variable();
        let env = |name: &str| match name {
            "TRACE_SETTINGS" => Some(lines.clone().into_owned()),
            name => (name == variable).then(|| value.clone().into_owned()),
        };
        let read = |path: &Path, _: settings::ConfigurationOrigin| match path.to_str() {
            Some("dumpi.conf") => Ok(file.to_vec()),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        let known = |name: &str| table().get(name).is_some();
        let loaded = Settings::load(&env, &read, &known);
        let settings = loaded.settings;
        for complaint in loaded.complaints {
            let line = complaint.to_string();
            assert!(!line.contains(char::is_control), "{line:?}");
        }
        let text = settings.to_text();
        let (again, complaints) = Settings::from_text(&text);
        assert!(complaints.is_empty(), "{text}");
        assert_eq!(again, settings, "{text}");
    }
);
