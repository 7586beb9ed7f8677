//! The records before the first call of a process and after the last one (`spec/clog2.md` section 9).

use super::calls::ProcessWalk;
use super::mpe_constants::{COMM_FINALIZE, COMM_INIT, constants};
use super::record::{EventDefinition, MergedBody, StateDefinition};
use blockfile::layout::ended;
use trace_formats::clog2::annotations::{NO_FINALIZE, left_out, not_matched};
use trace_formats::clog2::states::function_states;
use trace_formats::clog2::{
    Clog2ConstDef, Clog2EventDef, Clog2StateDef, FixedText, Gid, RunOrigin, comm_etype,
    constdef_etype, unmatched_endpoints_name,
};
use trace_model::hash::Wide;
use unify::comms::CommId;
use unify::function_set::FunctionSet;
use unify::plan::FunctionPlan;
use unify::schema::Schema;

/// Time of what must stand in front of all other records of a trace, seconds.
const BEFORE_ALL: f64 = -1e-9;

impl ProcessWalk<'_> {
    fn put_on_world(&mut self, body: MergedBody) {
        self.put(self.places.world(), 0, body);
    }

    fn put_shift(&mut self, ticks: u64) {
        // MPE multiplies what it adds by −1, so that no shift is −0.0.
        let shift = -(self.scan.clock.shift(ticks) as f64 / 1e9);
        self.put_on_world(MergedBody::TimeShift(shift));
    }

    /// Gives the records before the first call.
    pub fn open_log(&mut self) {
        if self.settings.describe.is_some() {
            // No preamble tells of them: who reads must know them before their first events.
            for definition in named_functions(self.settings.functions) {
                let world = self.places.world();
                self.put_at(BEFORE_ALL, world, 0, definition);
            }
        }
        let first = self.scan.first_tick();
        // States and events of the programs are defined before all else, so that events may have any number.
        let described = self.settings.describe.is_some() && !self.schema.user.is_empty();
        if let (Some(first), false) = (first, described) {
            self.time(first);
        }
        self.put_shift(first.unwrap_or(0));
        let world = self.places.world();
        for (id, etype, rank) in [
            (CommId::WORLD, comm_etype::WORLD_CREATE, world.rank),
            (CommId::SELF, comm_etype::SELF_CREATE, 0),
        ] {
            let gid = self.scan.comms.get(id).map_or(Gid::NULL, |c| c.gid);
            self.announce(world, 0, etype, self.places.get(id).own, rank, gid);
        }
        if self.settings.describe.is_some() {
            self.put_constants();
        }
        self.put_event(self.places.world(), 0, COMM_INIT);
        if described {
            for definition in told_by_programs(self.schema) {
                self.put_on_world(definition);
            }
        }
    }

    fn put_constants(&mut self) {
        for (name, value) in constants(&self.library, self.scan.info.family) {
            self.put_on_world(constant(value as i32, name));
        }
        let left_out = self
            .drawn_endpoints
            .as_ref()
            .map_or(0, |chosen| chosen.left_out);
        let left_out = (left_out > 0).then(|| unmatched_endpoints_name(left_out));
        for name in self.origin().names().into_iter().chain(left_out) {
            self.put_on_world(constant(0, &name));
        }
    }

    /// When and where the run was.
    fn origin(&self) -> RunOrigin {
        let zero = self.settings.zero_ns;
        let boot = &self.scan.library.process().boot;
        RunOrigin {
            zero,
            since_epoch: zero.wrapping_add(self.scan.clock.realtime_offset()),
            boot: boot
                .bytes()
                .map(u64::from)
                .fold(Wide::new(), Wide::word)
                .finish()
                .0[0],
            run: self.scan.info.run,
        }
    }

    /// Gives the records after the last call.
    pub fn close_log(&mut self) {
        let ends = self.scan.first_tick().zip(self.scan.last_tick());
        if let Some((first, last)) = ends
            && self.scan.clock.shift(first) != self.scan.clock.shift(last)
        {
            self.put_shift(last);
        }
        let unmatched = self.notes.unmatched_endpoints;
        if unmatched > 0 {
            self.text(0, &not_matched(unmatched));
        }
        let functions = self.schema.plans.iter().map(FunctionPlan::function);
        let collectives = self.scan.collectives_left_out(functions);
        if collectives > 0 {
            self.text(0, &left_out(collectives));
        }
        if self.settings.open_until_ns.is_some() && self.scan.info.ended != ended::FINALIZED {
            self.text(0, NO_FINALIZE);
        }
        self.put_event(self.places.world(), 0, COMM_FINALIZE);
        let Some(used) = self.settings.describe else {
            return;
        };
        for definition in states_and_events(self.schema, used) {
            self.put_on_world(definition);
        }
    }
}

/// All that a log defines: what stands in front of the first call ([`ProcessWalk::open_log`]) and behind the last one. `functions` are
/// the names of the program's functions, `used` the functions of MPI that any rank has called.
pub(super) fn definitions(
    schema: &Schema<'_>,
    functions: &[String],
    used: &FunctionSet,
) -> Vec<MergedBody> {
    let front = named_functions(functions).chain(told_by_programs(schema));
    front.chain(states_and_events(schema, used)).collect()
}

/// Definitions of the states of the program's functions, which have these names.
fn named_functions(names: &[String]) -> impl Iterator<Item = MergedBody> + '_ {
    let states = function_states(names).zip(names);
    states.map(|(definition, name)| state(definition, Some(name), String::new()))
}

/// Definitions of the states and events that the programs tell of.
fn told_by_programs<'s>(schema: &'s Schema<'_>) -> impl Iterator<Item = MergedBody> + use<'s> {
    let states = schema.user.named_states();
    let states = states.map(|(&definition, name)| state(definition, Some(name), String::new()));
    let events = schema.user.named_events();
    states.chain(events.map(|(&definition, name)| event(definition, Some(name))))
}

/// Definitions of the states of the functions used, and of the events that every log has.
fn states_and_events(schema: &Schema<'_>, used: &FunctionSet) -> Vec<MergedBody> {
    let states = schema.states.sorted(used.iter()).into_iter();
    let states = states.map(|found| state(found.definition, None, found.details.format()));
    let mut all: Vec<MergedBody> = states.collect();
    let mut solo = vec![
        (COMM_INIT, "red", "MPE_Comm_init", ""),
        (COMM_FINALIZE, "orange", "MPE_Comm_finalize", ""),
    ];
    if used.has_annotations() {
        solo.push((schema.states.annotation(), "gold", "annotation", "%s"));
    }
    all.extend(solo.into_iter().map(|(etype, color, name, format)| {
        let definition = Clog2EventDef {
            etype,
            color: FixedText::new(color),
            name: FixedText::new(name),
            format: FixedText::new(format),
        };
        event(definition, None)
    }));
    all
}

/// Definition of a kind of state, which may have a longer name than CLOG2 has room for, and details of this format in SLOG2.
fn state(def: Clog2StateDef, whole_name: Option<&String>, details: String) -> MergedBody {
    MergedBody::State(Box::new(StateDefinition {
        def,
        whole_name: whole_name.cloned(),
        details,
    }))
}

/// Definition of a kind of event, which may have a longer name than CLOG2 has room for.
fn event(def: Clog2EventDef, whole_name: Option<&String>) -> MergedBody {
    MergedBody::SoloEvent(Box::new(EventDefinition {
        def,
        whole_name: whole_name.cloned(),
    }))
}

/// Definition of a constant.
pub(super) fn constant(value: i32, name: &str) -> MergedBody {
    MergedBody::Constant(Box::new(Clog2ConstDef {
        etype: constdef_etype::MPI_CONST,
        value,
        name: FixedText::new(name),
    }))
}
