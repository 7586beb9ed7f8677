//! Whether a copy of a file that lacks some of its calls still tells which send belongs to which receive: by their order.

use std::collections::HashSet;

use super::communicators::is_creation;
use super::completed::{CallArgs, completed};
use super::functions::{FUNCTION_ENTER, FUNCTION_EXIT};
use super::ids;
use super::read::DumpiReader;
use super::source::RECEIVES_UNSEEN;
use super::source::info::has_message_buffer;
use super::types::DumpiRecord;
use super::value::FieldValue;

/// Follows the calls of a file of which some are left out. Messages can be matched as long as the calls left out that messages hang on come after all
/// such calls that are kept, and complete no receive that a kept call posts.
#[derive(Debug)]
pub struct MatchingOrder {
    /// Keys of the functions without a number that receive messages.
    unseen: HashSet<u64>,
    /// Requests of receives, and of persistent operations, that are under way in the copy.
    under_way: HashSet<u64>,
    is_any_left_out: bool,
    is_broken: bool,
}

impl MatchingOrder {
    /// No call yet of this file.
    pub fn new(reader: &DumpiReader<'_>) -> MatchingOrder {
        let labels = reader.address_labels().ok().flatten().unwrap_or_default();
        let receives = |label: &[u8]| RECEIVES_UNSEEN.iter().any(|name| name.as_bytes() == label);
        let unseen = labels.iter().filter(|label| receives(&label.label));
        MatchingOrder {
            unseen: unseen.map(|label| label.key).collect(),
            under_way: HashSet::new(),
            is_any_left_out: false,
            is_broken: false,
        }
    }

    /// Takes the next call, and whether it is kept.
    pub fn take(&mut self, record: &DumpiRecord<'_>, is_kept: bool) {
        if self.is_broken || !self.bears_on_messages(record) {
            return;
        }
        if !is_kept {
            self.is_any_left_out = true;
            return;
        }
        self.is_broken = self.is_any_left_out;
        let args = record.arg_array();
        let id = record.function.id;
        for (request, _) in completed(id, &args) {
            self.under_way.remove(&request);
        }
        match id {
            ids::IRECV => {
                self.under_way.insert(CallArgs(&args).request(5));
            }
            ids::START => {
                self.under_way.insert(CallArgs(&args).request(0));
            }
            ids::STARTALL => {
                if let FieldValue::Ints(requests) = args[1] {
                    let requests = requests.iter().map(|request| u64::from(request as u32));
                    self.under_way.extend(requests);
                }
            }
            ids::REQUEST_FREE => {
                self.under_way.remove(&CallArgs(&args).request(0));
            }
            _ => {}
        }
    }

    /// Whether the n-th send of those that are kept need not belong to the n-th receive.
    pub fn is_broken(&self) -> bool {
        self.is_broken || self.is_any_left_out && !self.under_way.is_empty()
    }

    /// Whether a call sends, receives, begins or completes either, or tells who is who in a communicator.
    fn bears_on_messages(&self, record: &DumpiRecord<'_>) -> bool {
        match record.function.id {
            ids::START | ids::STARTALL | ids::REQUEST_FREE | ids::CANCEL | ids::GREQUEST_START => {
                true
            }
            FUNCTION_ENTER | FUNCTION_EXIT => {
                let key = record.args().next();
                matches!(key, Some((_, FieldValue::U64(key))) if self.unseen.contains(&key))
            }
            id if has_message_buffer(id) => true,
            id => is_creation(id) || !completed(id, &record.arg_array()).is_empty(),
        }
    }
}
