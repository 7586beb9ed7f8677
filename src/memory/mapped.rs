//! Memory straight from the system, where the recorder's own may be used up.

use super::arena;

/// Bytes of a mapping that ends with this value; zero where nothing was written.
pub struct MappedBytes {
    start: usize,
    length: usize,
}

impl MappedBytes {
    /// Maps `length` bytes; `None` if the system has none.
    pub fn new(length: usize) -> Option<MappedBytes> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let start = arena::map(0, length, protection, libc::MAP_PRIVATE)?;
        Some(MappedBytes { start, length })
    }

    /// All of the bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: a mapping of this value's own, which can be read and written.
        unsafe { std::slice::from_raw_parts_mut(self.start as *mut u8, self.length) }
    }
}

impl Drop for MappedBytes {
    fn drop(&mut self) {
        // SAFETY: a mapping of this value's own, of which nobody has anything any more.
        unsafe { libc::munmap(self.start as *mut libc::c_void, self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_can_be_written() {
        let mut mapped = MappedBytes::new(100_000).expect("memory");
        assert_eq!(mapped.bytes().len(), 100_000);
        assert!(mapped.bytes().iter().all(|&byte| byte == 0));
        mapped.bytes().fill(7);
        assert!(mapped.bytes().iter().all(|&byte| byte == 7));
    }
}
