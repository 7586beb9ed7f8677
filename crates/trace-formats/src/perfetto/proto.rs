//! Encoding of protocol buffers: fields of a message, one after the other (protobuf.dev, "Encoding").

/// Wire type of numbers of variable length.
const VARINT: u32 = 0;
/// Wire type of 8 bytes.
const FIXED64: u32 = 1;
/// Wire type of bytes behind their length: texts and messages.
const LENGTH_DELIMITED: u32 = 2;

/// A message that is being encoded.
#[derive(Debug, Default)]
pub(super) struct ProtoMessage {
    bytes: Vec<u8>,
}

impl ProtoMessage {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn tag(&mut self, field: u32, wire: u32) {
        self.varint(u64::from(field << 3 | wire));
    }

    /// `uint32`, `uint64`, `bool` or a variant of an enum.
    pub(super) fn uint(&mut self, field: u32, value: u64) {
        self.tag(field, VARINT);
        self.varint(value);
    }

    /// `int32` or `int64`.
    pub(super) fn int(&mut self, field: u32, value: i64) {
        self.uint(field, value as u64);
    }

    /// `fixed64`.
    pub(super) fn fixed(&mut self, field: u32, value: u64) {
        self.tag(field, FIXED64);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// `double`.
    pub(super) fn double(&mut self, field: u32, value: f64) {
        self.fixed(field, value.to_bits());
    }

    /// `string` or `bytes`.
    pub(super) fn text(&mut self, field: u32, text: &str) {
        self.tag(field, LENGTH_DELIMITED);
        self.varint(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// A message inside of this one, whose fields `fill` writes.
    pub(super) fn message(&mut self, field: u32, fill: impl FnOnce(&mut ProtoMessage)) {
        self.tag(field, LENGTH_DELIMITED);
        // Most messages need one byte for their length.
        let at = self.bytes.len();
        self.bytes.push(0);
        fill(self);
        let length = self.bytes.len() - at - 1;
        if length < 0x80 {
            self.bytes[at] = length as u8;
            return;
        }
        let mut prefix = ProtoMessage::default();
        prefix.varint(length as u64);
        self.bytes.splice(at..=at, prefix.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of protobuf.dev, "Encoding".
    #[test]
    fn fields_are_encoded_as_the_specification_shows() {
        let mut message = ProtoMessage::default();
        message.uint(1, 150);
        assert_eq!(message.bytes(), [0x08, 0x96, 0x01]);
        message.clear();
        message.text(2, "testing");
        assert_eq!(message.bytes(), b"\x12\x07testing");
        message.clear();
        message.message(3, |inner| inner.uint(1, 150));
        assert_eq!(message.bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        message.clear();
        message.int(1, -2);
        let minus_two = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(message.bytes()[1..], minus_two);
        message.clear();
        message.double(16, 1.0);
        assert_eq!(message.bytes(), [0x81, 0x01, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
    }

    #[test]
    fn a_long_message_has_a_long_length() {
        let mut message = ProtoMessage::default();
        let long = "x".repeat(300);
        message.message(1, |inner| inner.text(2, &long));
        assert_eq!(message.bytes()[..6], [0x0a, 0xaf, 0x02, 0x12, 0xac, 0x02]);
        assert_eq!(message.bytes().len(), 306);
    }
}
