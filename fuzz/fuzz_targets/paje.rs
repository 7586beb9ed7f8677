//! Pajé: events, the text, copies in either dialect, drawables; what is made of these can be read, and breaks no rule.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use trace_formats::paje::{
    FieldDialect, PajePrintOptions, PajeSink, PajeSource, PajeTrace, WriteOptions, print, rewrite,
};
use trace_model::{Source as _, convert};

fuzz_target!(|data: &[u8]| {
    PajeTrace::recognises(data);
    let mut trace = PajeTrace::new(data);
    // It names itself, and a file that has the same in it.
    let part = trace.add(data);
    for (by, name) in trace.missing_files() {
        trace.link(by, &name, part);
    }
    let options = PajePrintOptions {
        user_defined: true,
        header: true,
        ..PajePrintOptions::default()
    };
    let printed = print(&trace, &options, &mut io::sink()).expect("a sink takes all");
    let _ = rewrite(data, Some(FieldDialect::Old), &mut io::sink());
    let Ok(source) = PajeSource::new(trace) else {
        assert!(printed.error.is_some());
        return;
    };
    let written = Rc::new(RefCell::new(Vec::new()));
    let kept = written.clone();
    let sink = PajeSink::new(
        Vec::new(),
        source.definitions(),
        WriteOptions::default(),
        move |bytes| {
            *kept.borrow_mut() = bytes;
            Ok(())
        },
    );
    convert(&source, Box::new(sink.expect("memory"))).expect("nothing stops it");
    let written = written.take();
    let again = PajeTrace::new(&written);
    let printed =
        print(&again, &PajePrintOptions::default(), &mut io::sink()).expect("a sink takes all");
    assert!(printed.error.is_none(), "{:?}", printed.error);
    assert!(printed.warnings.is_empty(), "{:?}", printed.warnings);
    PajeSource::new(again).expect("what we write we can read");
});
