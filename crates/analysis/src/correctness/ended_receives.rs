//! Receives in which processes ended although there was a message for them: it may have been too large, which ends a program by default.

use super::call::{CallPlace, UnfinishedCall};
use super::pass::CorrectnessPass;
use super::process::ProcessState;

impl CorrectnessPass {
    /// A process has ended in a call.
    pub fn ended_in(
        &mut self,
        process: &ProcessState,
        place: CallPlace,
        unfinished: &UnfinishedCall,
    ) {
        let requests = unfinished.requests.iter().flatten();
        let of_requests = requests.filter_map(|&request| process.operation(request)?.receive);
        for asked in unfinished.receive.into_iter().chain(of_requests) {
            let receive = self.posted_receive(asked, place.start);
            let receive = receive.map(|receive| (place, receive));
            self.ended_receives.extend(receive);
        }
    }

    /// Says of which messages is not known whether they were too large.
    pub(super) fn note_ended_receives(&mut self) {
        for (place, receive) in std::mem::take(&mut self.ended_receives) {
            let to = place.rank;
            let Some((channel, send)) = self.messages.first_sent(&receive, to) else {
                continue;
            };
            let size = send
                .bytes
                .map_or(String::new(), |bytes| format!(" of {bytes} bytes"));
            let function = self.name(place.function);
            self.note_unchecked(format!(
                "whether the message{size} from rank {} with tag {} was too large for {function}, in which rank {to} ended",
                channel.from, channel.tag
            ));
        }
    }
}
