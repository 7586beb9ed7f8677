//! Writing the short form of a record.

use super::wrapper::FunctionWrapper;
use crate::{Carrier, ShortForm, ShortPlace};
use std::fmt::Write;

impl FunctionWrapper<'_> {
    /// Writes the arguments in short form if they can be, and begins the block of what is written otherwise.
    pub(super) fn emit_short(&self, s: &mut String, form: &ShortForm) {
        let mut small = Vec::new();
        let mut fits = String::new();
        let mut received = String::new();
        let mut stores = String::new();
        for (i, place) in form.places.iter().enumerate() {
            match place {
                ShortPlace::Nothing => {}
                ShortPlace::I32 => put!(stores, "        w.args.i32(a{i});"),
                ShortPlace::U16 => {
                    small.push(format!("a{i}"));
                    put!(stores, "        w.args.u16(a{i} as u16);");
                }
                ShortPlace::Handle => {
                    let put = "arg::put_handle::<A::Handle>";
                    put!(stores, "        {put}(&mut w.args, a{i}.bits());");
                }
                ShortPlace::SameAs(former) => {
                    let bits = match self.params()[i].carrier() {
                        Carrier::Handle => ".bits()",
                        _ => "",
                    };
                    let _ = write!(fits, " && a{i}{bits} == a{former}{bits}");
                }
                ShortPlace::ReceivedBytes { source, tag } => {
                    received = format!(
                        "arg::received_as_named(arg::status(a{i} as *const A::Status, 0), a{source}, a{tag})"
                    );
                    put!(stores, "        w.args.u32(bytes);");
                }
            }
        }
        put!(
            s,
            "    if ok && ({}) as u32 <= 0xFFFF{fits} && let Some(bytes) = {received} {{",
            small.join(" | ")
        );
        s.push_str(&stores);
        put!(s, "    }} else {{");
    }
}
