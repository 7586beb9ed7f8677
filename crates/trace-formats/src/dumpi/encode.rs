//! Lists and texts behind their count, as all of a DUMPI file has them.

/// A count of more than 32 bits saturates; the record it is in then misfits.
pub(super) fn put_count(b: &mut Vec<u8>, count: usize) {
    b.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_be_bytes());
}

pub(super) fn put_ints(b: &mut Vec<u8>, values: &[i32]) {
    put_list(b, values, |b, v| b.extend_from_slice(&v.to_be_bytes()));
}

pub(super) fn put_string(b: &mut Vec<u8>, text: &[u8]) {
    put_count(b, text.len());
    b.extend_from_slice(text);
}

/// Elements behind their count, which is filled in when they are through.
#[inline]
pub(super) fn put_list<T>(
    b: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    mut put: impl FnMut(&mut Vec<u8>, T),
) {
    let at = b.len();
    b.extend_from_slice(&[0; 4]);
    let mut count = 0usize;
    for item in items {
        put(b, item);
        count += 1;
    }
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    b[at..at + 4].copy_from_slice(&count.to_be_bytes());
}
