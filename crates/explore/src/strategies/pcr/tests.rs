//! The rules and the search, against every interleaving of made-up programs.

mod rules;
mod search;
