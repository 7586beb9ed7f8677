//! What the ranks of a merge by slices say to each other, whatever carries it: MPI between processes, or queues between threads.

use std::collections::VecDeque;

/// Kinds of messages. Those of one kind between two ranks come in the order in which they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MessageTag {
    /// Drawables and records of a window; windows of one owner are numbered, modulo [`MessageTag::WINDOWS`].
    Window(u16),
    /// A stage of [`route`].
    Route(u16),
    /// Previews of the nodes of a height.
    Preview(u16),
    /// To the parent in the tree of ranks.
    Up,
    /// To the children.
    Down,
}

impl MessageTag {
    /// Numbers of windows.
    pub const WINDOWS: u16 = 64;

    /// A number for each tag, below 256.
    pub fn number(self) -> u16 {
        match self {
            MessageTag::Window(nth) => nth % MessageTag::WINDOWS,
            MessageTag::Route(stage) => 64 + stage % 64,
            MessageTag::Preview(depth) => 128 + depth % 64,
            MessageTag::Up => 192,
            MessageTag::Down => 193,
        }
    }
}

/// The ranks that merge together, as one of them sees the others.
pub trait Peers {
    /// Why the ranks could not go on together.
    type Failure;

    /// This rank.
    fn rank(&self) -> u32;

    /// Number of ranks.
    fn size(&self) -> u32;

    /// Begins to send. The message counts as under way until the other rank has begun to take it.
    ///
    /// # Errors
    /// Of what carries messages.
    fn post(&mut self, to: u32, tag: MessageTag, bytes: Vec<u8>) -> Result<(), Self::Failure>;

    /// Bytes of messages under way.
    ///
    /// # Errors
    /// Of what carries messages.
    fn under_way(&mut self) -> Result<usize, Self::Failure>;

    /// Takes a message of this tag, of `from` or of anyone, if there is one. Gives the sender, too.
    ///
    /// # Errors
    /// Of what carries messages.
    fn take(
        &mut self,
        from: Option<u32>,
        tag: MessageTag,
    ) -> Result<Option<(u32, Vec<u8>)>, Self::Failure>;

    /// Leaves the processor to others for a moment; `turn` says how often that was in vain.
    ///
    /// # Errors
    /// When another rank has given up, or was waited for too long.
    fn idle(&mut self, turn: u32) -> Result<(), Self::Failure>;

    /// What to fail with when `from` sent something unexpected.
    fn nonsense(&self, from: u32) -> Self::Failure;
}

/// Waits for a message of this rank and tag.
pub(super) fn receive<P: Peers>(
    peers: &mut P,
    from: u32,
    tag: MessageTag,
) -> Result<Vec<u8>, P::Failure> {
    let mut turn = 0;
    loop {
        if let Some((_, bytes)) = peers.take(Some(from), tag)? {
            return Ok(bytes);
        }
        peers.idle(turn)?;
        turn += 1;
    }
}

/// Waits until others have taken all that was sent.
pub(super) fn settle<P: Peers>(peers: &mut P) -> Result<(), P::Failure> {
    let mut turn = 0;
    while peers.under_way()? > 0 {
        peers.idle(turn)?;
        turn += 1;
    }
    Ok(())
}

/// Joins what all ranks have, up a binary tree: rank 0 gets the whole, others `None`. Collective.
pub(super) fn join<P: Peers>(
    peers: &mut P,
    mut own: Vec<u8>,
    mut with: impl FnMut(&mut Vec<u8>, &[u8]),
) -> Result<Option<Vec<u8>>, P::Failure> {
    let (rank, size) = (u64::from(peers.rank()), u64::from(peers.size()));
    for child in [2 * rank + 1, 2 * rank + 2] {
        if child < size {
            let theirs = receive(peers, child as u32, MessageTag::Up)?;
            with(&mut own, &theirs);
        }
    }
    if rank == 0 {
        return Ok(Some(own));
    }
    peers.post(((rank - 1) / 2) as u32, MessageTag::Up, own)?;
    settle(peers)?;
    Ok(None)
}

/// Gives every rank what rank 0 has. Collective.
///
/// # Errors
/// When the ranks could not go on together.
pub fn spread<P: Peers>(peers: &mut P, own: Vec<u8>) -> Result<Vec<u8>, P::Failure> {
    let (rank, size) = (u64::from(peers.rank()), u64::from(peers.size()));
    let bytes = match rank {
        0 => own,
        _ => receive(peers, ((rank - 1) / 2) as u32, MessageTag::Down)?,
    };
    for child in [2 * rank + 1, 2 * rank + 2] {
        if child < size {
            peers.post(child as u32, MessageTag::Down, bytes.clone())?;
        }
    }
    settle(peers)?;
    Ok(bytes)
}

/// Things for other ranks: for each the rank, its length, and its bytes.
#[derive(Debug, Default)]
pub(super) struct Mail {
    bytes: Vec<u8>,
}

impl Mail {
    /// Adds a thing for rank `to`, whose bytes `write` appends.
    pub(super) fn add(&mut self, to: u32, write: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.extend_from_slice(&to.to_le_bytes());
        let length_at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        write(&mut self.bytes);
        let length = (self.bytes.len() - length_at - 4) as u32;
        self.bytes[length_at..length_at + 4].copy_from_slice(&length.to_le_bytes());
    }

    /// The bytes of all things.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The things in bytes of [`Mail::bytes`], each with the rank it is for.
    pub(super) fn things(bytes: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
        let mut rest = bytes;
        std::iter::from_fn(move || {
            let (to, behind) = rest.split_first_chunk()?;
            let (length, behind) = behind.split_first_chunk()?;
            let (thing, behind) = behind.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            rest = behind;
            Some((u32::from_le_bytes(*to), thing))
        })
    }
}

/// Brings all things where they are to go, in log2(ranks) messages of each rank: in stage i what has a way of 2^i ranks to go is passed on
/// by that. Gives the things for this rank. Collective.
pub(super) fn route<P: Peers>(peers: &mut P, mail: Mail) -> Result<Vec<Vec<u8>>, P::Failure> {
    let (rank, size) = (peers.rank(), peers.size());
    let mut here = mail.bytes;
    let mut stage = 0;
    while 1u64 << stage < u64::from(size) {
        let step = 1u32 << stage;
        let (mut stays, mut goes) = (Mail::default(), Mail::default());
        for (to, thing) in Mail::things(&here) {
            let way = (u64::from(to) + u64::from(size) - u64::from(rank)) % u64::from(size);
            let bag = match way >> stage & 1 {
                0 => &mut stays,
                _ => &mut goes,
            };
            bag.add(to, |bytes| bytes.extend_from_slice(thing));
        }
        let tag = MessageTag::Route(stage);
        peers.post((rank + step) % size, tag, goes.bytes)?;
        here = stays.bytes;
        here.extend(receive(peers, (rank + size - step) % size, tag)?);
        settle(peers)?;
        stage += 1;
    }
    Ok(Mail::things(&here)
        .map(|(_, thing)| thing.to_vec())
        .collect())
}

/// Messages to a rank, and how many bytes of each sender nobody has taken.
#[derive(Debug, Default)]
struct Mailbox {
    waiting: VecDeque<(u32, MessageTag, Vec<u8>)>,
}

/// Ranks that are threads of one process.
#[derive(Debug)]
pub struct ThreadPeers {
    rank: u32,
    shared: std::sync::Arc<ThreadPost>,
}

#[derive(Debug)]
struct ThreadPost {
    boxes: Vec<std::sync::Mutex<Mailbox>>,
    under_way: Vec<std::sync::atomic::AtomicUsize>,
    given_up: std::sync::atomic::AtomicBool,
}

/// Another thread has given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadsGaveUp;

impl ThreadPeers {
    /// One for each of `ranks` threads.
    pub fn new(ranks: u32) -> Vec<ThreadPeers> {
        let shared = std::sync::Arc::new(ThreadPost {
            boxes: (0..ranks).map(|_| std::sync::Mutex::default()).collect(),
            under_way: (0..ranks).map(|_| 0.into()).collect(),
            given_up: false.into(),
        });
        let peer = |rank| ThreadPeers {
            rank,
            shared: shared.clone(),
        };
        (0..ranks).map(peer).collect()
    }
}

impl Drop for ThreadPeers {
    /// A thread that panics must not let the others wait for it.
    fn drop(&mut self) {
        if std::thread::panicking() {
            let given_up = &self.shared.given_up;
            given_up.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

impl Peers for ThreadPeers {
    type Failure = ThreadsGaveUp;

    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.shared.boxes.len() as u32
    }

    fn post(&mut self, to: u32, tag: MessageTag, bytes: Vec<u8>) -> Result<(), ThreadsGaveUp> {
        use std::sync::atomic::Ordering::Relaxed;
        let room = self.shared.boxes.get(to as usize).ok_or(ThreadsGaveUp)?;
        // An empty message is one that has to be taken, too.
        self.shared.under_way[self.rank as usize].fetch_add(bytes.len().max(1), Relaxed);
        let mut room = room.lock().map_err(|_| ThreadsGaveUp)?;
        room.waiting.push_back((self.rank, tag, bytes));
        Ok(())
    }

    fn under_way(&mut self) -> Result<usize, ThreadsGaveUp> {
        let count = &self.shared.under_way[self.rank as usize];
        Ok(count.load(std::sync::atomic::Ordering::Relaxed))
    }

    fn take(
        &mut self,
        from: Option<u32>,
        tag: MessageTag,
    ) -> Result<Option<(u32, Vec<u8>)>, ThreadsGaveUp> {
        let own = &self.shared.boxes[self.rank as usize];
        let mut own = own.lock().map_err(|_| ThreadsGaveUp)?;
        let is_it = |(sender, of, _): &(u32, MessageTag, Vec<u8>)| {
            *of == tag && from.is_none_or(|from| from == *sender)
        };
        let Some(at) = own.waiting.iter().position(is_it) else {
            return Ok(None);
        };
        let Some((sender, _, bytes)) = own.waiting.remove(at) else {
            return Ok(None);
        };
        let under_way = &self.shared.under_way[sender as usize];
        under_way.fetch_sub(bytes.len().max(1), std::sync::atomic::Ordering::Relaxed);
        Ok(Some((sender, bytes)))
    }

    fn idle(&mut self, turn: u32) -> Result<(), ThreadsGaveUp> {
        if self
            .shared
            .given_up
            .load(std::sync::atomic::Ordering::Relaxed)
        {
            return Err(ThreadsGaveUp);
        }
        match turn {
            0..64 => std::thread::yield_now(),
            _ => std::thread::sleep(std::time::Duration::from_micros(50)),
        }
        Ok(())
    }

    fn nonsense(&self, _: u32) -> ThreadsGaveUp {
        ThreadsGaveUp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `each` on as many threads as there are ranks, and gives what they gave, by rank.
    fn on_all<T: Send>(ranks: u32, each: impl Fn(&mut ThreadPeers) -> T + Sync) -> Vec<T> {
        std::thread::scope(|scope| {
            let peers = ThreadPeers::new(ranks).into_iter();
            let threads: Vec<_> = peers
                .map(|own| scope.spawn(|| each(&mut { own })))
                .collect();
            let threads = threads.into_iter();
            threads.map(|one| one.join().expect("no panic")).collect()
        })
    }

    #[test]
    fn things_come_to_their_ranks() {
        for ranks in [1, 2, 3, 5, 8, 13] {
            let got = on_all(ranks, |peers| {
                let mut mail = Mail::default();
                for to in 0..ranks {
                    for nth in 0..to % 3 {
                        let thing = [peers.rank(), to, nth].map(|n| n as u8);
                        mail.add(to, |bytes| bytes.extend_from_slice(&thing));
                    }
                }
                let mut things = route(peers, mail).expect("all take part");
                things.sort_unstable();
                things
            });
            for (rank, things) in (0..ranks).zip(got) {
                let expected: Vec<Vec<u8>> = (0..ranks)
                    .flat_map(|from| (0..rank % 3).map(move |nth| [from, rank, nth]))
                    .map(|thing| thing.map(|n| n as u8).to_vec())
                    .collect();
                assert_eq!(things, expected, "rank {rank} of {ranks}");
            }
        }
    }

    #[test]
    fn all_get_what_all_have() {
        for ranks in 1..10 {
            let got = on_all(ranks, |peers| {
                let own = vec![peers.rank() as u8];
                let whole = join(peers, own, |own, theirs| own.extend_from_slice(theirs));
                let whole = whole.expect("all take part").unwrap_or_default();
                spread(peers, whole).expect("all take part")
            });
            for mut whole in got {
                whole.sort_unstable();
                assert_eq!(whole, (0..ranks as u8).collect::<Vec<_>>());
            }
        }
    }
}
