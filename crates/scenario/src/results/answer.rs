//! The answer in a sentence: what a reader should know if they read nothing else.

use headrace_units::{BytesPerSecond, Nanos};

use super::{Bottleneck, Results, StreamResults};

/// What the results say, stream by stream, and what limits them.
pub fn in_words(results: &Results) -> String {
    let mut sentences: Vec<String> = results.streams.iter().map(stream).collect();
    if let Some(bottleneck) = &results.bottleneck {
        sentences.push(limit(bottleneck, results.streams.len()));
    }
    if !results.complete {
        sentences.insert(0, "INCOMPLETE.".to_owned());
    }
    sentences.join(" ")
}

/// What limits the system, and how far away that is.
fn limit(bottleneck: &Bottleneck, streams: usize) -> String {
    let how = if bottleneck.limit { "of its queue depth in use" } else { "busy" };
    let busy = format!("Bottleneck: {}, {:.0} % {how}", bottleneck.group, bottleneck.utilisation * 100.0);
    let about = if bottleneck.estimate { " (estimate)" } else { "" };
    // With several streams a factor says nothing without the load that it is a factor of.
    let of =
        if streams > 1 { format!(" the load of {}", listed(&bottleneck.streams)) } else { String::new() };
    match bottleneck.saturates_at {
        Some(times) if !bottleneck.saturated => format!("{busy}; headroom {times:.2}×{of}{about}."),
        Some(times) if streams > 1 => format!("{busy}: saturated, sustains {times:.2}×{of}."),
        Some(times) => format!("{busy}: saturated, sustains {times:.2}× this load."),
        None if bottleneck.saturated => format!("{busy}: saturated."),
        None => format!("{busy}."),
    }
}

/// Names in a sentence.
fn listed(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

fn stream(stream: &StreamResults) -> String {
    if stream.response.count == 0 {
        return format!("{}: no request was answered.", stream.name);
    }
    let time = |ms: f64| Nanos::from_ms(ms).to_string();
    let response = &stream.response;
    let sure = match (response.half_width_ms, &response.interval) {
        (Some(half), Some(interval)) if interval.trusted => {
            format!(" ± {:.2} %", Significant(half / response.mean_ms * 100.0))
        }
        _ => String::new(),
    };
    let slow = response
        .quantiles_ms
        .iter()
        .find(|quantile| quantile.share == 0.99)
        .map_or(0.0, |quantile| quantile.ms);
    // Sessions of cartridges have a time and no size.
    let rate = if stream.bytes_per_s > 0.0 {
        format!(" ({})", BytesPerSecond(stream.bytes_per_s))
    } else {
        String::new()
    };
    let said = format!(
        "{}: {:.4} requests/s{rate}, mean {}{sure}, p99 {}.",
        stream.name,
        Significant(stream.requests_per_s),
        time(response.mean_ms),
        time(slow),
    );
    match &stream.measured {
        None => said,
        Some(measured) => format!(
            "{said} Measured: mean {}; the simulation is {:+.1} % off, demerit {:.1} %.",
            time(measured.all.measured_mean_ms),
            measured.all.mean_error_percent,
            measured.all.demerit_percent
        ),
    }
}

/// A number with as many significant digits as the precision says.
struct Significant(f64);

impl std::fmt::Display for Significant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = f.precision().unwrap_or(3) as i32;
        let before = if self.0 > 0.0 { libm::floor(libm::log10(self.0)) as i32 + 1 } else { digits };
        write!(f, "{:.*}", (digits - before).max(0) as usize, self.0)
    }
}
