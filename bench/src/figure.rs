//! One line of the table.

use std::fmt;

/// A measured number, with what is asked of it.
pub struct Figure {
    what: String,
    value: f64,
    unit: &'static str,
    demand: Option<Demand>,
}

/// What is asked of a number.
#[derive(Clone, Copy)]
pub enum Demand {
    /// It should be at least this.
    AtLeast(f64),
    /// It should be below this.
    Below(f64),
}

impl Figure {
    /// A number of which nothing is asked.
    pub fn plain(what: impl Into<String>, value: f64, unit: &'static str) -> Figure {
        Figure { what: what.into(), value, unit, demand: None }
    }

    /// A number that should meet a demand.
    pub fn with(what: impl Into<String>, value: f64, unit: &'static str, demand: Demand) -> Figure {
        Figure { what: what.into(), value, unit, demand: Some(demand) }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value =
            if self.value >= 1000.0 { format!("{:.0}", self.value) } else { format!("{:.2}", self.value) };
        write!(f, "{:62} {value:>12} {:14}", self.what, self.unit)?;
        match self.demand {
            Some(Demand::AtLeast(least)) => {
                write!(f, "wanted: at least {least}  {}", if self.value >= least { "met" } else { "MISSED" })
            }
            Some(Demand::Below(bound)) => {
                write!(f, "wanted: below {bound}  {}", if self.value < bound { "met" } else { "MISSED" })
            }
            None => Ok(()),
        }
    }
}
