//! Conditions under which `mpitrace report` fails, for continuous integration.

use analysis::performance::PerformanceReport;
use std::str::FromStr;

/// A number of the report that can be limited, and where it stands.
type Figure = (&'static str, fn(&PerformanceReport) -> f64);

const FIGURES: [Figure; 8] = [
    ("parallel-efficiency", |r| r.efficiencies.parallel),
    ("load-balance", |r| r.efficiencies.load_balance),
    ("communication-efficiency", |r| r.efficiencies.communication),
    ("serialisation-efficiency", |r| r.efficiencies.serialisation),
    ("transfer-efficiency", |r| r.efficiencies.transfer),
    ("waiting-share", |r| r.time.share(r.time.waiting)),
    ("seconds", |r| r.focus.seconds),
    ("ranks-not-finalized", |r| r.not_finalized.len() as f64),
];

/// A condition such as `parallel-efficiency<0.7`.
#[derive(Clone, Debug)]
pub struct Limit {
    figure: Figure,
    is_less: bool,
    limit: f64,
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Limit, String> {
        let expected = || {
            let names: Vec<&str> = FIGURES.iter().map(|(name, _)| *name).collect();
            format!(
                "expected a name, < or >, and a number; the names are {}",
                names.join(", ")
            )
        };
        let at = text.find(['<', '>']).ok_or_else(expected)?;
        let (name, rest) = text.split_at(at);
        let figure = FIGURES.into_iter().find(|(known, _)| *known == name.trim());
        let limit = rest[1..]
            .trim()
            .parse()
            .ok()
            .filter(|limit: &f64| limit.is_finite());
        Ok(Limit {
            figure: figure.ok_or_else(expected)?,
            is_less: rest.starts_with('<'),
            limit: limit.ok_or_else(expected)?,
        })
    }
}

impl Limit {
    /// Whether the condition holds.
    pub fn is_reached(&self, report: &PerformanceReport) -> bool {
        let value = (self.figure.1)(report);
        match self.is_less {
            true => value < self.limit,
            false => value > self.limit,
        }
    }

    /// The figure and its limit in words.
    pub fn words(&self, report: &PerformanceReport) -> String {
        let (name, value) = (self.figure.0, (self.figure.1)(report));
        let than = if self.is_less { "below" } else { "above" };
        format!("{name} is {value:.4}, {than} {}", self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let limit: Limit = "parallel-efficiency<0.7".parse().unwrap();
        assert!(limit.is_less && limit.limit == 0.7);
        let limit: Limit = " waiting-share > 1e-1 ".parse().unwrap();
        assert!(!limit.is_less && limit.figure.0 == "waiting-share");
        for wrong in ["", "x<1", "seconds", "seconds=1", "seconds>", "seconds>nan"] {
            assert!(
                wrong.parse::<Limit>().unwrap_err().contains("load-balance"),
                "{wrong}"
            );
        }
    }
}
