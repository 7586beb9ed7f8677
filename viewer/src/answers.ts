// Answers of the server, or of the same code as WASM, and the numbers that frames are made of.
// Written from the Rust types by a test of viewer-core: UPDATE_TYPESCRIPT=1 cargo test -p viewer-core typescript

/**
 * The traces that a server has, by number.
 */
export type TracesAnswer = { 
/**
 * The traces, by number. Of one that was opened again, the number is a new one, and the one before is missing.
 */
traces: Array<TraceName>, };

/**
 * A trace of a server.
 */
export type TraceName = { 
/**
 * The number of the trace in addresses: `t/0/meta`.
 */
n: number, 
/**
 * The name of the trace for people.
 */
name: string, };

/**
 * What became slower or faster from one trace to another.
 */
export type ComparisonAnswer = { 
/**
 * Length, and time of a rank by use, in a sentence or two.
 */
words: string, 
/**
 * What changed, by activity, region and rank.
 */
tables: Array<ComparedTable>, };

/**
 * A table of a comparison.
 */
export type ComparedTable = { 
/**
 * Title of the table.
 */
title: string, 
/**
 * What changed most comes first; none where nothing changed much.
 */
rows: Array<ComparedRow>, };

/**
 * A row of a comparison.
 */
export type ComparedRow = { 
/**
 * Activity, region or rank.
 */
name: string, 
/**
 * Seconds in the first trace.
 */
before: number, 
/**
 * Seconds in the second one.
 */
after: number, 
/**
 * Seconds more in the second one.
 */
change: number, 
/**
 * Seconds of the second one, divided by those of the first; `None` if these are 0.
 */
ratio: number | null, 
/**
 * Whether the change is more than that of iterations by chance; `None` where there are no iterations to tell by.
 */
beyond_noise: boolean | null, };

/**
 * Topology of a drawable, as answers name it.
 */
export type TopologyName = "event" | "state" | "arrow";

export type MetaAnswer = { name: string, format: string, t0: number, t1: number, drawables: number | null, bytes: number, lines: number, 
/**
 * Threads whose time shares are of ([`shared_threads`]).
 */
threads: number, maps: Array<LineMapInfo>, categories: Array<CategoryInfo>, lost: Array<string>, 
/**
 * Tracks that can be shown: `ranks`, `messages`, `bytes`, `io`, and `counter:NAME` for each counter.
 */
tracks: Array<string>, index: IndexProgress, view_version: number, };

export type LineMapInfo = { name: string, columns: Array<string>, leaves: number, };

export type CategoryInfo = { name: string, topology: TopologyName, color: string, alpha: number, class: string, 
/**
 * Colours of the category by class: on light, on dark.
 */
by_class: [string, string], count: number | null, 
/**
 * Exclusive time in the whole trace, all lines together, by its length.
 */
share: number | null, 
/**
 * Inclusive time likewise.
 */
incl: number | null, labels: Array<string>, };

export type IndexProgress = { state: "none" | "building" | "ready", percent: number, 
/**
 * Whether it is known what all of the trace adds up to; pictures do not wait for that.
 */
counted: boolean, };

export type TimelinesAnswer = { spec: string, count: number, label: Array<string>, key: Array<string>, depth: Array<number>, lines: Array<number>, group: Array<boolean>, open: Array<boolean>, pinned: number, rank: Array<number>, ranks: Array<string>, thread: Array<number>, path: Array<Array<string>>, };

export type OverviewAnswer = { t0: number, t1: number, bins: number, classes: Array<string>, share: Array<Array<number>>, exact: boolean, };

/**
 * All that is known of a drawable.
 */
export type DrawableDetail = { 
/**
 * Reference of the drawable, as URLs hold it.
 */
ref: string, 
/**
 * `state`, `event` or `arrow`.
 */
topology: TopologyName, 
/**
 * Number of its kind.
 */
kind: number, 
/**
 * Name of its kind.
 */
name: string, 
/**
 * Class of its kind.
 */
class: string, 
/**
 * Start in seconds; of an arrow the time of the send.
 */
t0: number, 
/**
 * End in seconds.
 */
t1: number, 
/**
 * Timeline, or -1 if it is on none.
 */
timeline: number, 
/**
 * Line, as the file numbers it.
 */
line: number, 
/**
 * Label of the line.
 */
label: string, 
/**
 * States that it is nested in.
 */
depth: number, 
/**
 * Seconds without those in nested states; of states only, and `None` where finding out would take too much reading.
 */
excl: number | null, 
/**
 * Whether previews had to do for that.
 */
excl_is_estimate: boolean, 
/**
 * Keys and values.
 */
info: Array<[string, string]>, 
/**
 * The CallID, in hexadecimal with 0x before it.
 */
callid: string | null, 
/**
 * Bytes of the message, or of what was accessed.
 */
bytes: number | null, 
/**
 * Path of the file that it is about, if the trace tells.
 */
file: string | null, 
/**
 * The communicator that it is about, unless that may be MPI_COMM_WORLD.
 */
communicator: CallCommunicator | null, 
/**
 * The states that it is nested in, the innermost first.
 */
parents: Array<EnclosingState>, 
/**
 * Destination of an arrow.
 */
to: ArrowEnd | null, 
/**
 * Whether an arrow ends before it begins.
 */
backward: boolean, 
/**
 * The waits of the call for other ranks, the longest first. In lists they are not looked for.
 */
waits: Array<CallWait>, };

/**
 * The communicator of a call.
 */
export type CallCommunicator = { 
/**
 * Number in the trace.
 */
number: number, 
/**
 * The name that the program has given it.
 */
name: string | null, };

/**
 * A state around another one.
 */
export type EnclosingState = { 
/**
 * Reference of the drawable, as URLs hold it.
 */
ref: string, 
/**
 * Name of its kind.
 */
name: string, };

/**
 * The end of an arrow.
 */
export type ArrowEnd = { 
/**
 * Line, as the file numbers it.
 */
line: number, 
/**
 * Timeline, or -1 if it is on none.
 */
timeline: number, 
/**
 * Seconds.
 */
t: number, 
/**
 * Label of the line.
 */
label: string, };

/**
 * The wait of a call.
 */
export type CallWait = { 
/**
 * Seconds.
 */
seconds: number, 
/**
 * Why it waited, such as `late sender`, if the whole trace has been read.
 */
pattern: string | null, 
/**
 * Timeline of the rank that was waited for, or -1 if it is on none.
 */
timeline: number, 
/**
 * Label of its line.
 */
label: string, 
/**
 * Reference of its call that ended the wait, if it was in one then.
 */
call: string | null, 
/**
 * What it did in the middle of the wait.
 */
doing: WaitCause | null, };

/**
 * The innermost state of the rank that was waited for.
 */
export type WaitCause = { 
/**
 * Reference of the state, as URLs hold it.
 */
ref: string, 
/**
 * Name of its kind.
 */
name: string, 
/**
 * Class of its kind.
 */
class: string, };

export type FollowAnswer = { arrows: Array<DrawableDetail>, total: number, partner: DrawableDetail | null, };

export type CallAnswer = { call: DrawableDetail | null, operations: Array<DrawableDetail>, total: number, seconds: number, exact: boolean, };

/**
 * Answer to `stats`.
 */
export type StatisticsAnswer = { t0: number, t1: number, exact: boolean, 
/**
 * Whether numbers and times are exact. Those of the index are, which lacks the bytes of calls.
 */
exact_times: boolean, categories: Array<CategoryNumbers>, timelines: TimelineNumbers, span: number, 
/**
 * Threads whose time shares are of ([`shared_threads`]).
 */
threads: number, drawables: number, };

export type CategoryNumbers = { kind: number, name: string, topology: TopologyName, count: number, incl: number, excl: number, min: number | null, mean: number | null, max: number | null, timeline_of_max: number | null, bytes: number, };

export type TimelineNumbers = { 
/**
 * Seconds in states, by timeline.
 */
busy: Array<number>, 
/**
 * Threads, by timeline.
 */
threads: Array<number>, top: Array<CategoryByTimeline>, 
/**
 * End of the last state, by timeline.
 */
ends: Array<number | null>, };

export type CategoryByTimeline = { kind: number, excl: Array<number>, };

/**
 * Messages by pair of timelines.
 */
export type MatrixAnswer = { cells: Array<[number, number, number, number]>, 
/**
 * Timelines that are counted together; a cell names the first of them.
 */
group: number, 
/**
 * Whether these are all messages.
 */
exact: boolean, 
/**
 * All messages: those of the cells, and about how many others there are.
 */
messages: number, };

export type SizesAnswer = { 
/**
 * Least size, messages, bytes.
 */
messages: Array<[number, number, number]>, 
/**
 * Least duration in seconds, drawables.
 */
durations: Array<[number, number]>, exact: boolean, 
/**
 * All messages: those counted here, and about how many others there are.
 */
all: number, };

/**
 * How long the drawables of a kind last, in classes of about equal ratio.
 */
export type DurationsAnswer = { 
/**
 * Number of the kind.
 */
kind: number, 
/**
 * Begin of the stretch of time in which what is counted begins, seconds.
 */
t0: number, 
/**
 * End of that stretch, seconds.
 */
t1: number, 
/**
 * Drawables that begin before this time are counted, seconds: the end of the stretch, or less where there was no time for all.
 */
until: number, 
/**
 * Whether that is all of the trace.
 */
is_whole: boolean, 
/**
 * Whether it is known; the window is too long to be read otherwise, and the trace is not counted.
 */
is_known: boolean, 
/**
 * Least duration of each class, seconds, from the first class that has any to behind the last one.
 */
from: Array<number>, 
/**
 * Drawables of each class: one number less than there are durations.
 */
count: Array<number>, exact: boolean, };

export type EventsAnswer = { total: number, exact: boolean, ref: Array<string>, topology: Array<TopologyName>, kind: Array<number>, name: Array<string>, t0: Array<number>, t1: Array<number>, dur: Array<number>, timeline: Array<number>, 
/**
 * Timeline of the end of an arrow, −1 for anything else.
 */
to_timeline: Array<number>, info: Array<string>, 
/**
 * Bytes of the message, or of what was accessed; −1 if it says none.
 */
bytes: Array<number>, 
/**
 * Path of the file that it is about; empty if the trace tells none, and for calls of MPI-IO in long tables of traces that are too large to be read.
 */
file: Array<string>, };

export type SearchAnswer = { hit: DrawableDetail | null, 
/**
 * Whether it was found only after beginning again at the other end of the trace.
 */
wrapped: boolean, nodes: number, 
/**
 * Time to go on from, if the budget was used up before it was decided.
 */
from: number | null, };

export type HitsAnswer = { count: number, exact: boolean, at_least: boolean, bins: Array<number>, bins_exact: boolean, };

/**
 * Answer to `aggregate`.
 */
export type AggregateAnswer = { 
/**
 * The function: `sum`, `count`, `mean`, `max` or `min`.
 */
function: string, 
/**
 * By what lines are told apart: `rank`, `name` and so on.
 */
by: Array<string>, 
/**
 * Unit of the values.
 */
unit: "seconds" | "bytes" | "number", 
/**
 * The first lines, in the order of the function: the largest first, of `min` the smallest.
 */
lines: Array<AggregateLine>, 
/**
 * Lines that there are.
 */
groups: number, 
/**
 * Drawables that are in a line.
 */
count: number, 
/**
 * Drawables that the search takes but that have no such value, or are in no line.
 */
without: number, 
/**
 * Drawables that start before this time are in the table, seconds.
 */
until: number, 
/**
 * Whether these are all.
 */
exact: boolean, };

/**
 * A line of the table.
 */
export type AggregateLine = { 
/**
 * What is in the line, for each thing by which lines are told apart.
 */
labels: Array<string>, 
/**
 * What the function gives.
 */
value: number, 
/**
 * Number of drawables.
 */
count: number, 
/**
 * Sum of their values.
 */
sum: number, 
/**
 * Least value.
 */
min: number, 
/**
 * Largest value.
 */
max: number, 
/**
 * Search that has just these drawables; nothing where none can be written.
 */
query: string | null, };

/**
 * Answer to `moments`. Moments are numbered from 1 in the order of their begins.
 */
export type MomentsAnswer = { 
/**
 * `pending` while the trace is read; `unknown` where it could not be read; `many` where there are too many moments to be told.
 */
state: "known" | "pending" | "unknown" | "many", 
/**
 * Rank whose states these are; of phases none.
 */
rank: number | null, 
/**
 * Iterations of the main loop in each phase: 1 unless there are very many. 0 of states, and of a program without such a loop.
 */
each: number, 
/**
 * Begins in ascending order, seconds.
 */
t0: Array<number>, 
/**
 * End of each, seconds.
 */
t1: Array<number>, exact: boolean, };

/**
 * The summary of a trace.
 */
export type TraceSummary = { 
/**
 * Name of the trace.
 */
name: string, 
/**
 * Ranks.
 */
ranks: number, 
/**
 * Threads of ranks.
 */
threads: number, 
/**
 * Hosts; 0 if the trace does not name them.
 */
nodes: number, 
/**
 * Seconds.
 */
duration: number, 
/**
 * Drawables.
 */
drawables: number, 
/**
 * Whether all was read. Otherwise numbers are from previews, and findings that need single drawables are missing.
 */
exact: boolean, 
/**
 * Whether an exact one is being made.
 */
pending: boolean, 
/**
 * Defects of the trace, such as lost calls.
 */
lost: Array<string>, 
/**
 * Time of all threads by class of activity, the largest share first.
 */
bar: Array<TimeShare>, 
/**
 * What stands above the picture; nothing if the trace has no ranks or no MPI calls, or has not been read in full.
 */
verdict: RunVerdict | null, 
/**
 * Findings.
 */
cards: Array<TraceFinding>, };

/**
 * How well a run used its ranks, and what it lost most by. Shares are of the time of all ranks between MPI_Init and MPI_Finalize.
 */
export type RunVerdict = { 
/**
 * Parallel efficiency: the product of the next three.
 */
parallel: number, 
/**
 * Mean of the computing times divided by the longest.
 */
load_balance: number, 
/**
 * Efficiency as far as ranks depend on each other.
 */
serialisation: number, 
/**
 * Efficiency as far as data has to move.
 */
transfer: number, 
/**
 * Share of waiting for other ranks.
 */
waiting: number, 
/**
 * Share of files.
 */
files: number, 
/**
 * The largest groups of waits.
 */
losses: Array<TimeLoss>, 
/**
 * How many groups there are.
 */
all_losses: number, 
/**
 * What each rank did; nothing if there are too many ranks to be looked at one by one.
 */
ranks: Array<RankShares>, 
/**
 * What the numbers are not about, a sentence each: the time after an early MPI_Finalize, threads other than the main ones, calls that
 * may be missing. Not known of a summary that an earlier version kept.
 */
reservations: Array<string>, };

/**
 * The verdict of a range of time.
 */
export type RangeVerdict = { 
/**
 * Begin of the range, seconds.
 */
t0: number, 
/**
 * End of the range, seconds.
 */
t1: number, 
/**
 * Whether all of the trace may be read for an answer; without that it is not known who waited for whom in the range.
 */
is_small: boolean, 
/**
 * The verdict; nothing if the trace has no ranks or no MPI calls, or all of the trace may not be read.
 */
verdict: RunVerdict | null, };

/**
 * Shares of the time of a rank's main thread between MPI_Init and MPI_Finalize. The rest is MPI without waiting.
 */
export type RankShares = { 
/**
 * The rank.
 */
rank: number, 
/**
 * Outside of MPI and of file operations.
 */
computing: number, 
/**
 * Waiting for other ranks.
 */
waiting: number, 
/**
 * File operations and MPI-IO.
 */
files: number, };

/**
 * Waits of one kind, in one function, for one rank.
 */
export type TimeLoss = { 
/**
 * Seconds of all that waited.
 */
seconds: number, 
/**
 * Share of the time of all ranks.
 */
share: number, 
/**
 * Number of waits.
 */
count: number, 
/**
 * Why, and in which function.
 */
what: string, 
/**
 * Who waits for whom, and what that one was doing.
 */
who: string, 
/**
 * Seconds in each of equal parts of the trace.
 */
over_time: Array<number>, 
/**
 * Rank that most of it is due to in the end; not known of a summary that an earlier version kept.
 */
due_to: number | null, 
/**
 * Search that finds the calls that wait so.
 */
query: string, 
/**
 * The longest of the waits.
 */
target: FindingTarget, };

/**
 * A part of the time.
 */
export type TimeShare = { 
/**
 * Class.
 */
class: string, 
/**
 * Seconds, without those of what is nested.
 */
seconds: number, 
/**
 * Share of the time of all threads.
 */
share: number, };

export type WaitsAnswer = { 
/**
 * `pending` while the trace is read; `unknown` in a part of a trace without its waits, and where the trace could not be read.
 */
state: "known" | "pending" | "unknown", 
/**
 * Waits of calls in the whole trace.
 */
count: number, 
/**
 * Waits shorter than this many seconds are not told; 0 if all are.
 */
shortest: number, exact: boolean, };

/**
 * The critical path in a window, in order of time.
 */
export type PathAnswer = { 
/**
 * Begin of each stretch, seconds.
 */
from: Array<number>, 
/**
 * End of each stretch, seconds.
 */
to: Array<number>, 
/**
 * Timeline of each stretch, or -1 where the path is on none that is shown.
 */
timeline: Array<number>, 
/**
 * Whether the path is known; `from` is empty otherwise.
 */
exact: boolean, };

/**
 * Tracks of a window: what all ranks do together, in equal columns of time.
 */
export type TracksAnswer = { 
/**
 * Begin of the window, seconds.
 */
t0: number, 
/**
 * End of the window, seconds.
 */
t1: number, 
/**
 * Number of columns.
 */
columns: number, 
/**
 * `pending` while the trace is read, of which so long a window is too much to be read for an answer; `unknown` if nobody reads it.
 */
state: "known" | "pending" | "unknown", 
/**
 * Number of ranks.
 */
ranks: number, 
/**
 * What the main threads of ranks do.
 */
use: RanksByUse | null, 
/**
 * Messages sent per second.
 */
messages: Array<number> | null, 
/**
 * Bytes of messages per second, each message spread over the time from its send to its receive.
 */
bytes: Array<number> | null, 
/**
 * Bytes per second from and to files.
 */
io: TransferRates | null, 
/**
 * Rates of the counters that were asked for.
 */
counters: Array<CounterRate>, 
/**
 * Whether columns are exact; otherwise what is known of longer ones is spread evenly in these.
 */
exact: boolean, };

/**
 * Ranks by what their main threads do, each the mean of a column. The rest computes.
 */
export type RanksByUse = { 
/**
 * Waiting for other ranks; nothing as long as that is not known, and then those that wait are among the others.
 */
waiting: Array<number> | null, 
/**
 * In MPI without waiting.
 */
mpi: Array<number>, 
/**
 * In MPI-IO without waiting, and in file operations outside of MPI.
 */
files: Array<number>, 
/**
 * In calls that start MPI or end it, which no share counts.
 */
starting: Array<number>, 
/**
 * Whether waits too short to be kept are missing.
 */
lacks_short_waits: boolean, };

/**
 * Bytes per second, each operation spread over its time.
 */
export type TransferRates = { 
/**
 * From files.
 */
read: Array<number>, 
/**
 * To files.
 */
written: Array<number>, };

/**
 * How fast a performance counter counts in calls of MPI, all threads together.
 */
export type CounterRate = { 
/**
 * Name of the counter.
 */
name: string, 
/**
 * Counts per second.
 */
rate: Array<number>, };

/**
 * A finding.
 */
export type TraceFinding = { 
/**
 * Subject of the finding: top, imbalance, waits, phases, io, communication, trouble.
 */
id: string, 
/**
 * Title for people.
 */
title: string, 
/**
 * The number.
 */
value: string, 
/**
 * The finding in words.
 */
sentence: string, 
/**
 * Calls that the finding is based on.
 */
from: string, 
/**
 * Places to look at.
 */
items: Array<FindingItem>, };

/**
 * A place to look at.
 */
export type FindingItem = { 
/**
 * Description of the place.
 */
text: string, 
/**
 * Value, with its unit.
 */
value: string, 
/**
 * Target of the link.
 */
target: FindingTarget, };

/**
 * A place in the timeline.
 */
export type FindingTarget = { 
/**
 * Seconds.
 */
t0: number, 
/**
 * Seconds.
 */
t1: number, 
/**
 * Spec of the timelines.
 */
timelines: string, 
/**
 * Reference of the drawable that is to be selected, or nothing.
 */
sel: string, 
/**
 * Panel to open, or nothing.
 */
panel: string, };

/** The first bytes of a frame, as a little-endian number. */
export const FRAME_MAGIC = 827741260;
/** Bytes of the header of a frame. */
export const FRAME_HEADER_BYTES = 64;

/** Flags of a frame. */
export const EXACT = 1;
export const COARSE = 2;
export const STATES = 4;
export const ARROWS_CUT = 8;
export const FROM_INDEX = 16;
export const WAITS = 32;

/** Flags of an arrow. */
export const BACKWARD = 1;
export const BUNDLE = 2;

/** Numbers of the sections of a frame. */
export const CATEGORY_SECTION = 1;
export const BUSY_SECTION = 2;
export const DEVIATION_SECTION = 3;
export const EVENTS_SECTION = 4;
export const HITS_SECTION = 5;
export const STACK_SECTIONS = [6, 7, 8, 9, 10] as const;
export const STATE_SECTIONS = [20, 21, 22, 23, 24] as const;
export const WAIT_SECTIONS = [25, 26, 27] as const;
export const POINT_SECTIONS = [30, 31, 32] as const;
export const ARROW_SECTIONS = [40, 41, 42, 43, 44, 45, 46, 47] as const;

/** The colour of waiting, on light and on dark. */
export const WAITING_COLORS = [0xc2410c, 0xff7a45] as const;
/** Colours of the classes, likewise. */
export const CLASS_COLORS = {
  p2p: [0x5b9fe6, 0x4982ba],
  collective: [0x003886, 0xa2bfe0],
  wait: [0xa9b2c1, 0x566371],
  io: [0x1e7f57, 0x2dc791],
  rma: [0x98549a, 0xaa75ff],
  mpi: [0xb8a15c, 0x92772f],
  start: [0xcdced0, 0x3c4148],
  compute: [0xf2f4f7, 0x1f242b],
  user: [0xe8e0cd, 0x3c3424],
  disk: [0x9ce251, 0xdbeb78],
  message: [0x5c636b, 0xb4bbc4],
  other: [0xc48fb5, 0x8f5f83],
} as const;
/** Colours that regions of the program have, likewise. */
export const REGION_COLORS = [
  [0xffc2bc, 0x652330],
  [0xe7d8ca, 0x4d2e00],
  [0x92e7f6, 0x00431f],
  [0xe7d1f6, 0x452f67],
  [0xffc79c, 0x533023],
  [0xe1dbc1, 0x383713],
  [0xc6ddf8, 0x0a3b6a],
  [0xffd1c9, 0x413032],
  [0xe8ccaa, 0x49371f],
  [0x87dffe, 0x004432],
  [0xefc1fd, 0x3c2e4c],
  [0xf2d4be, 0x602700],
  [0xd8d3aa, 0x1b4309],
  [0xc7d6ff, 0x263854],
  [0xe7cac1, 0x54292f],
  [0xeccc99, 0x383627],
  [0xa7e3ff, 0x1f3931],
  [0xffccf7, 0x52224f],
  [0xffd3ac, 0x5c2f16],
  [0xdcdca2, 0x213a18],
  [0xe4cbff, 0x233066],
  [0xffcfb5, 0x602018],
  [0xebdaaa, 0x453b00],
  [0xa3d7ff, 0x004057],
] as const;
