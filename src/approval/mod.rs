//! May it? Pure: rules and effects in, a decision out.
