//! Messages between the recorders of the ranks, on their own communicator. Nothing waits forever: every wait has a patience,
//! after which the exchange is given up and the buffers are left to MPI; it ends before if a neighbour gives up ([`super::giving_up`]).
//!
//! Waiting yields the processor: on an oversubscribed node a rank that spins keeps the one it waits for from running.

use super::failure::ExchangeFailure;
use super::line::{Exchange, MESSAGE_BYTES, pause};
use super::patience::Patience;
use super::reasons::{self, MAX_REASON_BYTES};
use super::running;
use super::under_way;
use crate::mpi::constants::{self, predefined};
use crate::mpi::pmpi;
use crate::mpi::status::Status;
use crate::mpi::types::{MPI_Comm, MPI_Datatype, MPI_Request};
use crate::platform::clock;
use std::ffi::{c_int, c_void};
use std::time::Duration;

/// Looks of a rank that was stopped, which take some 0.1 s.
const LOOKS_AFTER_A_STOP: u32 = 500;
/// Most bytes of a message that MPI sends whether or not the other rank takes it. A reason for giving up is as short.
const MAX_SHORT_BYTES: usize = MAX_REASON_BYTES;

/// A message under way. Its buffer stays where it is until the message is complete; if that never happens, for good.
pub struct PendingMessage {
    request: MPI_Request,
    /// The request as it stands in the list of those that are [`under_way`], if it does.
    known: MPI_Request,
    buffer: Vec<u8>,
    partner: i32,
    done: bool,
}

impl PendingMessage {
    /// The rank at the other end.
    pub fn partner(&self) -> i32 {
        self.partner
    }

    /// A message that is not under way yet.
    fn new(partner: i32, buffer: Vec<u8>) -> PendingMessage {
        PendingMessage {
            request: predefined("MPI_REQUEST_NULL"),
            known: predefined("MPI_REQUEST_NULL"),
            buffer,
            partner,
            done: false,
        }
    }

    /// Enters it into the list. Where that is full it is MPI's, should it not be completed.
    fn listed(mut self, receives: bool) -> PendingMessage {
        if under_way::add(self.request, receives) {
            self.known = self.request;
        }
        self
    }
}

impl Drop for PendingMessage {
    fn drop(&mut self) {
        if self.done || self.request.bits() == constants::handle("MPI_REQUEST_NULL") {
            under_way::remove(self.known);
            return;
        }
        // MPI may still write to the buffer or read from it. A message of the list stays there.
        std::mem::forget(std::mem::take(&mut self.buffer));
        if self.known.bits() == constants::handle("MPI_REQUEST_NULL") {
            // SAFETY: a request of ours.
            unsafe { pmpi::MPI_Request_free(&mut self.request) };
        }
    }
}

/// MPI_Isend and its like.
type StartSend = unsafe fn(
    *const c_void,
    c_int,
    MPI_Datatype,
    c_int,
    c_int,
    MPI_Comm,
    *mut MPI_Request,
) -> c_int;

fn check(code: c_int) -> Result<(), ExchangeFailure> {
    if code == 0 {
        Ok(())
    } else {
        Err(ExchangeFailure::Mpi(code))
    }
}

impl Exchange {
    /// Starts to send `buffer`.
    ///
    /// # Errors
    /// MPI's. For a message that is not short also that a neighbour has given up ([`Exchange::listen`]).
    pub fn start_send(
        &self,
        to: i32,
        tag: i32,
        buffer: Vec<u8>,
    ) -> Result<PendingMessage, ExchangeFailure> {
        if buffer.len() > MAX_SHORT_BYTES {
            self.listen()?;
        }
        self.start_send_with(pmpi::MPI_Isend, to, tag, buffer)
    }

    /// Starts to send `buffer`. The message is complete when the other rank has begun to take it.
    ///
    /// # Errors
    /// MPI's, and that a neighbour has given up ([`Exchange::listen`]).
    pub fn start_synchronous_send(
        &self,
        to: i32,
        tag: i32,
        buffer: Vec<u8>,
    ) -> Result<PendingMessage, ExchangeFailure> {
        self.listen()?;
        self.start_send_with(pmpi::MPI_Issend, to, tag, buffer)
    }

    /// Looks whether a neighbour has given up. A rank that finds no reason to wait does not look by itself: those that have given up take
    /// what it sends. Once they have left, its MPI_Finalize would wait for ever for a message that they have not seen, that of MPICH with UCX.
    fn listen(&self) -> Result<(), ExchangeFailure> {
        self.listen_after_a_stop()?;
        reasons::heard(self).map_or(Ok(()), Err)
    }

    /// Looks often whether a neighbour has given up, if this rank was stopped for so long that it may have: MPI shows what has come meanwhile
    /// bit by bit, and the reason lies behind the rest.
    fn listen_after_a_stop(&self) -> Result<(), ExchangeFailure> {
        if !running::has_stopped(self.deadline) {
            return Ok(());
        }
        for turn in 0..LOOKS_AFTER_A_STOP {
            if let Some(failure) = reasons::heard(self) {
                return Err(failure);
            }
            pause(turn);
        }
        Ok(())
    }

    fn start_send_with(
        &self,
        function: StartSend,
        to: i32,
        tag: i32,
        buffer: Vec<u8>,
    ) -> Result<PendingMessage, ExchangeFailure> {
        let mut pending = PendingMessage::new(to, buffer);
        let (bytes, byte) = (pending.buffer.as_ptr().cast(), predefined("MPI_BYTE"));
        let (length, comm) = (pending.buffer.len() as c_int, self.comm.0);
        let request = &mut pending.request;
        // SAFETY: the buffer lives in `pending` until the request is complete.
        check(unsafe { function(bytes, length, byte, to, tag, comm, request) })?;
        Ok(pending.listed(false))
    }

    /// The number of bytes of a message that is complete; `None` if it is not.
    pub fn test(&self, pending: &mut PendingMessage) -> Result<Option<usize>, ExchangeFailure> {
        let mut status = Status::unset();
        let mut flag = 0;
        // SAFETY: a request of ours, and a place for its status.
        check(unsafe { pmpi::MPI_Test(&mut pending.request, &mut flag, status.place()) })?;
        if flag == 0 {
            return Ok(None);
        }
        pending.done = true;
        // SAFETY: all bytes are set, at least to zero.
        let found = status.decode();
        Ok(Some(found.bytes as usize))
    }

    /// Takes a message with this tag, from that rank or from anyone, if one is there. Gives the sender and the bytes.
    pub fn take_any(
        &self,
        from: Option<i32>,
        tag: i32,
    ) -> Result<Option<(i32, Vec<u8>)>, ExchangeFailure> {
        self.listen_after_a_stop()?;
        let from = from.unwrap_or(constants::integers().any_source);
        let Some(found) = self.probe(from, tag).map_err(ExchangeFailure::Mpi)? else {
            return Ok(None);
        };
        let room = vec![0; found.bytes as usize];
        let pending = self.start_receive(found.source, tag, room)?;
        let (mut bytes, length) = self.wait(pending)?;
        bytes.truncate(length);
        Ok(Some((found.source, bytes)))
    }

    /// Starts to receive into `buffer`, which must be as long as the longest message.
    pub fn start_receive(
        &self,
        from: i32,
        tag: i32,
        buffer: Vec<u8>,
    ) -> Result<PendingMessage, ExchangeFailure> {
        let mut pending = PendingMessage::new(from, buffer);
        let (bytes, byte) = (pending.buffer.as_mut_ptr().cast(), predefined("MPI_BYTE"));
        let (length, comm) = (pending.buffer.len() as c_int, self.comm.0);
        let request = &mut pending.request;
        // SAFETY: the buffer lives in `pending` until the request is complete.
        check(unsafe { pmpi::MPI_Irecv(bytes, length, byte, from, tag, comm, request) })?;
        Ok(pending.listed(true))
    }

    /// Waits for a message; gives its buffer and the number of bytes received.
    pub fn wait(&self, mut pending: PendingMessage) -> Result<(Vec<u8>, usize), ExchangeFailure> {
        let mut patience = Patience::new(self.deadline);
        let mut turns = 0u32;
        loop {
            if let Some(bytes) = self.test(&mut pending)? {
                return Ok((std::mem::take(&mut pending.buffer), bytes));
            }
            turns += 1;
            match turns {
                0..64 => std::hint::spin_loop(),
                64..256 => std::thread::yield_now(),
                _ => clock::nap(Duration::from_micros(50 + u64::from(turns.min(1000)))),
            }
            if turns.is_multiple_of(64)
                && let Some(failure) = reasons::heard(self)
            {
                return Err(failure);
            }
            // Asked each time: what passes between two looks may be a stop.
            if turns >= 64 && patience.is_over() {
                return Err(ExchangeFailure::Silence(pending.partner));
            }
        }
    }

    /// Sends a short message and waits until its buffer is free again.
    pub fn send(&self, to: i32, tag: i32, bytes: &[u8]) -> Result<(), ExchangeFailure> {
        let pending = self.start_send(to, tag, bytes.to_vec())?;
        self.wait(pending).map(drop)
    }

    /// Receives a message of exactly `N` bytes.
    pub fn receive<const N: usize>(&self, from: i32, tag: i32) -> Result<[u8; N], ExchangeFailure> {
        let pending = self.start_receive(from, tag, vec![0; N])?;
        let (buffer, n) = self.wait(pending)?;
        match <[u8; N]>::try_from(buffer.as_slice()) {
            Ok(message) if n == N => Ok(message),
            _ => Err(ExchangeFailure::Nonsense(from)),
        }
    }

    /// Sends bytes of any number: their count, then parts.
    pub fn send_all(&self, to: i32, tag: i32, bytes: &[u8]) -> Result<(), ExchangeFailure> {
        self.send(to, tag, &(bytes.len() as u64).to_ne_bytes())?;
        for part in bytes.chunks(MESSAGE_BYTES) {
            self.send(to, tag, part)?;
        }
        Ok(())
    }

    /// Receives what [`Exchange::send_all`] sent.
    pub fn receive_all(&self, from: i32, tag: i32) -> Result<Vec<u8>, ExchangeFailure> {
        let total = u64::from_ne_bytes(self.receive::<8>(from, tag)?) as usize;
        let mut all = Vec::new();
        while all.len() < total {
            let room = vec![0; MESSAGE_BYTES.min(total - all.len())];
            let (part, n) = self.wait(self.start_receive(from, tag, room)?)?;
            if n == 0 {
                return Err(ExchangeFailure::Nonsense(from));
            }
            all.extend_from_slice(part.get(..n).unwrap_or_default());
        }
        Ok(all)
    }
}
