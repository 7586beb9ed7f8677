//! Files that are written in parts.

/// A file into which ranks write different parts at the same time.
pub trait PartFile {
    /// Writes `bytes` at this offset.
    ///
    /// # Errors
    /// In words, with the name of the file.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), String>;
}

/// Writes to a file, if there is one and `failure` does not say that it has failed before.
pub(super) fn write_part(
    file: &mut Option<&mut dyn PartFile>,
    failure: &mut Option<String>,
    offset: u64,
    bytes: &[u8],
) {
    if let (Some(file), None) = (file, &failure)
        && !bytes.is_empty()
    {
        *failure = file.write_at(offset, bytes).err();
    }
}
