//! Bitcode: a bitstream of nested blocks of records, and the module that they spell.
//!
//! The library aborts its process on bitcode that is cut short, so every block is walked to its
//! end here, those too of which nothing is kept. Nothing is searched for: what is read lies where
//! the format says.

mod abbreviation;
mod attributes;
mod bits;
mod body;
mod fault;
mod fields;
mod file;
mod metadata;
mod modern;
mod module;
mod stream;
mod symbols;
#[cfg(test)]
mod tests;
mod types;

pub(super) use file::read;
