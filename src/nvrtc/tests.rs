//! Compilations in a process that writes a decimal comma.
