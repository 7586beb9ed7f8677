//! Keeps the page's TypeScript types of answers the same as the Rust types that are serialized.
//!
//! `viewer/src/answers.ts` is written from these types. The test fails when it is out of date; with `UPDATE_TYPESCRIPT=1` in
//! the environment it writes the file instead.

use std::fmt::Write;
use std::path::Path;
use ts_rs::{Config, TS};

use super::aggregate::{AggregateAnswer, AggregateLine};
use super::details::{CallAnswer, FollowAnswer};
use super::durations::DurationsAnswer;
use super::events::EventsAnswer;
use super::meta::{CategoryInfo, IndexProgress, LineMapInfo, MetaAnswer};
use super::moments::MomentsAnswer;
use super::overview::OverviewAnswer;
use super::path::PathAnswer;
use super::search::{HitsAnswer, SearchAnswer};
use super::statistics::{
    CategoryByTimeline, CategoryNumbers, MatrixAnswer, SizesAnswer, StatisticsAnswer,
    TimelineNumbers,
};
use super::timelines::TimelinesAnswer;
use super::traces::{ComparedRow, ComparedTable, ComparisonAnswer, TraceName, TracesAnswer};
use super::tracks::{CounterRate, RanksByUse, TracksAnswer, TransferRates};
use super::verdict::RangeVerdict;
use super::waits::WaitsAnswer;
use crate::base::color::Theme;
use crate::details::wait::{CallWait, WaitCause};
use crate::details::{ArrowEnd, CallCommunicator, DrawableDetail, EnclosingState};
use crate::findings::summary::{
    FindingItem, FindingTarget, RankShares, RunVerdict, TimeLoss, TimeShare, TraceFinding,
    TraceSummary,
};
use crate::picture::frame::{HEADER_BYTES, MAGIC, arrow_flag, flag, section};
use crate::trace::TopologyName;
use crate::trace::class_colors::{CLASSES, REGIONS, ThemeColors};

const HEADER: &str = "\
// Answers of the server, or of the same code as WASM, and the numbers that frames are made of.
// Written from the Rust types by a test of viewer-core: UPDATE_TYPESCRIPT=1 cargo test -p viewer-core typescript
";

/// Adds the declaration of a type with its documentation.
fn add<T: TS>(text: &mut String, config: &Config) {
    let docs = T::docs().unwrap_or_default();
    let _ = write!(text, "\n{docs}export {}\n", T::decl(config));
}

/// Adds a number.
fn add_constant(text: &mut String, name: &str, value: impl std::fmt::Display) {
    let _ = writeln!(text, "export const {name} = {value};");
}

/// Adds a list of numbers.
fn add_list(text: &mut String, name: &str, values: &[u32]) {
    let _ = writeln!(text, "export const {name} = {values:?} as const;");
}

fn pair(ThemeColors { light, dark }: ThemeColors) -> String {
    format!("[0x{:06x}, 0x{:06x}]", light.0, dark.0)
}

fn typescript() -> String {
    // Numbers of answers are far below 2⁵³.
    let config = Config::new().with_large_int("number");
    let mut text = HEADER.to_owned();
    add::<TracesAnswer<'_>>(&mut text, &config);
    add::<TraceName<'_>>(&mut text, &config);
    add::<ComparisonAnswer>(&mut text, &config);
    add::<ComparedTable>(&mut text, &config);
    add::<ComparedRow>(&mut text, &config);
    add::<TopologyName>(&mut text, &config);
    add::<MetaAnswer<'_>>(&mut text, &config);
    add::<LineMapInfo<'_>>(&mut text, &config);
    add::<CategoryInfo<'_>>(&mut text, &config);
    add::<IndexProgress>(&mut text, &config);
    add::<TimelinesAnswer<'_>>(&mut text, &config);
    add::<OverviewAnswer>(&mut text, &config);
    add::<DrawableDetail>(&mut text, &config);
    add::<CallCommunicator>(&mut text, &config);
    add::<EnclosingState>(&mut text, &config);
    add::<ArrowEnd>(&mut text, &config);
    add::<CallWait>(&mut text, &config);
    add::<WaitCause>(&mut text, &config);
    add::<FollowAnswer>(&mut text, &config);
    add::<CallAnswer>(&mut text, &config);
    add::<StatisticsAnswer>(&mut text, &config);
    add::<CategoryNumbers>(&mut text, &config);
    add::<TimelineNumbers>(&mut text, &config);
    add::<CategoryByTimeline>(&mut text, &config);
    add::<MatrixAnswer>(&mut text, &config);
    add::<SizesAnswer>(&mut text, &config);
    add::<DurationsAnswer>(&mut text, &config);
    add::<EventsAnswer>(&mut text, &config);
    add::<SearchAnswer>(&mut text, &config);
    add::<HitsAnswer>(&mut text, &config);
    add::<AggregateAnswer>(&mut text, &config);
    add::<AggregateLine>(&mut text, &config);
    add::<MomentsAnswer>(&mut text, &config);
    add::<TraceSummary>(&mut text, &config);
    add::<RunVerdict>(&mut text, &config);
    add::<RangeVerdict>(&mut text, &config);
    add::<RankShares>(&mut text, &config);
    add::<TimeLoss>(&mut text, &config);
    add::<TimeShare>(&mut text, &config);
    add::<WaitsAnswer>(&mut text, &config);
    add::<PathAnswer>(&mut text, &config);
    add::<TracksAnswer>(&mut text, &config);
    add::<RanksByUse>(&mut text, &config);
    add::<TransferRates>(&mut text, &config);
    add::<CounterRate>(&mut text, &config);
    add::<TraceFinding>(&mut text, &config);
    add::<FindingItem>(&mut text, &config);
    add::<FindingTarget>(&mut text, &config);
    text.push_str("\n/** The first bytes of a frame, as a little-endian number. */\n");
    add_constant(&mut text, "FRAME_MAGIC", u32::from_le_bytes(MAGIC));
    text.push_str("/** Bytes of the header of a frame. */\n");
    add_constant(&mut text, "FRAME_HEADER_BYTES", HEADER_BYTES);
    text.push_str("\n/** Flags of a frame. */\n");
    for (name, value) in [
        ("EXACT", flag::EXACT),
        ("COARSE", flag::COARSE),
        ("STATES", flag::STATES),
        ("ARROWS_CUT", flag::ARROWS_CUT),
        ("FROM_INDEX", flag::FROM_INDEX),
        ("WAITS", flag::WAITS),
    ] {
        add_constant(&mut text, name, value);
    }
    text.push_str("\n/** Flags of an arrow. */\n");
    add_constant(&mut text, "BACKWARD", arrow_flag::BACKWARD);
    add_constant(&mut text, "BUNDLE", arrow_flag::BUNDLE);
    text.push_str("\n/** Numbers of the sections of a frame. */\n");
    for (name, value) in [
        ("CATEGORY_SECTION", section::CATEGORY),
        ("BUSY_SECTION", section::BUSY),
        ("DEVIATION_SECTION", section::DEVIATION),
        ("EVENTS_SECTION", section::EVENTS),
        ("HITS_SECTION", section::HITS),
    ] {
        add_constant(&mut text, name, value);
    }
    add_list(&mut text, "STACK_SECTIONS", &section::STACK);
    add_list(&mut text, "STATE_SECTIONS", &section::STATES);
    add_list(&mut text, "WAIT_SECTIONS", &section::WAITS);
    add_list(&mut text, "POINT_SECTIONS", &section::POINTS);
    add_list(&mut text, "ARROW_SECTIONS", &section::ARROWS);
    text.push_str("\n/** The colour of waiting, on light and on dark. */\n");
    let [light, dark] = [Theme::Light, Theme::Dark].map(Theme::waiting);
    let _ = writeln!(
        text,
        "export const WAITING_COLORS = {} as const;",
        pair(ThemeColors { light, dark })
    );
    text.push_str("/** Colours of the classes, likewise. */\n");
    text.push_str("export const CLASS_COLORS = {\n");
    for (class, colors) in CLASSES {
        let _ = writeln!(text, "  {}: {},", class.name(), pair(colors));
    }
    text.push_str("} as const;\n/** Colours that regions of the program have, likewise. */\n");
    text.push_str("export const REGION_COLORS = [\n");
    for colors in REGIONS {
        let _ = writeln!(text, "  {},", pair(colors));
    }
    text.push_str("] as const;\n");
    text
}

#[test]
fn typescript_types_of_the_page_are_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../viewer/src/answers.ts");
    let expected = typescript();
    if std::env::var_os("UPDATE_TYPESCRIPT").is_some() {
        std::fs::write(&path, &expected).expect("viewer/src can be written");
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "viewer/src/answers.ts is out of date: UPDATE_TYPESCRIPT=1 cargo test -p viewer-core typescript"
    );
}
