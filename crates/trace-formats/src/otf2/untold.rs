//! Attributes that tell of a call what its events do not: requests, and communicators that it makes.

use super::event::{Attribute, AttributeValue};
use super::events::EventMaker;
use super::functions::RegionCall;
use super::numbers::{REQUEST, value_type};
use super::values::{CallValues, list};

impl EventMaker {
    /// The attributes of a call of a process. `completes` has the requests that it completes.
    pub(super) fn untold(
        &mut self,
        process: usize,
        call: RegionCall,
        values: &CallValues<'_>,
        completes: &[u32],
    ) -> Vec<Attribute> {
        let mut found = Vec::new();
        let has_event = matches!(
            call,
            RegionCall::Isend
                | RegionCall::Irecv
                | RegionCall::Isendrecv
                | RegionCall::Icollective(_)
        );
        if let Some(request) = values.request.filter(|_| !has_event) {
            found.push(self.number_attribute(REQUEST, request));
        }
        if let Some(prepared) = values.prepared {
            found.push(self.number_attribute("prepared", prepared));
        }
        let started = std::str::from_utf8(values.started).unwrap_or_default();
        if !started.is_empty() {
            found.extend(self.list_attribute("prepared", started));
        }
        let is_untold = |request: &u32| !self.requests.is_told(process, *request);
        let untold: Vec<u32> = completes.iter().copied().filter(is_untold).collect();
        match (untold.as_slice(), values.completes_one) {
            ([], _) => {}
            (&[request], Some(_)) => found.push(self.number_attribute("completes", request)),
            (untold, _) => found.extend(self.list_attribute("completes", &list(untold))),
        }
        for (name, comm) in [("makes", values.makes), ("remote", values.remote)] {
            if let Some(comm) = comm.and_then(|comm| self.comms.known_reference(comm)) {
                let name = self.strings.id(name);
                let attribute = self.attributes.id(name, value_type::COMM);
                found.push((attribute, AttributeValue::Comm(comm)));
            }
        }
        found
    }

    pub(super) fn number_attribute(&mut self, name: &str, number: u32) -> Attribute {
        let name = self.strings.id(name);
        let attribute = self.attributes.id(name, value_type::INT64);
        (attribute, AttributeValue::Signed(number.into()))
    }

    fn list_attribute(&mut self, name: &str, text: &str) -> Option<Attribute> {
        let name = self.strings.id(name);
        let Some(text) = self.strings.list(text) else {
            let what = "list of requests, of those beyond the first 65536 different ones";
            self.losses.add(what, 1);
            return None;
        };
        let attribute = self.attributes.id(name, value_type::STRING);
        Some((attribute, AttributeValue::Text(text)))
    }
}
