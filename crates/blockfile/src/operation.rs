//! Operations below MPI: file calls that a rank makes into libc, requests that an I/O server gets, pieces of them that it
//! passes on, and transfers of a block device. Each is one record like that of a call, in a number range of its own.
//!
//! ```text
//! head   function FIRST + position in KINDS, start, duration; ERROR: errno; the call is that of the MPI call around it
//! 0   u32  flags
//! 4   i32  descriptor; of a device -1
//! 8   i64  offset in the file (device: in the device), bytes; -1 where there is none or it is not known
//! 16  i64  bytes asked for; of resizing calls the new size
//! 24  i64  result; of transfers the bytes moved
//! 32       CALL: u64 CallID | CONTROL: u64 | SECTORS: u64, u64 | REQUEST: u64, u64, u32, u64 | PEER: i32, i64
//! ```

use crate::args::ByteCursor;
pub use crate::numbers::FIRST_OPERATION as FIRST;

/// No MPI call is running on the thread.
pub const OUTSIDE: u32 = 1;
/// The MPI call around the operation is none of MPI_File_*: such a call has put the work off.
pub const DEFERRED: u32 = 2;
/// A CallID follows: the MPI call for which a server or device works.
pub const CALL: u32 = 4;
/// The address of a control block follows. It connects the start of an asynchronous operation with its completion.
pub const CONTROL: u32 = 8;
/// Two counts of sectors of 512 bytes follow: read from the device, and newly to be written to it, as the kernel accounted for
/// the thread.
pub const SECTORS: u32 = 16;
/// A [`ServerRequest`] follows.
pub const REQUEST: u32 = 32;
/// Flag: a second descriptor and its offset follow (copy_file_range, sendfile, dup2).
pub const PEER: u32 = 64;
/// The transfer bypasses the page cache (O_DIRECT).
pub const DIRECT: u32 = 128;

/// The layer in which an operation takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// A call into libc, by a rank or by an I/O server for its own disk.
    Libc,
    /// A request that an I/O server works on, from its arrival to the answer.
    Request,
    /// A piece of a request at one of several data servers.
    Stripe,
    /// A transfer of a block device, from queue to completion.
    Device,
}

/// Effect of an operation on its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effect {
    /// Moves bytes from the file.
    Read,
    /// Moves bytes to the file.
    Write,
    /// Begins to move bytes from the file; a [`Effect::Complete`] operation ends it.
    StartRead,
    /// Begins to move bytes to the file; a [`Effect::Complete`] operation ends it.
    StartWrite,
    /// Gives the result of a transfer that was begun.
    Complete,
    /// Opens a file.
    Open,
    /// Closes a descriptor.
    Close,
    /// Waits until data are on the device.
    Sync,
    /// Takes or frees a lock of a range.
    Lock,
    /// Changes the size of the file or reserves space.
    Resize,
    /// Changes or asks for names and attributes.
    Name,
    /// Moves the file position.
    Seek,
    /// Maps the file into memory.
    Map,
}

/// A kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationKind {
    /// Name; for libc calls that of the function without 64.
    pub name: &'static str,
    /// The layer in which it takes place.
    pub layer: Layer,
    /// Effect of the operation.
    pub effect: Effect,
}

macro_rules! kinds {
    ($($layer:ident { $($constant:ident $name:literal $effect:ident)* })*) => {
        /// All kinds; the number of a record is [`FIRST`] and the position here. New ones go to the end of the whole list, so that files
        /// of older versions mean what they did, together with a new [`crate::layout::VERSION`].
        pub const KINDS: &[OperationKind] = &[$($(OperationKind {
            name: $name,
            layer: Layer::$layer,
            effect: Effect::$effect,
        },)*)*];
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum KindPosition { $($($constant,)*)* }
        $($(
            #[doc = concat!("Number of `", $name, "`.")]
            pub const $constant: u16 = FIRST + KindPosition::$constant as u16;
        )*)*
    };
}

kinds! {
    Libc {
        OPEN "open" Open
        OPENAT "openat" Open
        CREAT "creat" Open
        CLOSE "close" Close
        READ "read" Read
        WRITE "write" Write
        PREAD "pread" Read
        PWRITE "pwrite" Write
        READV "readv" Read
        WRITEV "writev" Write
        PREADV "preadv" Read
        PWRITEV "pwritev" Write
        PREADV2 "preadv2" Read
        PWRITEV2 "pwritev2" Write
        LSEEK "lseek" Seek
        FTRUNCATE "ftruncate" Resize
        TRUNCATE "truncate" Resize
        FALLOCATE "fallocate" Resize
        POSIX_FALLOCATE "posix_fallocate" Resize
        FSYNC "fsync" Sync
        FDATASYNC "fdatasync" Sync
        SYNC_FILE_RANGE "sync_file_range" Sync
        FCNTL_LOCK "fcntl lock" Lock
        FCNTL_UNLOCK "fcntl unlock" Lock
        FLOCK "flock" Lock
        UNLINK "unlink" Name
        UNLINKAT "unlinkat" Name
        RENAME "rename" Name
        AIO_READ "aio_read" StartRead
        AIO_WRITE "aio_write" StartWrite
        AIO_FSYNC "aio_fsync" Sync
        AIO_RETURN "aio_return" Complete
        LIO_LISTIO "lio_listio" Name
        MMAP "mmap" Map
        MSYNC "msync" Sync
        COPY_FILE_RANGE "copy_file_range" Write
        SENDFILE "sendfile" Write
    }
    Request {
        REQUEST_LOOKUP "request lookup" Name
        REQUEST_GETATTR "request getattr" Name
        REQUEST_SETATTR "request setattr" Resize
        REQUEST_OPEN "request open" Open
        REQUEST_CREATE "request create" Open
        REQUEST_READ "request read" Read
        REQUEST_WRITE "request write" Write
        REQUEST_FLUSH "request flush" Close
        REQUEST_RELEASE "request release" Close
        REQUEST_FSYNC "request fsync" Sync
        REQUEST_FALLOCATE "request fallocate" Resize
        REQUEST_UNLINK "request unlink" Name
        REQUEST_RENAME "request rename" Name
        REQUEST_READDIR "request readdir" Name
        REQUEST_OTHER "request other" Name
        REQUEST_QUEUED "queued" Name
    }
    Stripe {
        STRIPE_READ "stripe read" Read
        STRIPE_WRITE "stripe write" Write
        STRIPE_SYNC "stripe sync" Sync
        STRIPE_RESIZE "stripe resize" Resize
        STRIPE_OTHER "stripe other" Name
    }
    Device {
        DEVICE_READ "device read" Read
        DEVICE_WRITE "device write" Write
        DEVICE_FLUSH "device flush" Sync
        DEVICE_DISCARD "device discard" Resize
        DEVICE_METADATA_READ "device metadata read" Name
        DEVICE_METADATA_WRITE "device metadata write" Name
    }
    Libc {
        STAT "stat" Name
        LSTAT "lstat" Name
        FSTAT "fstat" Name
        FSTATAT "fstatat" Name
        STATX "statx" Name
        ACCESS "access" Name
        FACCESSAT "faccessat" Name
    }
}

/// The kind of operation that records of this number are of.
#[inline]
pub fn kind(number: u16) -> Option<&'static OperationKind> {
    KINDS.get(usize::from(number.checked_sub(FIRST)?))
}

/// Origin of a request to an I/O server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerRequest {
    /// Number of the request, equal in all records that work on it.
    pub unique: u64,
    /// Inode number of the file in the store.
    pub inode: u64,
    /// System thread ID of the asking thread; 0 where the kernel asked by itself.
    pub tid: u32,
    /// Time of arrival, ticks.
    pub arrived: u64,
}

/// An operation as its record has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationRecord {
    /// [`OUTSIDE`], [`DEFERRED`], [`DIRECT`]; the flags of the optional parts are set when it is encoded.
    pub flags: u32,
    /// Descriptor, -1 where there is none.
    pub fd: i32,
    /// Offset in bytes, -1 where there is none or it is not known.
    pub offset: i64,
    /// Bytes asked for.
    pub size: i64,
    /// Return value; for transfers the bytes moved.
    pub result: i64,
    /// CallID of the MPI call that the operation is for, where the head has none.
    pub call: Option<u64>,
    /// Address of the control block.
    pub control: Option<u64>,
    /// Sectors of 512 bytes read from the device, and newly to be written to it.
    pub sectors: Option<(u64, u64)>,
    /// Origin of the request.
    pub request: Option<ServerRequest>,
    /// The second descriptor and its offset.
    pub peer: Option<(i32, i64)>,
}

/// Maximum size of an encoded operation, bytes.
pub const MAX_ENCODED_BYTES: usize = 32 + 8 + 8 + 16 + 28 + 12;

impl OperationRecord {
    /// The payload, and how many bytes of it there are.
    pub fn encode(&self) -> ([u8; MAX_ENCODED_BYTES], usize) {
        let mut out = [0; MAX_ENCODED_BYTES];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        let optional = CALL | CONTROL | SECTORS | REQUEST | PEER;
        let mut flags = self.flags & !optional;
        for (is, flag) in [
            (self.call.is_some(), CALL),
            (self.control.is_some(), CONTROL),
            (self.sectors.is_some(), SECTORS),
            (self.request.is_some(), REQUEST),
            (self.peer.is_some(), PEER),
        ] {
            flags |= if is { flag } else { 0 };
        }
        put(&flags.to_ne_bytes());
        put(&self.fd.to_ne_bytes());
        put(&self.offset.to_ne_bytes());
        put(&self.size.to_ne_bytes());
        put(&self.result.to_ne_bytes());
        if let Some(call) = self.call {
            put(&call.to_ne_bytes());
        }
        if let Some(control) = self.control {
            put(&control.to_ne_bytes());
        }
        if let Some((read, written)) = self.sectors {
            put(&read.to_ne_bytes());
            put(&written.to_ne_bytes());
        }
        if let Some(request) = self.request {
            put(&request.unique.to_ne_bytes());
            put(&request.inode.to_ne_bytes());
            put(&request.tid.to_ne_bytes());
            put(&request.arrived.to_ne_bytes());
        }
        if let Some((fd, offset)) = self.peer {
            put(&fd.to_ne_bytes());
            put(&offset.to_ne_bytes());
        }
        (out, at)
    }

    /// The operation of this payload; `None` if it is damaged.
    pub fn decode(payload: &[u8]) -> Option<OperationRecord> {
        let b = &mut ByteCursor::new(payload);
        let flags = b.u32()?;
        let has = |flag| flags & flag != 0;
        Some(OperationRecord {
            flags: flags & !(CALL | CONTROL | SECTORS | REQUEST | PEER),
            fd: b.i32()?,
            offset: b.i64()?,
            size: b.i64()?,
            result: b.i64()?,
            call: if has(CALL) { Some(b.u64()?) } else { None },
            control: if has(CONTROL) { Some(b.u64()?) } else { None },
            sectors: if has(SECTORS) {
                Some((b.u64()?, b.u64()?))
            } else {
                None
            },
            request: if has(REQUEST) {
                Some(ServerRequest {
                    unique: b.u64()?,
                    inode: b.u64()?,
                    tid: b.u32()?,
                    arrived: b.u64()?,
                })
            } else {
                None
            },
            peer: if has(PEER) {
                Some((b.i32()?, b.i64()?))
            } else {
                None
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::FIRST_UNKNOWN;

    #[test]
    fn numbers_are_below_those_of_unknown_functions() {
        assert!(FIRST as usize + KINDS.len() <= FIRST_UNKNOWN as usize);
        assert_eq!(kind(PWRITE).map(|k| k.name), Some("pwrite"));
        assert_eq!(kind(DEVICE_FLUSH).map(|k| k.layer), Some(Layer::Device));
        assert_eq!(kind(FIRST - 1), None);
    }

    #[test]
    fn operations_round_trip() {
        for parts in 0..32u64 {
            let operation = OperationRecord {
                flags: DEFERRED,
                fd: 7,
                offset: -1,
                size: 1 << 40,
                result: -1,
                call: (parts & 1 != 0).then_some(3),
                control: (parts & 2 != 0).then_some(4),
                sectors: (parts & 4 != 0).then_some((5, 6)),
                request: (parts & 8 != 0).then_some(ServerRequest {
                    unique: 1,
                    inode: 2,
                    tid: 3,
                    arrived: 4,
                }),
                peer: (parts & 16 != 0).then_some((9, 10)),
            };
            let (bytes, size) = operation.encode();
            assert_eq!(OperationRecord::decode(&bytes[..size]), Some(operation));
            for cut in 0..size {
                assert_eq!(OperationRecord::decode(&bytes[..cut]), None);
            }
        }
    }
}
