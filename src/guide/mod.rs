//! Guides: what is to be known beyond single items.

#[doc = include_str!("guards.md")]
pub mod guards {}
