//! `mpitrace settings`: which settings would be in force, and which source each comes from.

use crate::failure::Failure;
use crate::terminal::table::{TableCell, TextTable, Width};
use serde_json::{Map, Value, json};
use settings::{FileState, LoadedSettings, OPTIONS, Settings};
use std::fmt::Display;
use std::io::Write;

/// Show the settings of the recorder, and where each comes from
///
/// They are those of a program that is started in this folder with this environment. `mpitrace run --set` adds to the environment.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace settings
  mpitrace settings outputs tmpdir
  TRACE_CONF=lammps.conf mpitrace settings --changed")]
pub struct Arguments {
    /// Settings to show; all unless some are named
    #[arg(value_name = "KEY")]
    keys: Vec<String>,
    /// Show only what is not left at its default
    #[arg(short, long)]
    changed: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A setting that is in force.
struct SettingInForce {
    key: String,
    value: String,
    /// Place of the setting; nothing where it has its default.
    origin: Option<String>,
}

/// What is said of a key that no setting has; `meant` is the one that may be meant.
pub(crate) fn no_such_key(key: &str, meant: Option<impl Display>) -> String {
    let hint = match meant {
        Some(meant) => format!("did you mean {meant}?"),
        None => "`mpitrace settings` lists them".to_owned(),
    };
    format!("no setting has the key {key}; {hint}")
}

/// Runs the subcommand for this command line.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let table = wrappers::table().map_err(|error| Failure::Data(error.to_string()))?;
    let known = |name: &str| table.get(name).is_some();
    let loaded = Settings::of_process(&known);
    let mut shown = in_force(&loaded);
    for key in &arguments.keys {
        let is_known = known(key) || OPTIONS.iter().any(|option| option.answers_to(key));
        if !is_known {
            let meant = settings::nearest_key(key, &known);
            return Err(Failure::Call(no_such_key(key, meant)));
        }
    }
    if !arguments.keys.is_empty() {
        let is_named = |key: &str| {
            let option = OPTIONS.iter().find(|option| option.key == key);
            arguments.keys.iter().any(|named| match option {
                Some(option) => option.answers_to(named),
                None => named == key,
            })
        };
        shown.retain(|setting| is_named(&setting.key));
    }
    if arguments.changed {
        shown.retain(|setting| setting.origin.is_some());
    }
    let text = match arguments.json {
        true => format!("{:#}\n", as_json(&loaded, &shown)),
        false => as_text(&loaded, &shown, arguments.keys.is_empty()),
    };
    let mut out = crate::terminal::stdout();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::output("stdout", &error))?;
    match loaded.complaints.len() {
        0 => Ok(()),
        count => {
            let said = loaded.complaints.iter().map(|complaint| {
                let line = complaint.to_string();
                line.strip_prefix("trace: ").unwrap_or(&line).to_owned()
            });
            let said: Vec<String> = said.collect();
            let faults = if count == 1 { "fault" } else { "faults" };
            Err(Failure::Data(format!(
                "{count} {faults} in the settings:\n  {}",
                said.join("\n  ")
            )))
        }
    }
}

/// All options in the order of the documentation, then the functions that have a setting of their own.
fn in_force(loaded: &LoadedSettings) -> Vec<SettingInForce> {
    let origin = |key: &str| loaded.origins.get(key).map(ToString::to_string);
    let options = OPTIONS.iter().map(|option| {
        let values = (option.get)(&loaded.settings);
        SettingInForce {
            key: option.key.to_owned(),
            value: match values.is_empty() {
                true => "none".to_owned(),
                false => values.join(" "),
            },
            origin: origin(option.key),
        }
    });
    let functions = loaded.settings.functions.iter();
    let functions = functions.map(|(name, setting)| SettingInForce {
        key: name.clone(),
        value: setting.to_string(),
        origin: origin(name),
    });
    options.chain(functions).collect()
}

/// State of a configuration file in words.
fn state(state: &FileState) -> String {
    match state {
        FileState::Read => "read".to_owned(),
        FileState::NotThere => "not there".to_owned(),
        FileState::Unreadable(error) => format!("not read: {error}"),
    }
}

/// The settings for people: the files, if asked, then a table.
fn as_text(loaded: &LoadedSettings, shown: &[SettingInForce], with_files: bool) -> String {
    let mut text = String::new();
    if with_files {
        text.push_str("Files, the strongest first; variables are stronger than all of them:\n");
        for file in &loaded.files {
            let path = crate::terminal::clean(&file.path.to_string_lossy());
            text.push_str(&format!("  {path}: {}\n", state(&file.state)));
        }
        text.push('\n');
    }
    let mut table = TextTable::new("settings", &["setting", "value", "from"]);
    for setting in shown {
        table.rows.push(vec![
            TableCell::Text(setting.key.clone()),
            TableCell::Text(setting.value.clone()),
            TableCell::Text(setting.origin.clone().unwrap_or("default".to_owned())),
        ]);
    }
    text + &table.fitted(Width::of_stdout(false))
}

/// The settings for programs.
fn as_json(loaded: &LoadedSettings, shown: &[SettingInForce]) -> Value {
    let files = loaded.files.iter();
    let files: Vec<Value> = files
        .map(|file| json!({ "path": file.path.to_string_lossy(), "state": state(&file.state) }))
        .collect();
    let settings: Map<String, Value> = shown
        .iter()
        .map(|setting| {
            let value = json!({ "value": setting.value, "from": setting.origin });
            (setting.key.clone(), value)
        })
        .collect();
    let complaints = loaded.complaints.iter().map(ToString::to_string);
    json!({ "files": files, "settings": settings, "faults": complaints.collect::<Vec<_>>() })
}
