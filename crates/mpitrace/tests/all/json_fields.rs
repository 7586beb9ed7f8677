//! Names of fields in JSON, and the page of the documentation that has to have them.

use serde_json::Value;
use std::collections::BTreeSet;

/// Adds all names of fields in a JSON value.
pub fn fields(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, inner) in object {
                found.insert(name.clone());
                fields(inner, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| fields(item, found)),
        _ => {}
    }
}

/// Checks that a page, which has this name, has each of these names between backticks.
#[track_caller]
pub fn documented(page: &str, name_of_page: &str, names: &BTreeSet<String>) {
    for name in names {
        assert!(
            page.contains(&format!("`{name}`")),
            "{name} is not in {name_of_page}"
        );
    }
}
