//! Reads settings from variables and lines, strongest source first: what a source says first holds.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    io,
    path::{Path, PathBuf},
};

use super::{
    complaint::{Complaint, ComplaintKind, SettingPlace},
    files::{self, ConfigurationFile, ConfigurationOrigin, FileState, SITE_FILE},
    loaded::LoadedSettings,
    options::{OPTIONS, Settings, SettingsOption, VariableMeaning, VariableStrength},
    suggest,
    values::{OptionKind, Setting},
};

/// More complaints than this are only counted: a file that is none of ours should not fill the terminal.
const MAX_COMPLAINTS: usize = 20;

/// Target of a key.
#[derive(Clone)]
enum Target {
    Option(&'static SettingsOption),
    Function(String),
}

impl Target {
    fn allowed(&self) -> String {
        match self {
            Target::Option(option) => (option.allowed)(),
            Target::Function(_) => Setting::allowed(),
        }
    }

    /// The name under which it is remembered as set, the same for all synonyms.
    fn name(&self) -> &str {
        match self {
            Target::Option(option) => option.key,
            Target::Function(name) => name,
        }
    }

    fn in_force(&self, settings: &Settings) -> String {
        let values = match self {
            Target::Option(option) => (option.get)(settings),
            Target::Function(name) => {
                let setting = settings.functions.get(name);
                vec![setting.unwrap_or(&settings.default_function).to_string()]
            }
        };
        if values.is_empty() {
            "none".into()
        } else {
            values.join(" ")
        }
    }
}

/// Settings while they are read.
pub struct SettingsReader<'a> {
    settings: Settings,
    known: &'a dyn Fn(&str) -> bool,
    /// Place at which each option and function was first set, and the value there.
    set: BTreeMap<String, (SettingPlace, String)>,
    complaints: Vec<(Complaint, Option<Target>)>,
    left_out: usize,
    files: Vec<ConfigurationFile>,
}

impl<'a> SettingsReader<'a> {
    /// Begins with the defaults; `known` says whether a name is that of an MPI function.
    pub fn new(known: &'a dyn Fn(&str) -> bool) -> SettingsReader<'a> {
        SettingsReader {
            settings: Settings::default(),
            known,
            set: BTreeMap::new(),
            complaints: Vec::new(),
            left_out: 0,
            files: Vec::new(),
        }
    }

    /// Takes the environment variables of one strength.
    pub fn variables(&mut self, env: &dyn Fn(&str) -> Option<String>, strength: VariableStrength) {
        for option in OPTIONS {
            if strength == VariableStrength::OverFile {
                self.variable(option, &option.variable(), VariableMeaning::Same, env);
            }
            for variable in option
                .variables
                .iter()
                .filter(|variable| variable.strength == strength)
            {
                self.variable(option, variable.name, variable.meaning, env);
            }
        }
    }

    /// Takes one environment variable; an empty one says nothing, like a key without value.
    fn variable(
        &mut self,
        option: &'static SettingsOption,
        name: &str,
        meaning: VariableMeaning,
        env: &dyn Fn(&str) -> Option<String>,
    ) {
        let Some(text) = env(name) else { return };
        let text = text.trim();
        let place = SettingPlace::Variable(name.into());
        let value = match meaning {
            VariableMeaning::Same => text.to_owned(),
            VariableMeaning::Plain => text.replace('%', "%%"),
            // Through the option's own reader, so that the spellings allowed are the same.
            VariableMeaning::Opposite => {
                let mut scratch = self.settings.clone();
                let opposite =
                    (option.take)(&mut scratch, text).map(|()| (option.get)(&scratch).concat());
                match opposite.as_deref() {
                    Some("yes") => "no".into(),
                    Some("no") => "yes".into(),
                    _ => text.to_owned(),
                }
            }
        };
        let values: Vec<&str> = match option.accumulates && !option.list {
            true => value
                .split([',', ' ', '\t', '\n'])
                .filter(|word| !word.is_empty())
                .collect(),
            false => Some(value.as_str())
                .filter(|value| !value.is_empty())
                .into_iter()
                .collect(),
        };
        for value in values {
            self.set(&Target::Option(option), option.key, value, &place);
        }
    }

    /// Takes the configuration files, the strongest first: that of the run, the user's own and the site's.
    pub fn configuration(
        &mut self,
        env: &dyn Fn(&str) -> Option<String>,
        read: &dyn Fn(&Path, ConfigurationOrigin) -> io::Result<Vec<u8>>,
    ) {
        self.file_of_run(env, read);
        let others = files::of_user(env).into_iter().chain([SITE_FILE.into()]);
        for path in others {
            let state = self.take_file(&path, ConfigurationOrigin::ByNobody, read);
            if let FileState::Unreadable(error) = &state {
                let used = "what other sources say".to_owned();
                self.complain_of_file(&path, error, used);
            }
            self.files.push(ConfigurationFile { path, state });
        }
    }

    /// Takes the first file that can be read of those the environment names and `dumpi.conf`.
    fn file_of_run(
        &mut self,
        env: &dyn Fn(&str) -> Option<String>,
        read: &dyn Fn(&Path, ConfigurationOrigin) -> io::Result<Vec<u8>>,
    ) {
        let named = ["TRACE_CONF", "DUMPI_CONF"]
            .iter()
            .filter_map(|name| env(name));
        let mut candidates: Vec<(PathBuf, ConfigurationOrigin)> = named
            .filter(|name| !name.is_empty())
            .map(|name| (name.into(), ConfigurationOrigin::ByName))
            .collect();
        candidates.push(("dumpi.conf".into(), ConfigurationOrigin::ByNobody));
        let mut unreadable = Vec::new();
        let mut used = "no configuration file".to_owned();
        for (path, origin) in candidates {
            let state = self.take_file(&path, origin, read);
            if let FileState::Unreadable(error) = &state {
                unreadable.push((path.clone(), error.clone()));
            }
            let is_read = state == FileState::Read;
            if is_read {
                used = path.to_string_lossy().into_owned();
            }
            self.files.push(ConfigurationFile { path, state });
            if is_read {
                break;
            }
        }
        for (path, error) in unreadable {
            self.complain_of_file(&path, &error, used.clone());
        }
    }

    /// Takes the content of a file, if it can be read.
    fn take_file(
        &mut self,
        path: &Path,
        origin: ConfigurationOrigin,
        read: &dyn Fn(&Path, ConfigurationOrigin) -> io::Result<Vec<u8>>,
    ) -> FileState {
        match read(path, origin) {
            Ok(bytes) => {
                self.file(path.into(), &bytes);
                FileState::Read
            }
            Err(error)
                if origin == ConfigurationOrigin::ByNobody
                    && error.kind() == io::ErrorKind::NotFound =>
            {
                FileState::NotThere
            }
            Err(error) => FileState::Unreadable(error.to_string()),
        }
    }

    /// Says that a file cannot be read, and what is `used` in its place.
    fn complain_of_file(&mut self, path: &Path, error: &str, used: String) {
        let complaint = Complaint {
            place: SettingPlace::File(path.into(), 0),
            matter: ComplaintKind::Unreadable {
                error: error.into(),
            },
            used,
        };
        self.complain(complaint, None);
    }

    /// Takes the content of a file.
    fn file(&mut self, path: PathBuf, bytes: &[u8]) {
        if let Err(error) = std::str::from_utf8(bytes) {
            let lines = bytes[..error.valid_up_to()]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            let place = SettingPlace::File(path.clone(), 1 + lines as u32);
            self.complain(
                Complaint {
                    place,
                    matter: ComplaintKind::NotUtf8,
                    used: String::new(),
                },
                None,
            );
        }
        let text = String::from_utf8_lossy(bytes);
        self.lines(
            &SettingPlace::File(path, 0),
            text.trim_start_matches('\u{feff}'),
        );
    }

    /// Takes lines in the syntax of `dumpi.conf` (`spec/dumpi-conf.md` section 2). Lines are not split at 1023
    /// characters as SST-DUMPI splits them; in a variable `;` ends a line, too.
    pub fn lines(&mut self, source: &SettingPlace, text: &str) {
        let ends: &[char] = if matches!(source, SettingPlace::Variable(_)) {
            &['\n', ';']
        } else {
            &['\n']
        };
        for (index, line) in text.split(ends).enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            // A carriage return is a blank here: files come from everywhere.
            let words: Vec<&str> = line
                .split([' ', '\t', '=', '\r'])
                .filter(|word| !word.is_empty())
                .collect();
            if let [key, values @ ..] = words.as_slice() {
                let place = source.at_line(u32::try_from(index + 1).unwrap_or(u32::MAX));
                self.line(key, values, &place);
            }
        }
    }

    /// Takes one line.
    fn line(&mut self, key: &str, words: &[&str], place: &SettingPlace) {
        let target = match SettingsOption::named(key) {
            Some(option) => Target::Option(option),
            None if key.starts_with("MPI") && (self.known)(key) => Target::Function(key.into()),
            None => return self.unknown(key, place),
        };
        let Some(first) = words.first() else {
            let matter = ComplaintKind::NoValue {
                key: key.into(),
                allowed: target.allowed(),
            };
            return self.complain_of(place, matter, target);
        };
        if matches!(&target, Target::Option(option) if option.list) {
            return self.set(&target, key, &words.join(","), place);
        }
        self.set(&target, key, first, place);
        if words.len() > 1 {
            let matter = ComplaintKind::ExtraWords {
                key: key.into(),
                words: words[1..].join(" "),
            };
            self.complain_of(place, matter, target);
        }
    }

    /// Sets an option or a function, unless something stronger or earlier has.
    fn set(&mut self, target: &Target, key: &str, value: &str, place: &SettingPlace) {
        let accumulates = matches!(target, Target::Option(option) if option.accumulates);
        if let Some((first, there)) = self.set.get(target.name()) {
            let same_source = first.same_source(place);
            if !(accumulates && same_source) {
                if same_source && there != value {
                    let (key, value, first) = (key.into(), value.into(), first.clone());
                    self.complain_of(
                        place,
                        ComplaintKind::Repeated { key, value, first },
                        target.clone(),
                    );
                }
                return;
            }
        }
        let taken = match target {
            Target::Option(option) => (option.take)(&mut self.settings, value),
            Target::Function(name) => {
                let mut setting = Setting::Enable;
                Setting::take(&mut setting, value).map(|()| {
                    self.settings.functions.insert(name.clone(), setting);
                })
            }
        };
        match taken {
            Some(()) => {
                if let Entry::Vacant(entry) = self.set.entry(target.name().to_owned()) {
                    entry.insert((place.clone(), value.into()));
                }
            }
            None => {
                let (key, value, allowed) = (key.into(), value.into(), target.allowed());
                self.complain_of(
                    place,
                    ComplaintKind::Value {
                        key,
                        value,
                        allowed,
                    },
                    target.clone(),
                );
            }
        }
    }

    fn unknown(&mut self, key: &str, place: &SettingPlace) {
        // Nobody sees the suggestion beyond the bound, and looking for it takes time.
        let shown = self.complaints.len() < MAX_COMPLAINTS;
        let suggestion = if shown {
            suggest::nearest_key(key, self.known)
        } else {
            None
        };
        let matter = ComplaintKind::UnknownKey {
            key: key.into(),
            suggestion,
        };
        self.complain(
            Complaint {
                place: place.clone(),
                matter,
                used: String::new(),
            },
            None,
        );
    }

    fn complain_of(&mut self, place: &SettingPlace, matter: ComplaintKind, target: Target) {
        self.complain(
            Complaint {
                place: place.clone(),
                matter,
                used: String::new(),
            },
            Some(target),
        );
    }

    fn complain(&mut self, complaint: Complaint, target: Option<Target>) {
        match self.complaints.len() < MAX_COMPLAINTS {
            true => self.complaints.push((complaint, target)),
            false => self.left_out += 1,
        }
    }

    /// What has been read; complaints get the values that are in force in the end.
    pub fn finish(self) -> LoadedSettings {
        let settings = self.settings;
        let mut last = None;
        let mut complaints = Vec::new();
        for (mut complaint, target) in self.complaints {
            if let Some(target) = target {
                complaint.used = target.in_force(&settings);
            }
            last = Some(complaint.place.at_line(0));
            complaints.push(complaint);
        }
        if let Some(place) = last.filter(|_| self.left_out > 0) {
            complaints.push(Complaint {
                place,
                matter: ComplaintKind::More(self.left_out),
                used: String::new(),
            });
        }
        let set = self.set.into_iter();
        LoadedSettings {
            settings,
            complaints,
            origins: set.map(|(name, (place, _))| (name, place)).collect(),
            files: self.files,
        }
    }
}
