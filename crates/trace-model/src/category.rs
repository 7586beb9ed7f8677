//! Categories: name, colour and info layout that drawables of one kind have in common.

use std::borrow::Cow;

use super::{Color, MessageField, Topology};

/// A string of the file. An empty one stands for Java's null as well.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Text(pub Vec<u8>);

impl Text {
    /// True if there is nothing in it, which the original reads as null.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text, with U+FFFD for what is not UTF-8.
    pub fn to_str(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(text.as_bytes().to_vec())
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.to_str())
    }
}

/// Share of a category in a stretch of time (`spec/slog2.md` sections 8.5 and 8.7).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ratios {
    /// Time in the category divided by the time of the whole.
    pub inclusive: f32,
    /// Share of time without that in states nested in it. Always 0 for arrows and events.
    pub exclusive: f32,
    /// Number of drawables. 0 in files of version 2.0.5, which have no counts.
    pub count: i64,
}

/// Common properties of drawables of one kind (`spec/slog2.md` section 6.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Category {
    /// Number by which drawables name the category; negative for previews.
    pub index: i32,
    /// Name.
    pub name: Text,
    /// Form of its drawables: state, arrow or event.
    pub topology: Topology,
    /// Colour.
    pub color: Color,
    /// Whether a user may change the colour; always true.
    pub is_color_changeable: bool,
    /// Pixels of a line.
    pub width: i8,
    /// Texts before the values of the info, one or none more than there are values.
    pub info_keys: Vec<Text>,
    /// Types of the values, one character each (`spec/clog2.md` section 8).
    pub info_types: Vec<u8>,
    /// Methods; none are known.
    pub method_ids: Vec<i32>,
    /// Over the whole file, all lines added up.
    pub summary: Ratios,
}

/// Index of the category of previews of events.
pub const PREVIEW_EVENT: i32 = -1;
/// Index of the category of previews of arrows.
pub const PREVIEW_ARROW: i32 = -2;
/// Index of the category of previews of states.
pub const PREVIEW_STATE: i32 = -3;

impl Category {
    /// A category without info, of width 1.
    pub fn new(index: i32, name: Text, topology: Topology, color: Color) -> Self {
        Category {
            index,
            name,
            topology,
            color,
            is_color_changeable: true,
            width: 1,
            info_keys: Vec::new(),
            info_types: Vec::new(),
            method_ids: Vec::new(),
            summary: Ratios::default(),
        }
    }

    /// The name up to the first character that is in no name of a function: without what tools add behind a blank or a parenthesis.
    pub fn function_name(&self) -> String {
        let name = self.name.to_str();
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        name[..end.unwrap_or(name.len())].to_owned()
    }

    /// The category of previews of this topology.
    pub fn preview(topology: Topology) -> Self {
        let translucent_white = Color(0xbfff_ffff);
        let (name, color) = match topology {
            Topology::Event => ("Preview_Event", translucent_white),
            Topology::State => ("Preview_State", translucent_white),
            Topology::Arrow => ("Preview_Arrow", Color::rgb(0xffff00)),
        };
        Category {
            width: 5,
            ..Category::new(preview_index(topology), name.into(), topology, color)
        }
    }

    /// The category of messages: index 0 of every converted log (`spec/slog2.md` section 7.1).
    pub fn message() -> Self {
        let mut message = Category::new(0, "message".into(), Topology::Arrow, Color::WHITE);
        message.width = 3;
        message.info_keys = vec!["msg_tag=".into(), ", msg_size=".into(), Text::default()];
        message.info_types = b"dd".to_vec();
        message
    }

    /// The category of messages of which the largest has so many bytes. Sizes have 64 bits only where they need them: all other traces have the
    /// category that the original tools write.
    pub fn messages_up_to(largest: u64) -> Self {
        let mut message = Category::message();
        if largest > i32::MAX as u64 {
            message.info_types = b"dl".to_vec();
        }
        message
    }

    /// Whether arrows of the category are taken for messages: their infos have a tag, or the category is named so. MPE names messages in SLOG-1 by
    /// their direction.
    pub fn stands_for_messages(&self) -> bool {
        const NAMES: [&[u8]; 3] = [b"message", b"forward arrow", b"backward arrow"];
        let is_tag = |key: &Text| MessageField::of(&key.0) == Some(MessageField::Tag);
        let is_named = |name: &&[u8]| self.name.0.eq_ignore_ascii_case(name);
        self.topology == Topology::Arrow
            && (self.info_keys.iter().any(is_tag) || NAMES.iter().any(is_named))
    }

    /// Sets keys and types of the info from a format string of CLOG2, such as `CallID=0x%X, bytes=%l` (`spec/slog2.md`
    /// section 7.1).
    ///
    /// A bare `%` at the end, which stops the original, is ignored.
    pub fn set_info_format(&mut self, format: &[u8]) {
        self.info_keys.clear();
        self.info_types.clear();
        for (nth, part) in format.split(|&b| b == b'%').enumerate() {
            let key = match part {
                _ if nth == 0 && part.is_empty() => continue,
                _ if nth == 0 => part,
                [] => continue,
                [kind, key @ ..] => {
                    self.info_types.push(*kind);
                    key
                }
            };
            self.info_keys.push(Text(key.to_vec()));
        }
    }

    /// The format string that gives these keys and types.
    pub fn info_format(&self) -> Vec<u8> {
        let mut format = Vec::new();
        let mut types = self.info_types.iter();
        for key in &self.info_keys {
            format.extend_from_slice(&key.0);
            if let Some(&kind) = types.next() {
                format.extend([b'%', kind]);
            }
        }
        format
    }
}

/// Index of the category of previews of this topology.
pub fn preview_index(topology: Topology) -> i32 {
    match topology {
        Topology::Event => PREVIEW_EVENT,
        Topology::Arrow => PREVIEW_ARROW,
        Topology::State => PREVIEW_STATE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_known_by_their_tag_or_their_name() {
        let arrow = |name: &str| Category::new(1, name.into(), Topology::Arrow, Color::WHITE);
        for name in ["Message", "forward arrow", "backward arrow"] {
            assert!(arrow(name).stands_for_messages(), "{name}");
        }
        let mut other = arrow("carries pwrite");
        assert!(!other.stands_for_messages());
        other.info_keys = Category::message().info_keys;
        assert!(other.stands_for_messages());
        let state = Category::new(1, "message".into(), Topology::State, Color::WHITE);
        assert!(!state.stands_for_messages());
    }

    fn format(text: &str) -> (Vec<String>, String) {
        let mut category = Category::message();
        category.set_info_format(text.as_bytes());
        let keys = category
            .info_keys
            .iter()
            .map(|key| key.to_str().into_owned());
        let types = String::from_utf8_lossy(&category.info_types).into_owned();
        (keys.collect(), types)
    }

    #[test]
    fn formats_are_split_at_percent_signs() {
        let keys = |keys: &[&str]| keys.iter().map(|&key| key.to_string()).collect::<Vec<_>>();
        assert_eq!(
            format("step=%d ratio=%E name=%s."),
            (keys(&["step=", " ratio=", " name=", "."]), "dEs".into())
        );
        assert_eq!(format("%s/%s"), (keys(&["/", ""]), "ss".into()));
        assert_eq!(format(""), (keys(&[]), "".into()));
        assert_eq!(format("only text"), (keys(&["only text"]), "".into()));
        assert_eq!(format("x%"), (keys(&["x"]), "".into()));
    }
}
