//! Values in the infos of message arrows, and the keys by which they are known.

/// A value in the info of a message arrow, known by its key ([`super::Category::message`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageField {
    /// `msg_tag=`: the tag.
    Tag,
    /// `msg_size=`: bytes.
    Size,
}

impl MessageField {
    /// The value that stands behind this key; `None` if it is that of another.
    #[inline]
    pub fn of(key: &[u8]) -> Option<MessageField> {
        if key.ends_with(b"msg_tag=") {
            Some(MessageField::Tag)
        } else if key.ends_with(b"msg_size=") {
            Some(MessageField::Size)
        } else {
            None
        }
    }
}
