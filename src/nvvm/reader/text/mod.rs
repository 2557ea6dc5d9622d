//! Text: a lexer, and a parser that follows the outermost entities alone.
//!
//! What a body holds is skipped token by token. A word that this reader does not know is no
//! error: libNVVM decides what is valid, and the reader says where it is not certain.

mod lexer;
mod metadata;
mod modern;
mod parser;
mod places;
#[cfg(test)]
mod tests;
mod tokens;
mod types;
mod uses;

pub(super) use parser::read;
pub(in crate::nvvm) use places::{Flags, Places, places};
