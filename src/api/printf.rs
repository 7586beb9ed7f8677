//! A printf format with its arguments, from a caller that may have meant something else by them: nothing is read that cannot
//! be read, and nothing is written to the caller's memory.

use crate::api::arguments::Arguments;
use std::ffi::{c_char, c_int};
use std::io;
use std::iter::{Copied, Peekable};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::slice;

/// Longest format that is taken for one, bytes.
const LONGEST_FORMAT: usize = 4096;
/// Longest string that a format may ask for, bytes.
const LONGEST_STRING: usize = 1 << 20;
/// Most conversions: so many that words which the caller did not give are still on its stack.
const MAX_CONVERSIONS: usize = 128;
/// Most that the widths and precisions of a format may add up to, bytes: the C library makes so much of it, whatever is kept.
const MOST_WIDTH: u64 = 64 << 10;
/// Room for nearly every text, bytes.
const USUAL_TEXT: usize = 1024;

unsafe extern "C" {
    /// C library's. `arguments` is used up.
    fn vsnprintf(
        to: *mut c_char,
        size: usize,
        format: *const c_char,
        arguments: *mut Arguments,
    ) -> c_int;
}

/// The text, at most `longest` bytes of it, that the format which is the first of `arguments` gives with the others; `None`
/// if there is no format, or an empty one. A format that asks for what is not there, for much more than is kept, or for what is not
/// supported (`%n`, wide characters, arguments by position), is itself the text.
///
/// # Safety
/// As [`Arguments::word`].
pub unsafe fn text(mut arguments: Arguments, longest: usize) -> Option<String> {
    // SAFETY: by the caller.
    let at = unsafe { arguments.word() };
    let (mut format, ended) = string_at(at, LONGEST_FORMAT)?;
    // A pointer to a small number looks like an empty text, or one of a control character.
    let written = |c: &u8| *c >= b' ' && *c != 0x7F;
    let space = |c: &u8| matches!(c, b'\t' | b'\n' | b'\r' | 0x1B);
    let is_text = format.iter().any(written) && format.iter().all(|c| written(c) || space(c));
    if !ended || !is_text {
        return None;
    }
    let mut walk = FormatWalk {
        format: format.iter().copied().peekable(),
        arguments,
        width: 0,
    };
    // SAFETY: by the caller.
    if unsafe { walk.all() }.is_none() {
        return Some(String::from_utf8_lossy(&format).into_owned());
    }
    format.push(0);
    let mut text = vec![0; USUAL_TEXT.min(longest + 1)];
    loop {
        let mut arguments = arguments;
        // SAFETY: a C string, whose conversions and arguments have been looked at, and a buffer with its size.
        let length = unsafe {
            vsnprintf(
                text.as_mut_ptr().cast(),
                text.len(),
                format.as_ptr().cast(),
                &mut arguments,
            )
        };
        // It is negative for a text that is longer than an int can say.
        let length = usize::try_from(length).unwrap_or(0);
        if length < text.len() || text.len() > longest {
            text.truncate(length.min(text.len() - 1));
            return Some(String::from_utf8_lossy(&text).into_owned());
        }
        text.resize((length + 1).min(longest + 1), 0);
    }
}

/// Goes through a format as vsnprintf will.
struct FormatWalk<'f> {
    format: Peekable<Copied<slice::Iter<'f, u8>>>,
    arguments: Arguments,
    /// Sum of the widths and precisions so far, bytes.
    width: u64,
}

impl FormatWalk<'_> {
    /// All conversions; `None` if vsnprintf must not be given this format.
    ///
    /// # Safety
    /// As [`Arguments::word`].
    unsafe fn all(&mut self) -> Option<()> {
        let mut conversions = 0;
        while let Some(c) = self.format.next() {
            if c == b'%' {
                conversions += 1;
                if conversions > MAX_CONVERSIONS {
                    return None;
                }
                // SAFETY: by the caller.
                unsafe { self.conversion() }?;
            }
        }
        Some(())
    }

    /// Reads the conversion after a `%`.
    ///
    /// # Safety
    /// As [`Arguments::word`].
    unsafe fn conversion(&mut self) -> Option<()> {
        while self.format.next_if(|c| b"-+ #0'I".contains(c)).is_some() {}
        // SAFETY: by the caller.
        let width = unsafe { self.number() };
        self.width = self.width.saturating_add(width.unsigned_abs());
        let mut most = usize::MAX;
        if self.format.next_if_eq(&b'.').is_some() {
            // SAFETY: by the caller.
            let precision = unsafe { self.number() };
            // A negative one counts as none.
            most = usize::try_from(precision).unwrap_or(usize::MAX);
        }
        // As the GNU C library takes them: of characters all but `h` make wide ones, of floating-point numbers `ll` and `q` are `L`, too.
        let size = self.format.next_if(|c| b"hlLqjzt".contains(c));
        let is_twice =
            size.is_some_and(|c| b"hl".contains(&c) && self.format.next_if_eq(&c).is_some());
        let wide = size.is_some_and(|c| c != b'h');
        let long_double = match size {
            Some(b'L' | b'q') => true,
            Some(b'l') => is_twice,
            _ => false,
        };
        let kind = self.format.next()?;
        // That of a string says how much of it is wanted at most.
        if most != usize::MAX && kind != b's' {
            self.width = self.width.saturating_add(most as u64);
        }
        if self.width > MOST_WIDTH {
            return None;
        }
        match kind {
            b'%' | b'm' => {}
            b'c' | b's' if wide => return None,
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'p' | b'c' => {
                // SAFETY: by the caller.
                unsafe { self.arguments.word() };
            }
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
                if long_double {
                    self.arguments.skip_long_double();
                } else {
                    self.arguments.skip_double();
                }
            }
            b's' => {
                // SAFETY: by the caller.
                let at = unsafe { self.arguments.word() };
                // A null pointer is written as `(null)`.
                if at != 0 && most > 0 {
                    let (string, ended) = string_at(at, most.min(LONGEST_STRING))?;
                    if !ended && string.len() < most {
                        return None;
                    }
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// A width or precision: digits, an argument, or nothing, which counts as 0.
    ///
    /// # Safety
    /// As [`Arguments::word`].
    unsafe fn number(&mut self) -> i64 {
        if self.format.next_if_eq(&b'*').is_some() {
            // SAFETY: by the caller.
            return i64::from(unsafe { self.arguments.word() } as i32);
        }
        let mut value: i64 = 0;
        while let Some(digit) = self.format.next_if(u8::is_ascii_digit) {
            value = value
                .saturating_mul(10)
                .saturating_add((digit - b'0').into());
        }
        value
    }
}

/// The string at an address: up to its NUL, or `most` bytes, and whether the NUL was met. `None` if that is not readable.
fn string_at(at: u64, most: usize) -> Option<(Vec<u8>, bool)> {
    const PAGE: usize = 4096;
    let mut string = Vec::new();
    let mut page = [0; PAGE];
    while string.len() < most {
        let next = usize::try_from(at).ok()?.checked_add(string.len())?;
        let part = page.get_mut(..(PAGE - next % PAGE).min(most - string.len()))?;
        copy(next, part)
            .or_else(|_| copy_through_pipe(next, part))
            .ok()?;
        match part.iter().position(|&c| c == 0) {
            Some(nul) => {
                string.extend_from_slice(&part[..nul]);
                return Some((string, true));
            }
            None => string.extend_from_slice(part),
        }
    }
    Some((string, false))
}

/// Copies from an address of this process. The kernel looks at the memory for us: where nothing can be read it tells, and
/// no signal comes. It may be forbidden to ask it this way (in containers).
fn copy(at: usize, to: &mut [u8]) -> io::Result<()> {
    let part = |base, size| libc::iovec {
        iov_base: base,
        iov_len: size,
    };
    let local = part(to.as_mut_ptr().cast(), to.len());
    let remote = part(ptr::without_provenance_mut(at), to.len());
    // SAFETY: the kernel writes to `to` only, and checks that the other memory can be read.
    let size = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    all_of(to, size)
}

/// As [`copy`], in a way that is open to every process, and slower.
fn copy_through_pipe(at: usize, to: &mut [u8]) -> io::Result<()> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just opened, and nobody else's.
    let [from, into] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
    let memory = ptr::without_provenance(at);
    // SAFETY: the kernel checks that the memory can be read.
    let size = unsafe { libc::write(into.as_raw_fd(), memory, to.len()) };
    all_of(to, size)?;
    // SAFETY: into `to`, of which we have the size.
    let size = unsafe { libc::read(from.as_raw_fd(), to.as_mut_ptr().cast(), to.len()) };
    all_of(to, size)
}

/// Whether a system call that gave `size` has moved all of `to`.
fn all_of(to: &[u8], size: isize) -> io::Result<()> {
    if usize::try_from(size) == Ok(to.len()) {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::arguments::SavedArguments;

    /// The text that a format gives with these integer or pointer arguments, all in registers and on the stack.
    fn with(format: *const c_char, words: &[u64]) -> Option<String> {
        // The level is the first argument.
        let all: Vec<u64> = [0, format.addr() as u64]
            .into_iter()
            .chain(words.iter().copied())
            .collect();
        let saved = SavedArguments::new(&all, 2 * MAX_CONVERSIONS);
        let arguments = saved.behind_first();
        // SAFETY: a list of arguments as the ABI has it.
        unsafe { text(arguments, 5000) }
    }

    #[test]
    fn arguments_come_from_registers_and_stack() {
        assert_eq!(
            with(
                c"%d %u %c %ld %x|%5i|%-4d|%*d%%".as_ptr(),
                &[1, 2, 65, 4 << 40, 255, 6, 7, 3, 8]
            )
            .as_deref(),
            Some("1 2 A 4398046511104 ff|    6|7   |  8%")
        );
        assert_eq!(
            with(c"%s\n".as_ptr(), &[c"".as_ptr().addr() as u64]).as_deref(),
            Some("\n")
        );
    }

    #[test]
    fn strings_are_looked_at_first() {
        let name = c"name".as_ptr().addr() as u64;
        assert_eq!(
            with(c"%s|%.2s|%.*s|%6s".as_ptr(), &[name, name, 3, name, name]).as_deref(),
            Some("name|na|nam|  name")
        );
        assert_eq!(with(c"%s".as_ptr(), &[0]).as_deref(), Some("(null)"));
        for bad in [1, 0x1234_5678, u64::MAX, u64::MAX - 4096, 1 << 60] {
            assert_eq!(
                with(c"it is %s".as_ptr(), &[bad]).as_deref(),
                Some("it is %s")
            );
        }
        // As long as the precision says, without a NUL.
        assert_eq!(
            with(c"%.3s".as_ptr(), &[b"abcdef".as_ptr().addr() as u64]).as_deref(),
            Some("abc")
        );
    }

    #[test]
    fn both_ways_to_copy_tell_what_is_not_readable() {
        let text = *b"some text";
        for way in [copy, copy_through_pipe] {
            let mut to = [0; 9];
            way(text.as_ptr().addr(), &mut to).expect("readable");
            assert_eq!(to, text);
            for bad in [0, 1, 0x1234_5678, usize::MAX - 8, 1 << 63] {
                let error = way(bad, &mut to).expect_err("not readable");
                assert_eq!(error.raw_os_error(), Some(libc::EFAULT));
            }
        }
    }

    #[test]
    fn what_is_no_format_is_none() {
        for bad in [
            0,
            1,
            4096,
            0x7fff_ffff_f000,
            usize::MAX,
            usize::MAX - 10,
            1 << 63,
        ] {
            assert_eq!(with(ptr::without_provenance(bad), &[]), None);
        }
        for number in [0, 1, 7, 10, 27, 127, 0x0148_5500] {
            let number: u64 = number;
            assert_eq!(with((&raw const number).cast(), &[]), None);
        }
        assert_eq!(
            with([b'x'; LONGEST_FORMAT].map(|c| c as c_char).as_ptr(), &[]),
            None
        );
    }

    #[test]
    fn what_is_not_supported_is_text_itself() {
        let mut target = 0u64;
        let at = (&raw mut target).addr() as u64;
        for format in [
            c"%n", c"%hhn", c"%ls", c"%S", c"%1$d", c"50%", c"%lc", c"%", c"%Ls", c"%qs", c"%lls",
            c"%js", c"%zs", c"%ts", c"%Lc", c"%zc", c"%hlls", c"%lLd", c"%lzs", c"%hhhd",
        ] {
            let expected = format.to_str().unwrap();
            assert_eq!(with(format.as_ptr(), &[at, at]).as_deref(), Some(expected));
        }
        assert_eq!(target, 0);
        let many = std::ffi::CString::new("%d".repeat(MAX_CONVERSIONS + 1)).unwrap();
        assert_eq!(
            with(many.as_ptr(), &[]).unwrap().len(),
            2 * MAX_CONVERSIONS + 2
        );
    }

    /// They take the C library half a minute and gigabytes, whatever is kept of the text.
    #[test]
    fn formats_that_are_much_too_wide_are_text_themselves() {
        let (int_max, int_min) = (i32::MAX as u64, i32::MIN as u32 as u64);
        for (format, words) in [
            (c"%*d", [int_max, 1]),
            (c"%*d", [int_min, 1]),
            (c"%.*d", [int_max, 1]),
            (c"%2147483647d", [1, 0]),
            (c"%99999999999999999999d", [1, 0]),
            (c"%.200000000f", [0, 0]),
            (c"%40000d%40000d", [1, 2]),
            (c"%.1000000e", [0, 0]),
        ] {
            let expected = format.to_str().unwrap();
            assert_eq!(with(format.as_ptr(), &words).as_deref(), Some(expected));
        }
        let name = c"name".as_ptr().addr() as u64;
        let most = c"%.2147483647s|%.*s".as_ptr();
        assert_eq!(
            with(most, &[name, int_max, name]).as_deref(),
            Some("name|name")
        );
        // A negative precision counts as none.
        assert_eq!(with(c"%.*d".as_ptr(), &[int_min, 3]).as_deref(), Some("3"));
    }

    #[test]
    fn sizes_of_integers_and_short_characters() {
        let name = c"name".as_ptr().addr() as u64;
        assert_eq!(
            with(
                c"%hhd %hd %ld %lld %Ld %qd %jd %zu %td %hs".as_ptr(),
                &[0x101, 0x1_0002, 3 << 32, 4, 5, 6, 7, 8, 9, name]
            )
            .as_deref(),
            Some("1 2 12884901888 4 5 6 7 8 9 name")
        );
    }

    /// The GNU C library takes the number from the stack, as one of 16 bytes.
    #[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
    #[test]
    fn long_doubles_by_their_other_names() {
        let name = c"name".as_ptr().addr() as u64;
        // 1.5 as an 80-bit number.
        let [low, high] = [0xC000_0000_0000_0000, 0x3FFF];
        for format in [c"%d%d%d%d %Lg %s", c"%d%d%d%d %llg %s", c"%d%d%d%d %qg %s"] {
            assert_eq!(
                with(format.as_ptr(), &[1, 2, 3, 4, low, high, name]).as_deref(),
                Some("1234 1.5 name")
            );
        }
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(with(c"%3000d".as_ptr(), &[7]).unwrap().len(), 3000);
        assert_eq!(with(c"%4999d".as_ptr(), &[7]).unwrap().len(), 4999);
        assert_eq!(with(c"%5001d".as_ptr(), &[7]).unwrap().len(), 5000);
        assert_eq!(with(c"%1023d".as_ptr(), &[7]).unwrap().len(), 1023);
        assert_eq!(with(c"%1024d".as_ptr(), &[7]).unwrap().len(), 1024);
    }
}
