//! Questions: a route and parameters, as in a URL.

use crate::base::error::ApiError;

/// A question, such as `picture?t0=0&t1=1&w=800`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApiQuery {
    /// Route: the part before the `?`.
    pub route: String,
    parameters: Vec<(String, String)>,
}

impl ApiQuery {
    /// Reads a question.
    ///
    /// # Errors
    /// Percent signs without two hexadecimal digits behind them, and what is not UTF-8.
    pub fn parse(question: &str) -> Result<Self, ApiError> {
        let (route, rest) = question.split_once('?').unwrap_or((question, ""));
        let mut query = ApiQuery {
            route: decoded(route)?,
            parameters: Vec::new(),
        };
        for pair in rest.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            query.parameters.push((decoded(key)?, decoded(value)?));
        }
        Ok(query)
    }

    /// The value of a parameter; of one that comes twice the first.
    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(k, _)| k == key);
        found.map(|(_, value)| value.as_str())
    }

    /// The value of a parameter; empty if it is missing.
    pub fn text(&self, key: &str) -> &str {
        self.get(key).unwrap_or_default()
    }

    /// A number, or `otherwise` where it is missing or empty.
    ///
    /// # Errors
    /// The value is no number of this type.
    pub fn number<T: std::str::FromStr>(&self, key: &str, otherwise: T) -> Result<T, ApiError> {
        match self.get(key) {
            None | Some("") => Ok(otherwise),
            Some(text) => text.parse().map_err(|_| wrong(key, text, "a number")),
        }
    }

    /// A time in seconds.
    ///
    /// # Errors
    /// The value is no finite number.
    pub fn time(&self, key: &str, otherwise: f64) -> Result<f64, ApiError> {
        let time: f64 = self.number(key, otherwise)?;
        if time.is_finite() {
            return Ok(time);
        }
        Err(wrong(key, self.text(key), "seconds"))
    }

    /// Numbers and ranges of them, such as `3,7-9`, in the order in which they stand there.
    ///
    /// # Errors
    /// The value is no such list, or has more than a million numbers.
    pub fn numbers(&self, key: &str) -> Result<Vec<u32>, ApiError> {
        let text = self.text(key);
        let mut numbers = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            match (first.parse::<u32>(), last.parse::<u32>()) {
                (Ok(first), Ok(last)) if first <= last && last - first < 1_000_000 => {
                    numbers.extend(first..=last);
                }
                _ => return Err(wrong(key, part, "a number or a range such as 7-9")),
            }
            if numbers.len() > 1_000_000 {
                return Err(ApiError::too_large(format!(
                    "{key}: more than a million numbers"
                )));
            }
        }
        Ok(numbers)
    }
}

fn wrong(key: &str, found: &str, expected: &str) -> ApiError {
    let found: String = found.chars().take(40).collect();
    ApiError::bad_request(format!("{key}={found}: expected {expected}"))
}

/// Text without percent signs and plus signs. A plus sign is a blank, as forms have it.
fn decoded(text: &str) -> Result<String, ApiError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes().iter();
    while let Some(&byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
                let digits = [digit(rest.next()), digit(rest.next())];
                let [Some(high), Some(low)] = digits else {
                    let place = text.len() - rest.len();
                    let message =
                        format!("expected two hexadecimal digits behind % before {place}");
                    return Err(ApiError::bad_request(message));
                };
                (high << 4 | low) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| ApiError::bad_request("expected UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters() {
        let query =
            ApiQuery::parse("picture?t0=-1e-3&w=8&timelines=only%3A0-63%2C!5&q=a+b&x&w=9").unwrap();
        assert_eq!(query.route, "picture");
        assert_eq!(query.time("t0", 0.0), Ok(-1e-3));
        assert_eq!(query.time("t1", 4.0), Ok(4.0));
        assert_eq!(query.number("w", 0u32), Ok(8));
        assert_eq!(query.text("timelines"), "only:0-63,!5");
        assert_eq!(query.text("q"), "a b");
        assert_eq!(query.get("x"), Some(""));
        assert_eq!(query.get("y"), None);
        assert!(query.number("q", 0u32).is_err());
    }

    #[test]
    fn what_cannot_be_read() {
        for wrong in ["a?b=%", "a?b=%4", "a?b=%zz", "%ff", "a?%c3=1"] {
            assert_eq!(ApiQuery::parse(wrong).unwrap_err().status, 400, "{wrong}");
        }
        let query = ApiQuery::parse("a?t=NaN&u=inf&n=5-3&m=0-4000000000&k=3,7-9").unwrap();
        assert!(query.time("t", 0.0).is_err() && query.time("u", 0.0).is_err());
        assert!(query.numbers("n").is_err() && query.numbers("m").is_err());
        assert_eq!(query.numbers("k"), Ok(vec![3, 7, 8, 9]));
    }
}
