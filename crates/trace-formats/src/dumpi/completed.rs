//! Arguments of calls, and the requests that calls complete.

use super::functions::MAX_FIELDS;
use super::ids;
use super::value::{DumpiStatus, FieldValue};

/// The arguments of a call, by position among the fields of its function.
#[derive(Clone, Copy)]
pub(super) struct CallArgs<'c, 'a>(pub(super) &'c [FieldValue<'a>; MAX_FIELDS]);

impl CallArgs<'_, '_> {
    /// The number in this field; 0 if the field holds no number.
    pub(super) fn int(self, at: usize) -> i32 {
        match self.0[at] {
            FieldValue::Int(value) => value,
            _ => 0,
        }
    }

    /// The count and the datatype in this field and the next.
    pub(super) fn amount(self, at: usize) -> (i32, i32) {
        (self.int(at), self.int(at + 1))
    }

    /// The number of the request in this field.
    pub(super) fn request(self, at: usize) -> u64 {
        self.int(at) as u32 as u64
    }

    /// The first status of this field, if one was recorded.
    pub(super) fn status(self, at: usize) -> Option<DumpiStatus> {
        match self.0[at] {
            FieldValue::Statuses(statuses) => statuses.iter().next(),
            _ => None,
        }
    }
}

/// The requests that a call of this function completes, each with its status if that was recorded.
pub fn completed(id: u16, args: &[FieldValue<'_>; MAX_FIELDS]) -> Vec<(u64, Option<DumpiStatus>)> {
    let args = CallArgs(args);
    let list = |at: usize| match args.0[at] {
        FieldValue::Ints(numbers) => numbers.iter().collect(),
        _ => Vec::new(),
    };
    let number = |request: i32| u64::from(request as u32);
    match id {
        ids::WAIT => vec![(args.request(0), args.status(1))],
        ids::TEST if args.int(1) != 0 => vec![(args.request(0), args.status(2))],
        ids::WAITANY | ids::TESTANY => {
            let is_done = args.int(2) >= 0 && (id == ids::WAITANY || args.int(3) != 0);
            let done = list(1).get(args.int(2).max(0) as usize).copied();
            let status = args.status(if id == ids::WAITANY { 3 } else { 4 });
            let done = done.filter(|_| is_done);
            done.map(|request| (number(request), status))
                .into_iter()
                .collect()
        }
        ids::WAITALL | ids::TESTALL if id == ids::WAITALL || args.int(2) != 0 => {
            let mut statuses = statuses(args.0[if id == ids::WAITALL { 2 } else { 3 }]);
            let requests = list(1).into_iter();
            requests
                .map(|request| (number(request), statuses.next()))
                .collect()
        }
        ids::WAITSOME | ids::TESTSOME => {
            let requests = list(1);
            let mut statuses = statuses(args.0[4]);
            let indices = list(3).into_iter();
            let done = indices.filter_map(|index| {
                let status = statuses.next();
                let request = requests.get(usize::try_from(index).ok()?)?;
                Some((number(*request), status))
            });
            done.collect()
        }
        _ => Vec::new(),
    }
}

/// Whether calls of a function may complete requests.
pub fn completes(id: u16) -> bool {
    matches!(
        id,
        ids::WAIT
            | ids::TEST
            | ids::WAITANY
            | ids::TESTANY
            | ids::WAITALL
            | ids::TESTALL
            | ids::WAITSOME
            | ids::TESTSOME
    )
}

fn statuses<'a>(arg: FieldValue<'a>) -> impl Iterator<Item = DumpiStatus> + 'a {
    let list = match arg {
        FieldValue::Statuses(statuses) => Some(statuses),
        _ => None,
    };
    list.into_iter().flat_map(|statuses| statuses.iter())
}
