//! Amounts of money in JSON.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::model::Money;

/// An amount of money: US dollars as an exact decimal in a string, for numbers of JSON are often read as binary
/// fractions. The names of keys that hold one end with `_usd`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Dollars(Money);

impl From<Money> for Dollars {
    fn from(money: Money) -> Self {
        Self(money)
    }
}

impl From<Dollars> for String {
    fn from(dollars: Dollars) -> Self {
        dollars.0.to_decimal()
    }
}

impl TryFrom<String> for Dollars {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Money::from_dollars(&text).map(Self).ok_or_else(|| format!("{text:?} is not an amount in dollars"))
    }
}

impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl JsonSchema for Dollars {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Dollars".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^[0-9]+(\\.[0-9]{1,9})?$"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_an_exact_decimal_in_a_string() {
        let dollars = Dollars::from(Money::from_nanos(1_000_000_040));
        assert_eq!(serde_json::to_string(&dollars).unwrap(), r#""1.00000004""#);
        assert_eq!(serde_json::from_str::<Dollars>(r#""1.00000004""#).unwrap(), dollars);
        for wrong in ["0.5", r#""1e3""#, r#""""#, "null"] {
            assert!(serde_json::from_str::<Dollars>(wrong).is_err(), "{wrong}");
        }
    }
}
