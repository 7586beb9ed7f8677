//! The 32 bytes that an event can carry (`spec/clog2.md` section 8): items one behind the other, big-endian, at any alignment.

use super::{OK, PACK_FAIL};
use blockfile::user::CARGO_SIZE;
use std::ffi::{c_char, c_int, c_void};

/// Bytes of an item of this token; `None` for strings, which have a length in front, and for tokens that there are none of.
fn width(token: u8) -> Option<usize> {
    match token {
        b'h' => Some(2),
        b'd' | b'x' | b'e' => Some(4),
        b'l' | b'X' | b'E' => Some(8),
        _ => None,
    }
}

/// Appends items to the data of an event: `count` of them, or a string of `count` characters. What does not fit is not packed.
///
/// # Safety
/// `buffer` has 32 bytes, `position` is the place of a number, `data` holds the items.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub unsafe extern "C" fn MPE_Log_pack(
    buffer: *mut c_char,
    position: *mut c_int,
    token: c_char,
    count: c_int,
    data: *const c_void,
) -> c_int {
    // SAFETY: by the caller.
    let (buffer, position) = unsafe {
        (
            std::slice::from_raw_parts_mut(buffer.cast::<u8>(), CARGO_SIZE),
            &mut *position,
        )
    };
    let (Ok(at), Ok(count)) = (usize::try_from(*position), usize::try_from(count)) else {
        return PACK_FAIL;
    };
    let Some(bytes) = (match token as u8 {
        b's' => Some(count),
        token => width(token).and_then(|width| width.checked_mul(count)),
    }) else {
        return PACK_FAIL;
    };
    if at > CARGO_SIZE || bytes > CARGO_SIZE {
        return PACK_FAIL;
    }
    // SAFETY: by the caller, so many bytes of items.
    let items = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), bytes) };
    match pack(buffer, at, token as u8, items) {
        Some(end) => {
            *position = end as c_int;
            OK
        }
        None => PACK_FAIL,
    }
}

/// Puts items at `at`; gives the end, or `None` if there is no room.
fn pack(buffer: &mut [u8], at: usize, token: u8, items: &[u8]) -> Option<usize> {
    let Some(width) = width(token) else {
        let end = at + 2 + items.len();
        let room = buffer.get_mut(at..end)?;
        room[..2].copy_from_slice(&(items.len() as u16).to_be_bytes());
        room[2..].copy_from_slice(items);
        return Some(end);
    };
    let end = at + items.len();
    let room = buffer.get_mut(at..end)?;
    for (to, item) in room.chunks_mut(width).zip(items.chunks(width)) {
        to.copy_from_slice(item);
        if cfg!(target_endian = "little") {
            to.reverse();
        }
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(items: &[(u8, &[u8])]) -> (Vec<u8>, Option<usize>) {
        let mut buffer = [0; CARGO_SIZE];
        let mut at = Some(0);
        for (token, item) in items {
            at = at.and_then(|at| pack(&mut buffer, at, *token, item));
        }
        (buffer.to_vec(), at)
    }

    #[test]
    fn items_are_big_endian_one_behind_the_other() {
        let (buffer, end) = packed(&[
            (b's', b"abc"),
            (b'h', &0x1234u16.to_ne_bytes()),
            (b'd', &[7i32.to_ne_bytes(), 8i32.to_ne_bytes()].concat()),
            (b'E', &1.5f64.to_ne_bytes()),
        ]);
        assert_eq!(end, Some(23));
        assert_eq!(&buffer[..7], b"\0\x03abc\x12\x34");
        assert_eq!(&buffer[7..15], &[0, 0, 0, 7, 0, 0, 0, 8]);
        assert_eq!(&buffer[15..23], &1.5f64.to_be_bytes());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(packed(&[(b's', &[b'x'; 30])]).1, Some(32));
        assert_eq!(packed(&[(b's', &[b'x'; 31])]).1, None);
        assert_eq!(packed(&[(b'l', &[0; 32])]).1, Some(32));
        assert_eq!(packed(&[(b'l', &[0; 32]), (b'h', &[0; 2])]).1, None);
    }

    #[test]
    fn unknown_tokens_fail_and_positions_stay() {
        let mut buffer = [0; CARGO_SIZE];
        let data = 5i32;
        for (token, count, start) in [(b'q', 1, 0), (b'd', -1, 0), (b'd', 1, -4), (b'd', 9, 0)] {
            let mut position = start;
            // SAFETY: buffer, position and one item are there; what counts more is refused before it is read.
            let answer = unsafe {
                MPE_Log_pack(
                    buffer.as_mut_ptr(),
                    &mut position,
                    token as c_char,
                    count,
                    (&raw const data).cast(),
                )
            };
            assert_eq!((answer, position), (PACK_FAIL, start));
        }
    }
}
