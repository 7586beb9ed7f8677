//! The ranks of a merge by slices, which exchange messages with all others and not only with their neighbours in the tree.

use super::failure::ExchangeFailure;
use super::line::{Exchange, pause};
use super::messages::PendingMessage;
use super::patience::Patience;
use super::reasons;
use merge::slices::{MessageTag, Peers};
use std::collections::VecDeque;

/// Tag of the messages of [`MessageTag`] number 0; the others follow.
const FIRST_TAG: i32 = 1000;
/// Least number of bytes that a message counts as, so that few are under way, however short they are ([`merge::slices::MAX_UNDER_WAY`]).
const MIN_MESSAGE_BYTES: usize = 64 << 10;
/// Messages that are asked for, of those that others have not begun to take.
const ASKED_AT_ONCE: usize = 4;

/// Exchange with all ranks on the recorder's communicator.
pub struct MpiPeers<'a> {
    line: &'a Exchange,
    sent: VecDeque<(PendingMessage, usize)>,
    /// How long nothing has come.
    silence: Patience,
    /// The rank that was waited for last.
    awaited: i32,
}

impl<'a> MpiPeers<'a> {
    pub fn new(line: &'a Exchange) -> MpiPeers<'a> {
        MpiPeers {
            line,
            sent: VecDeque::new(),
            silence: Patience::new(line.deadline),
            awaited: 0,
        }
    }
}

fn tag_number(tag: MessageTag) -> i32 {
    FIRST_TAG + i32::from(tag.number())
}

impl Peers for MpiPeers<'_> {
    type Failure = ExchangeFailure;

    fn rank(&self) -> u32 {
        self.line.rank.unsigned_abs()
    }

    fn size(&self) -> u32 {
        self.line.size.unsigned_abs()
    }

    fn post(&mut self, to: u32, tag: MessageTag, bytes: Vec<u8>) -> Result<(), ExchangeFailure> {
        let counted = bytes.len().max(MIN_MESSAGE_BYTES);
        let message = self
            .line
            .start_synchronous_send(to as i32, tag_number(tag), bytes)?;
        self.sent.push_back((message, counted));
        Ok(())
    }

    fn under_way(&mut self) -> Result<usize, ExchangeFailure> {
        let mut at = 0;
        let mut asked = 0;
        while at < self.sent.len() && asked < ASKED_AT_ONCE {
            let Some((message, _)) = self.sent.get_mut(at) else {
                break;
            };
            if self.line.test(message)?.is_some() {
                self.sent.remove(at);
                self.silence.renew();
            } else {
                at += 1;
                asked += 1;
            }
        }
        Ok(self.sent.iter().map(|(_, bytes)| bytes).sum())
    }

    fn take(
        &mut self,
        from: Option<u32>,
        tag: MessageTag,
    ) -> Result<Option<(u32, Vec<u8>)>, ExchangeFailure> {
        self.awaited = from.map_or(self.awaited, |from| from as i32);
        let found = self
            .line
            .take_any(from.map(|from| from as i32), tag_number(tag))?;
        Ok(found.map(|(sender, bytes)| {
            self.silence.renew();
            (sender.unsigned_abs(), bytes)
        }))
    }

    fn idle(&mut self, turn: u32) -> Result<(), ExchangeFailure> {
        pause(turn);
        if turn % 64 == 63
            && let Some(failure) = reasons::heard(self.line)
        {
            return Err(failure);
        }
        if self.silence.is_over() {
            // Whoever does not take what was sent is as likely the one that has stopped as the one whose turn it is.
            let slow = self.sent.front().map(|(message, _)| message.partner());
            return Err(ExchangeFailure::Silence(slow.unwrap_or(self.awaited)));
        }
        Ok(())
    }

    fn nonsense(&self, from: u32) -> ExchangeFailure {
        ExchangeFailure::Nonsense(from as i32)
    }
}
