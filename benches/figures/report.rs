//! Prints figures: one line a program, and what the peer needs of each divided by what axi needs.

use std::time::Duration;

/// One figure of one program, by name, in the order they are printed.
pub(crate) type Figures = Vec<(&'static str, Figure)>;

/// A number and how to print it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Figure {
    /// A time in ms.
    Time(Duration),
    /// Memory in KiB, printed in MiB.
    Memory(u64),
    /// A count.
    Count(u64),
    /// A ratio, printed with ×.
    Ratio(f64),
    /// Megabytes (10^6) a second.
    Speed(f64),
}

impl Figure {
    fn value(self) -> f64 {
        match self {
            Self::Time(time) => time.as_secs_f64(),
            Self::Memory(count) | Self::Count(count) => to_float(count),
            Self::Ratio(value) | Self::Speed(value) => value,
        }
    }

    fn words(self) -> String {
        match self {
            Self::Time(time) => format!("{:.2} ms", time.as_secs_f64() * 1000.0),
            Self::Memory(count) => format!("{:.1} MiB", to_float(count) / 1024.0),
            Self::Count(count) => count.to_string(),
            Self::Ratio(value) => format!("{value:.2}×"),
            Self::Speed(value) => format!("{value:.1} MB/s"),
        }
    }
}

/// A count as a float; exact below 2^53, far above any count here.
#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^53")]
pub(crate) fn to_float(count: u64) -> f64 {
    count as f64
}

/// The least and the middle of some times; zero of none.
pub(crate) fn least_and_middle(times: &[Duration]) -> (Duration, Duration) {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let middle = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    (sorted.first().copied().unwrap_or_default(), middle)
}

/// Prints the figures of each program and, where there are two, the first's divided by the second's.
pub(crate) fn print(title: &str, goal: &str, results: &[(&str, Result<Figures, String>)]) {
    println!("\n{title}\n  goal: {goal}");
    for (name, result) in results {
        match result {
            Ok(figures) => {
                let words: Vec<String> =
                    figures.iter().map(|(what, figure)| format!("{what} {}", figure.words())).collect();
                println!("  {name:<8} {}", words.join(" · "));
            }
            Err(reason) => println!("  {name:<8} no figure: {reason}"),
        }
    }
    if let [(own, Ok(ours)), (other, Ok(theirs)), ..] = results {
        let ratios: Vec<String> = ours
            .iter()
            .filter_map(|(what, figure)| {
                let (_, peer) = theirs.iter().find(|(name, _)| name == what)?;
                let ratio = (peer.value() > 0.0).then(|| figure.value() / peer.value())?;
                Some(format!("{what} {ratio:.2}"))
            })
            .collect();
        println!("  {own} / {other}: {}", ratios.join(" · "));
    }
}
