//! One wrapper: what is kept before the call, what is measured after it, and each argument in its form.

use super::declaration::{Declaration, rust_name};
use crate::{
    Carrier, Class, Direction, ElementForm, FileAccessKind, Function, Kind, LengthQuery,
    LengthRule, Param, Phase, Pointer, Sentinel,
};
use std::fmt::Write;

/// The wrapper of one function.
pub(super) struct FunctionWrapper<'a> {
    pub index: usize,
    pub number: usize,
    pub declared: &'a Declaration,
    pub function: Option<&'a Function>,
}

impl FunctionWrapper<'_> {
    /// Appends its source.
    pub fn write(&self, s: &mut String) {
        let d = self.declared;
        let params: &[Param] = self.function.map_or(&[], |f| &f.params);
        match self.function {
            Some(f) => put!(
                s,
                "\n/// {} (mpi.table:{}, {})",
                d.name,
                f.line,
                f.class.word()
            ),
            None => put!(s, "\n/// {} (not in the table)", d.name),
        }
        put!(
            s,
            "unsafe extern \"C-unwind\" fn {}<A: Abi, const P: usize>({}) -> {} {{ unsafe {{",
            rust_name(&d.name),
            d.signature(),
            d.returns
        );
        put!(
            s,
            "    let real = std::mem::transmute::<CodeAddress, {}>(slots::found({} + P));",
            d.pointer_type(),
            2 * self.index
        );
        if let Some(comm) = self.function.and_then(Function::collective_comm) {
            put!(s, "    world_collectives::begins(a{comm}.bits());");
        }
        put!(s, "    let mut call = Call::enter({}, P == 0);", self.index);
        if self
            .function
            .is_some_and(|f| f.class == Class::Init || f.name == "MPI_Session_init")
        {
            put!(s, "    init::beginning();");
        }
        if d.name == "MPI_Type_free" && self.function.is_some() {
            put!(
                s,
                "    define::frees_datatype(arg::handle_at(a0.cast_const()));"
            );
        }
        if d.name == "MPI_Session_finalize" && self.function.is_some() {
            put!(s, "    process_set::closing(handle::at(a0));");
        }
        if let Some(handler) = self.makes_handler() {
            put!(
                s,
                "    let a{handler} = handled::observed::<A>(a{handler});"
            );
        }
        self.passes_on(s);
        for (i, p) in params.iter().enumerate() {
            self.keep(s, i, p);
        }
        let after: Vec<usize> = (0..params.len()).filter(|&i| self.has_own(i)).collect();
        for i in after {
            let place = if params[i].len.is_some() {
                format!("kept.place(own{i})")
            } else {
                format!("&mut own{i}")
            };
            put!(
                s,
                "    let a{i} = if a{i} == {} {{ {place} }} else {{ a{i} }};",
                ignore(&params[i])
            );
        }
        self.position(s);
        self.wait(s);
        put!(s, "    let running = call.start({});", self.number);
        put!(s, "    let given = real({});", d.names());
        put!(s, "    let mut stopped = running.stop();");
        let fails =
            d.returns == "c_int" && self.function.is_none_or(|f| f.returns == Kind::ErrorCode);
        put!(s, "    let r = {};", self.outcome(fails));
        put!(s, "    let ok = {};", if fails { "r == 0" } else { "true" });
        if self.tells_outcomes() {
            put!(s, "    let told = ok || arg::tells_outcomes(r);");
        }
        self.moved(s);
        let nothing = self.brings_nothing();
        self.leave_out(s, fails, nothing.as_deref());
        for (i, p) in params.iter().enumerate() {
            self.measure(s, i, p);
        }
        self.definitions(s, false);
        self.filter(s);
        self.poll(s);
        let (fixed, varying) = self.room();
        let flags: Vec<String> = params
            .iter()
            .enumerate()
            .filter(|(_, p)| p.sentinels.contains(&Sentinel::InPlace))
            .map(|(i, _)| format!("arg::in_place::<A>(a{i} as *const c_void)"))
            .collect();
        put!(
            s,
            "    let mut w = stopped.record({}, {}, {}, {fixed}{varying});",
            self.number,
            if fails { "r" } else { "0" },
            if flags.is_empty() {
                "0".to_owned()
            } else {
                flags.join(" | ")
            }
        );
        let short = self.function.and_then(|f| f.short_form.as_ref());
        if let Some(form) = short {
            self.emit_short(s, form);
        }
        for (i, p) in params.iter().enumerate() {
            self.emit(s, i, p);
        }
        if short.is_some() {
            put!(s, "    }}");
        }
        put!(s, "    w.publish();");
        put!(s, "    given");
        put!(s, "}} }}");
    }

    /// The function of the program that the call makes an error handler of.
    fn makes_handler(&self) -> Option<usize> {
        let f = self.function.filter(|f| f.class == Class::Errhandler)?;
        f.params.iter().position(|p| p.kind == Kind::Function)
    }

    /// What became of the call, as an expression; `fails` is whether the function gives an error code. A call that is to call an error handler has not
    /// failed because it did.
    fn outcome(&self, fails: bool) -> &'static str {
        match (fails, self.declared.name.ends_with("_call_errhandler")) {
            (false, _) => "given",
            (true, false) => "stopped.outcome::<A>(given)",
            (true, true) => "{ stopped.outcome::<A>(given); given }",
        }
    }

    /// The way of a call that is not to be recorded: what is followed all the same.
    fn passes_on(&self, s: &mut String) {
        let d = self.declared;
        put!(s, "    if call.ignored() {{");
        if let Some(file) = self.closes() {
            put!(
                s,
                "        views::closing(arg::handle_at(a{file}.cast_const()));"
            );
        }
        put!(s, "        let r = real({});", d.names());
        if self.individual().is_some() || d.name == "MPI_File_seek" {
            put!(s, "        views::moved(handle::of(a0));");
        }
        self.definitions(s, true);
        if let Some(note) = self.tells_of_access("t") {
            put!(s, "        if let Some(t) = call.outermost() {{ {note} }}");
        }
        put!(s, "        call.leave();");
        put!(s, "        return r;");
        put!(s, "    }}");
    }

    pub(super) fn params(&self) -> &[Param] {
        self.function.map_or(&[], |f| &f.params)
    }

    /// Whether the wrapper passes a status of its own where the program wants none.
    fn has_own(&self, i: usize) -> bool {
        let p = &self.params()[i];
        p.kind == Kind::Status && p.direction != Direction::In && !ignore(p).is_empty()
    }

    /// Whether results of a call that failed may count all the same, because its statuses tell what became of messages. A message that was cut short
    /// has been received, and of several operations some have succeeded.
    fn tells_outcomes(&self) -> bool {
        let is_told = |p: &Param| p.kind == Kind::Status && p.direction != Direction::In;
        self.function
            .is_some_and(|f| f.io.is_none() && f.params.iter().any(is_told))
    }

    /// Condition under which results of the call were set.
    fn is_set(&self) -> &'static str {
        if self.tells_outcomes() { "told" } else { "ok" }
    }

    /// Whether this is the number of arguments as MPI_Init takes it.
    fn is_argc_pointer(&self, i: usize) -> bool {
        self.params()[i].kind == Kind::Argc && self.params()[i].indirection() > 0
    }

    /// Keeps what the call will overwrite.
    fn keep(&self, s: &mut String, i: usize, p: &Param) {
        let needs_buffer = |w: &Self, i: usize| {
            let p = &w.params()[i];
            (p.direction == Direction::InOut
                && matches!(p.carrier(), Carrier::Array(_) | Carrier::ArrayInOut(_))
                && p.kind != Kind::Argvp)
                || (w.has_own(i) && p.len.is_some())
        };
        let first = (0..self.params().len()).find(|&j| needs_buffer(self, j));
        if first == Some(i) {
            put!(s, "    let kept = arg::KeptArguments::new(call.before());");
        }
        match p.carrier() {
            Carrier::Array(ElementForm::Text) if p.kind == Kind::Argvp => {
                let argc = self
                    .params()
                    .iter()
                    .position(|q| q.kind == Kind::Argc)
                    .unwrap_or(0);
                put!(s, "    let v{i} = arg::program_arguments(a{argc}, a{i});");
            }
            Carrier::Array(ElementForm::Status) if self.has_own(i) => {
                let len = self.length_before(p);
                put!(
                    s,
                    "    let own{i} = kept.statuses::<A::Status>(if a{i} == {} {{ {len} }} else {{ 0 }});",
                    ignore(p)
                );
            }
            Carrier::Array(_) | Carrier::ArrayInOut(_) if p.direction == Direction::InOut => {
                let len = self.length_before(p);
                put!(
                    s,
                    "    let before{i} = kept.copy(a{i}.cast_const(), {len});"
                );
            }
            Carrier::I32InOut | Carrier::I64InOut => {
                put!(s, "    let before{i} = arg::value(a{i}.cast_const());");
            }
            Carrier::Handle | Carrier::Pointer if p.direction == Direction::InOut => {
                put!(s, "    let before{i} = arg::handle_at(a{i}.cast_const());");
            }
            // Behind a pointer in MPI_Init, by value elsewhere.
            Carrier::I32 if self.is_argc_pointer(i) => {
                put!(s, "    let before{i} = arg::value(a{i}.cast_const());");
            }
            Carrier::Status if self.has_own(i) => {
                put!(s, "    let mut own{i} = arg::unset_status::<A::Status>();");
            }
            _ => {}
        }
    }

    /// The file that the call closes.
    fn closes(&self) -> Option<usize> {
        let f = self.function.filter(|f| f.class == Class::FileClose)?;
        f.params.iter().position(|p| p.kind == Kind::File)
    }

    /// Writes down where an access begins that does not say it, and forgets a file that is going to be closed.
    fn position(&self, s: &mut String) {
        if let Some(file) = self.closes() {
            put!(s, "    views::closing(before{file});");
        }
        if self.individual().is_some() {
            put!(s, "    views::position(&mut call, handle::of(a0));");
        }
        if self.access().is_some_and(|io| io.collective) {
            put!(s, "    views::count(&mut call, handle::of(a0));");
        }
    }

    /// Of a call that asks for data of a file, what it does. All these functions begin with the file.
    fn access(&self) -> Option<FileAccessKind> {
        self.function?.io.filter(|io| io.phase != Phase::End)
    }

    /// Of an access by the individual pointer, which may be followed by others, what it does.
    fn individual(&self) -> Option<FileAccessKind> {
        self.access().filter(|io| io.pointer == Pointer::Individual)
    }

    /// A statement that tells of an access which is not recorded; `thread` is an expression for the thread.
    pub(super) fn tells_of_access(&self, thread: &str) -> Option<String> {
        let io = self.access()?;
        let outlasts = io.phase != Phase::Blocking;
        Some(format!(
            "views::left_out({thread}, handle::of(a0), {}, {outlasts});",
            io.collective
        ))
    }

    /// Notes where the individual pointer has moved to. All these functions begin with file, buffer, count and datatype.
    fn moved(&self, s: &mut String) {
        if self.declared.name == "MPI_File_seek" {
            put!(s, "    views::sought(handle::of(a0), ok, a1, a2);");
        }
        let Some(io) = self.individual() else { return };
        let done = match (io.write, io.phase) {
            (true, _) => "All",
            (false, Phase::Blocking) => "Status(a4.cast())",
            (false, _) => "Unknown",
        };
        put!(
            s,
            "    views::accessed(handle::of(a0), ok, a2 as i64, handle::of(a3), views::AccessProgress::{done});"
        );
    }

    /// Number of elements by what is known before the call; what is told only afterwards is bounded by its argument.
    fn length_before(&self, p: &Param) -> String {
        match &p.len {
            Some(LengthRule::Param(j)) => format!("arg::length(a{j} as i64)"),
            Some(LengthRule::Returned(_)) => {
                // Waitsome and Testsome: as many as were passed.
                let j = self
                    .params()
                    .iter()
                    .position(|q| q.kind == Kind::Length && q.direction == Direction::In)
                    .unwrap_or(0);
                format!("arg::length(a{j} as i64)")
            }
            Some(LengthRule::InOut(j)) => {
                format!("arg::length(arg::value(a{j}.cast_const()) as i64)")
            }
            _ => "0".to_owned(),
        }
    }

    fn query(&self, q: &LengthQuery) -> String {
        // Objects that are asked go in by value: none of the table's queries is of one that the call makes.
        let of = format!("handle::of(a{})", q.of);
        match q.rank {
            Some(rank) => format!("lengths::{}({of}, a{rank})", q.property.word()),
            None => format!("lengths::{}({of})", q.property.word()),
        }
    }

    /// Number of elements as an expression, after the call.
    fn length(&self, p: &Param) -> String {
        match p.len.as_ref() {
            Some(LengthRule::Param(j)) => format!("arg::length(a{j} as i64)"),
            Some(LengthRule::Returned(j)) => {
                format!("arg::length(arg::value(a{j}.cast_const()) as i64)")
            }
            Some(LengthRule::InOut(j)) => {
                format!("arg::length((before{j} as i64).min(arg::value(a{j}.cast_const()) as i64))")
            }
            Some(LengthRule::Times(k, j)) => format!("{k} * arg::length(a{j} as i64)"),
            Some(LengthRule::Sum(j)) => {
                format!("arg::sum(a{j}, {})", self.length(&self.params()[*j]))
            }
            Some(LengthRule::Last(j)) => {
                format!("arg::last(a{j}, {})", self.length(&self.params()[*j]))
            }
            Some(LengthRule::Query(q)) => self.query(q),
            Some(LengthRule::Min(j, q)) => {
                format!("arg::length(a{j} as i64).min({})", self.query(q))
            }
            _ => "0".to_owned(),
        }
    }

    /// Condition under which an array or text is significant and was set.
    fn significant(&self, i: usize, p: &Param) -> String {
        let mut conditions = Vec::new();
        if p.direction == Direction::Out {
            conditions.push(self.is_set().to_owned());
        } else if p.root_only || matches!(p.carrier(), Carrier::Array(_)) {
            // An MPI that refused the arguments has not read this, and may call an error handler if it is asked about them.
            conditions.push("ok".to_owned());
        }
        if p.root_only
            && let (Some(comm), Some(root)) = (
                self.function.and_then(Function::comm),
                self.params().iter().position(|q| q.kind == Kind::Root),
            )
        {
            conditions.push(format!("lengths::at_root(handle::of(a{comm}), a{root})"));
        }
        if let Some(b) = p.inplace {
            conditions.push(format!("arg::in_place::<A>(a{b} as *const c_void) == 0"));
        }
        if let Some(flag) = p.set_if {
            conditions.push(self.set_if(flag));
        }
        if !matches!(p.kind, Kind::Status) {
            conditions.push(format!("arg::is_address(a{i} as *const c_void)"));
        }
        conditions.join(" && ")
    }

    fn set_if(&self, flag: usize) -> String {
        if self.params()[flag].kind == Kind::Logical {
            format!("arg::value(a{flag}.cast_const()) != 0")
        } else {
            format!("arg::value(a{flag}.cast_const()) != A::UNDEFINED")
        }
    }

    /// Finds out how long arrays and texts are.
    fn measure(&self, s: &mut String, i: usize, p: &Param) {
        match p.carrier() {
            Carrier::Array(ElementForm::Text) => match p.kind {
                Kind::Argvp => {}
                Kind::Argv => put!(
                    s,
                    "    let v{i} = arg::texts(a{i} as *const *const c_char, {}, None);",
                    self.significant(i, p)
                ),
                Kind::Argvs => put!(
                    s,
                    "    let v{i} = arg::text_lists(a{i} as *const *const *const c_char, {}, {});",
                    self.significant(i, p),
                    self.length(p)
                ),
                _ => put!(
                    s,
                    "    let v{i} = arg::texts(a{i} as *const *const c_char, {}, Some({}));",
                    self.significant(i, p),
                    self.length(p)
                ),
            },
            Carrier::Text => {
                let limit = match p.len.as_ref() {
                    Some(LengthRule::Chars(j)) => {
                        format!("arg::length(arg::value(a{j}.cast_const()) as i64)")
                    }
                    Some(LengthRule::NulWithin(j)) => {
                        let q = &self.params()[*j];
                        match q.carrier() {
                            Carrier::I32InOut => format!("arg::length(before{j} as i64)"),
                            _ => format!("arg::length(a{j} as i64) + 1"),
                        }
                    }
                    _ => "usize::MAX".to_owned(),
                };
                put!(
                    s,
                    "    let v{i} = arg::text(a{i} as *const c_char, {}, {limit});",
                    self.significant(i, p)
                );
            }
            Carrier::Array(elem) | Carrier::ArrayInOut(elem) => {
                let kept = p.direction == Direction::InOut && elem != ElementForm::Status;
                if kept {
                    put!(s, "    let n{i} = before{i}.len();");
                } else {
                    put!(
                        s,
                        "    let n{i} = if {} {{ Some({}) }} else {{ None }};",
                        self.significant(i, p),
                        self.length(p)
                    );
                }
            }
            _ => {}
        }
    }

    /// Leaves failed and unsuccessful calls out where the settings ask for that.
    fn leave_out(&self, s: &mut String, fails: bool, nothing: Option<&str>) {
        let conditions: Vec<&str> = fails.then_some("!ok").into_iter().chain(nothing).collect();
        if conditions.is_empty() {
            return;
        }
        put!(
            s,
            "    if ({}) && stopped.left_out({}) {{",
            conditions.join(" || "),
            self.index
        );
        self.leave(s, nothing);
        put!(s, "    }}");
    }

    /// Bytes that the arguments may take: a constant, and an expression for what varies.
    fn room(&self) -> (usize, String) {
        let (mut fixed, mut varying) = (0, String::new());
        for (i, p) in self.params().iter().enumerate() {
            match p.carrier() {
                Carrier::Nothing => {}
                Carrier::I32 => fixed += 4,
                Carrier::I64 | Carrier::F64 | Carrier::I32InOut => fixed += 8,
                Carrier::I64InOut => fixed += 16,
                Carrier::Handle | Carrier::Pointer => fixed += 8,
                Carrier::Status => fixed += 21,
                Carrier::Text => {
                    fixed += 4;
                    let _ = write!(varying, " + arg::text_len(v{i})");
                }
                Carrier::Array(ElementForm::Text) => {
                    let _ = write!(varying, " + v{i}.len()");
                }
                Carrier::Array(elem) => {
                    fixed += 4;
                    let _ = write!(varying, " + n{i}.unwrap_or(0) * {}", width(elem));
                }
                Carrier::ArrayInOut(elem) => {
                    fixed += 8;
                    let _ = write!(varying, " + 2 * n{i}.unwrap_or(0) * {}", width(elem));
                }
            }
        }
        (fixed, varying)
    }

    /// Writes one argument.
    fn emit(&self, s: &mut String, i: usize, p: &Param) {
        let pointer = p.indirection() > 0;
        let ok = match p.set_if {
            Some(flag) => format!("{} && {}", self.is_set(), self.set_if(flag)),
            None => self.is_set().to_owned(),
        };
        match p.carrier() {
            Carrier::Nothing => {}
            Carrier::I32 if self.is_argc_pointer(i) => put!(s, "    w.args.i32(before{i});"),
            Carrier::I32 if p.kind == Kind::Argc => put!(s, "    w.args.i32(a{i});"),
            Carrier::I32 | Carrier::I64 | Carrier::F64 => {
                let put = match p.carrier() {
                    Carrier::I32 => "i32",
                    Carrier::I64 => "i64",
                    _ => "f64",
                };
                if !pointer {
                    put!(s, "    w.args.{put}(a{i} as _);");
                } else if p.direction == Direction::Out {
                    put!(
                        s,
                        "    w.args.{put}(if {ok} {{ arg::value(a{i}.cast_const()) as _ }} else {{ Default::default() }});"
                    );
                } else {
                    put!(s, "    w.args.{put}(arg::value(a{i} as *const _) as _);");
                }
            }
            Carrier::I32InOut | Carrier::I64InOut => {
                let put = if p.carrier() == Carrier::I32InOut {
                    "i32"
                } else {
                    "i64"
                };
                put!(s, "    w.args.{put}(before{i} as _);");
                put!(s, "    w.args.{put}(arg::value(a{i}.cast_const()) as _);");
            }
            Carrier::Handle | Carrier::Pointer => {
                let value = match (pointer, p.direction) {
                    (false, _) => format!("a{i}.bits()"),
                    (true, Direction::InOut) => format!("before{i}"),
                    (true, Direction::Out) => {
                        format!("if {ok} {{ arg::handle_at(a{i}.cast_const()) }} else {{ 0 }}")
                    }
                    (true, Direction::In) => format!("arg::handle_at(a{i} as *const _)"),
                };
                let put = match p.carrier() {
                    Carrier::Handle => "arg::put_handle::<A::Handle>",
                    _ => "arg::put_pointer",
                };
                put!(s, "    {put}(&mut w.args, {value});");
            }
            Carrier::Status => {
                let (condition, code) = match p.direction {
                    Direction::In => ("true".to_owned(), "0"),
                    _ if self.tells_outcomes() => (ok, "r"),
                    _ => (ok, "0"),
                };
                put!(
                    s,
                    "    w.args.status(if {condition} {{ arg::status(a{i} as *const A::Status, {code}) }} else {{ None }});"
                );
            }
            Carrier::Text => put!(s, "    arg::put_text(&mut w.args, v{i});"),
            Carrier::Array(ElementForm::Text) => {
                put!(s, "    w.args.bytes(v{i}.as_ptr(), v{i}.len());")
            }
            Carrier::Array(ElementForm::Status) => put!(
                s,
                "    arg::put_statuses(&mut w.args, a{i} as *const A::Status, n{i}, r);"
            ),
            Carrier::Array(elem) => {
                let from = if p.direction == Direction::InOut {
                    format!("kept.place(before{i}).cast_const()")
                } else {
                    match elem {
                        // An array that the header has as rows counts by its numbers.
                        ElementForm::I32 => format!("a{i} as *const i32"),
                        ElementForm::I64 => format!("a{i} as *const i64"),
                        _ => format!("a{i} as *const _"),
                    }
                };
                put!(
                    s,
                    "    arg::put_{}(&mut w.args, {from}, n{i});",
                    family(elem)
                );
            }
            Carrier::ArrayInOut(elem) => {
                put!(
                    s,
                    "    arg::put_{}(&mut w.args, kept.place(before{i}).cast_const(), n{i});",
                    family(elem)
                );
                put!(
                    s,
                    "    arg::put_{}(&mut w.args, a{i}.cast_const(), n{i});",
                    family(elem)
                );
            }
        }
    }
}

/// The constant that says that a status is not wanted.
fn ignore(p: &Param) -> &'static str {
    if p.sentinels.contains(&Sentinel::StatusIgnore) {
        "arg::status_ignore::<A>()"
    } else if p.sentinels.contains(&Sentinel::StatusesIgnore) {
        "arg::statuses_ignore::<A>()"
    } else {
        ""
    }
}

fn family(elem: ElementForm) -> &'static str {
    match elem {
        ElementForm::Handle | ElementForm::Pointer => "handles",
        _ => "numbers",
    }
}

fn width(elem: ElementForm) -> &'static str {
    match elem {
        ElementForm::I32 => "4",
        ElementForm::Status => "21",
        _ => "8",
    }
}
