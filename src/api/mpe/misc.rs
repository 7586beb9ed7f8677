//! Helpers of `mpe_misc.h` that programs find in libmpe, and that have nothing to do with logging (`spec/clog2.md` section
//! 17.4). Their own MPI calls are not recorded.

use crate::mpi::constants;
use crate::mpi::constants::predefined;
use crate::mpi::pmpi;
use crate::mpi::types::{MPI_Comm, MPI_Datatype, MPI_Group};
use parking_lot::Mutex;
use std::ffi::{c_char, c_int, c_void};

const SUCCESS: c_int = 0;
const TAG: c_int = 0;

/// Key of the attribute that holds a communicator's private duplicate for taking turns.
static TURNS: Mutex<Option<c_int>> = Mutex::new(None);
/// Key of the attribute that holds the lowest tag given out.
static TAGS: Mutex<Option<c_int>> = Mutex::new(None);

unsafe extern "C" fn copy_nothing(
    _: MPI_Comm,
    _: c_int,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: MPI gives the place of a flag.
    unsafe { flag.write(0) };
    SUCCESS
}

/// The communicator of an attribute goes with it.
unsafe extern "C" fn free_comm(_: MPI_Comm, _: c_int, value: *mut c_void, _: *mut c_void) -> c_int {
    // SAFETY: the value is what `turns` has put there.
    unsafe {
        let mut comm = Box::from_raw(value.cast::<MPI_Comm>());
        pmpi::MPI_Comm_free(&mut *comm);
    }
    SUCCESS
}

/// Frees what [`MPE_GetTags`] keeps at a communicator.
///
/// # Safety
/// `value` is the attribute's.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub unsafe extern "C" fn MPE_DelTag(
    _comm: MPI_Comm,
    _key: c_int,
    value: *mut c_void,
    _extra: *mut c_void,
) -> c_int {
    // SAFETY: made by `MPE_GetTags`.
    drop(unsafe { Box::from_raw(value.cast::<c_int>()) });
    SUCCESS
}

type Delete = unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void) -> c_int;

/// The key in `key`, made at its first use.
fn keyval(key: &Mutex<Option<c_int>>, delete: Delete) -> c_int {
    *key.lock().get_or_insert_with(|| {
        let mut new = 0;
        // SAFETY: both functions are of this library, which is never unloaded.
        unsafe {
            pmpi::MPI_Comm_create_keyval(
                copy_nothing as *const c_void,
                delete as *const c_void,
                &mut new,
                std::ptr::null_mut(),
            );
        }
        new
    })
}

/// The value of an attribute that has been put there by us.
fn attribute<T>(comm: MPI_Comm, key: c_int) -> Option<*mut T> {
    let mut value: *mut c_void = std::ptr::null_mut();
    let mut flag = 0;
    // SAFETY: a valid communicator and key; the place of a pointer and of a flag.
    unsafe { pmpi::MPI_Comm_get_attr(comm, key, (&raw mut value).cast(), &mut flag) };
    (flag != 0).then_some(value.cast())
}

/// The duplicate on which the ranks of `comm` take turns, rank and size. Collective at its first use.
fn turns(comm: MPI_Comm) -> (MPI_Comm, c_int, c_int) {
    let key = keyval(&TURNS, free_comm);
    let (mut rank, mut size) = (0, 1);
    // SAFETY: a valid communicator; the attribute's value is a communicator of ours.
    unsafe {
        let private = match attribute::<MPI_Comm>(comm, key) {
            Some(private) => *private,
            None => {
                let mut private: MPI_Comm = predefined("MPI_COMM_NULL");
                pmpi::MPI_Comm_dup(comm, &mut private);
                let value = Box::into_raw(Box::new(private));
                pmpi::MPI_Comm_set_attr(comm, key, value.cast());
                private
            }
        };
        pmpi::MPI_Comm_rank(private, &mut rank);
        pmpi::MPI_Comm_size(private, &mut size);
        (private, rank, size)
    }
}

fn pass_on(comm: MPI_Comm, to: c_int) {
    let byte: MPI_Datatype = predefined("MPI_BYTE");
    // SAFETY: an empty message.
    unsafe { pmpi::MPI_Send(std::ptr::null_mut(), 0, byte, to, TAG, comm) };
}

fn wait_for(comm: MPI_Comm, from: c_int) {
    let byte: MPI_Datatype = predefined("MPI_BYTE");
    // SAFETY: an empty message; the status is not wanted.
    unsafe {
        pmpi::MPI_Recv(
            std::ptr::null_mut(),
            0,
            byte,
            from,
            TAG,
            comm,
            constants::status_ignore(),
        );
    }
}

/// The ranks go on one after the other, `at_once` of them at a time.
///
/// # Safety
/// A valid communicator, on which all ranks call this.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub unsafe extern "C" fn MPE_Seq_begin(comm: MPI_Comm, at_once: c_int) {
    let (private, rank, size) = turns(comm.as_passed());
    let at_once = at_once.max(1);
    if rank != 0 {
        wait_for(private, rank - 1);
    }
    if rank % at_once < at_once - 1 && rank != size - 1 {
        pass_on(private, rank + 1);
    }
}

/// Ends what [`MPE_Seq_begin`] began.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub unsafe extern "C" fn MPE_Seq_end(comm: MPI_Comm, at_once: c_int) {
    let (private, rank, size) = turns(comm.as_passed());
    let at_once = at_once.max(1);
    if size == 1 {
        return;
    }
    if rank % at_once == at_once - 1 || rank == size - 1 {
        pass_on(private, (rank + 1) % size);
    }
    if rank == 0 {
        wait_for(private, size - 1);
    }
}

/// `count` tags that nobody else uses on a duplicate of the communicator.
///
/// # Safety
/// A valid communicator, on which all ranks call this; places for the results.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub unsafe extern "C" fn MPE_GetTags(
    comm: MPI_Comm,
    count: c_int,
    private: *mut c_void,
    first: *mut c_int,
) -> c_int {
    let key = keyval(&TAGS, MPE_DelTag);
    let comm = comm.as_passed();
    // SAFETY: by the caller; the attribute's value is a number of ours.
    unsafe {
        let lowest = match attribute::<c_int>(comm, key) {
            Some(lowest) => {
                comm.write(private);
                lowest
            }
            None => {
                let mut limit: *mut c_int = std::ptr::null_mut();
                let mut flag = 0;
                pmpi::MPI_Comm_get_attr(
                    predefined("MPI_COMM_WORLD"),
                    constants::integers().tag_ub,
                    (&raw mut limit).cast(),
                    &mut flag,
                );
                let limit = if flag != 0 { *limit } else { 32767 };
                let mut duplicate: MPI_Comm = predefined("MPI_COMM_NULL");
                let failed = pmpi::MPI_Comm_dup(comm, &mut duplicate);
                if failed != SUCCESS {
                    return failed;
                }
                duplicate.write(private);
                let lowest = Box::into_raw(Box::new(limit));
                pmpi::MPI_Comm_set_attr(duplicate, key, lowest.cast());
                lowest
            }
        };
        *lowest -= count;
        first.write(*lowest);
    }
    SUCCESS
}

/// Gives tags back that [`MPE_GetTags`] gave last.
///
/// # Safety
/// The communicator that it gave.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub unsafe extern "C" fn MPE_ReturnTags(comm: MPI_Comm, first: c_int, count: c_int) -> c_int {
    if let Some(lowest) = attribute::<c_int>(comm.as_passed(), keyval(&TAGS, MPE_DelTag)) {
        // SAFETY: a number of ours.
        unsafe {
            if *lowest == first {
                *lowest += count;
            }
        }
    }
    SUCCESS
}

/// No more tags are wanted.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub extern "C" fn MPE_TagsEnd() -> c_int {
    if let Some(mut key) = TAGS.lock().take() {
        // SAFETY: a key of ours.
        unsafe { pmpi::MPI_Comm_free_keyval(&mut key) };
    }
    SUCCESS
}

/// Sends what is printed to stdout to a file: `name`, in which a `%d` is the rank.
///
/// # Safety
/// `name` ends with NUL.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub unsafe extern "C" fn MPE_IO_Stdout_to_file(name: *mut c_char, mode: c_int) {
    let mut rank = 0;
    // SAFETY: MPI is initialised, the name is the caller's.
    unsafe {
        pmpi::MPI_Comm_rank(predefined("MPI_COMM_WORLD"), &mut rank);
        let name = super::string(name).replacen("%d", &rank.to_string(), 1);
        let Ok(name) = std::ffi::CString::new(name) else {
            return;
        };
        let fd = libc::open(name.as_ptr(), libc::O_WRONLY | libc::O_CREAT, mode);
        if fd >= 0 {
            libc::fflush(std::ptr::null_mut());
            libc::dup2(fd, libc::STDOUT_FILENO);
            libc::close(fd);
        }
    }
}

/// Name of this host, at most `length` bytes with the NUL.
///
/// # Safety
/// `name` has so many bytes.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub unsafe extern "C" fn MPE_GetHostName(name: *mut c_char, length: c_int) {
    if let Ok(length @ 1..) = usize::try_from(length) {
        // SAFETY: by the caller.
        unsafe {
            libc::gethostname(name, length);
            name.add(length - 1).write(0);
        }
    }
}

/// The part `start` to `end` of 1 to `n` that process `rank` of `size` gets: parts differ by one at most, larger ones first.
///
/// # Safety
/// Places for the results.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub unsafe extern "C" fn MPE_Decomp1d(
    n: c_int,
    size: c_int,
    rank: c_int,
    start: *mut c_int,
    end: *mut c_int,
) -> c_int {
    let (first, last) = part(n, size, rank);
    // SAFETY: by the caller.
    unsafe {
        start.write(first);
        end.write(last);
    }
    SUCCESS
}

fn part(n: c_int, size: c_int, rank: c_int) -> (c_int, c_int) {
    let size = size.max(1);
    let (least, larger) = (n / size, n % size);
    let first = rank * least + rank.min(larger) + 1;
    let mut last = first + least - 1 + c_int::from(rank < larger);
    if last > n || rank == size - 1 {
        last = n;
    }
    (first, last)
}

/// The rank in MPI_COMM_WORLD of a communicator's rank.
///
/// # Safety
/// A valid communicator, the place of the result.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub unsafe extern "C" fn MPE_Comm_global_rank(comm: MPI_Comm, rank: c_int, world: *mut c_int) {
    // SAFETY: by the caller; the groups are freed.
    unsafe {
        let mut own: MPI_Group = predefined("MPI_GROUP_NULL");
        let mut all = own;
        pmpi::MPI_Comm_group(comm.as_passed(), &mut own);
        pmpi::MPI_Comm_group(predefined("MPI_COMM_WORLD"), &mut all);
        pmpi::MPI_Group_translate_ranks(own, 1, &rank, all, world);
        pmpi::MPI_Group_free(&mut own);
        pmpi::MPI_Group_free(&mut all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_and_differ_by_one_at_most() {
        for n in 0..40 {
            for size in 1..9 {
                let mut next = 1;
                for rank in 0..size {
                    let (first, last) = part(n, size, rank);
                    assert_eq!(first, next, "{n} {size} {rank}");
                    assert!((n / size..=n / size + 1).contains(&(last - first + 1)));
                    next = last + 1;
                }
                assert_eq!(next, n + 1);
            }
        }
    }
}
