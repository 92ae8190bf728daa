//! Parses arguments, runs the app, prints the error, chooses the exit code.

fn main() {}
