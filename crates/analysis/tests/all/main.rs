//! Statistics of golden files and of random traces.

mod stats;
