//! Tests over a driver that is none.
