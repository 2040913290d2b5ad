//! The growth of counts during a campaign, and its graph.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// The counts at one moment of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The time since the beginning of the campaign, in seconds.
    pub seconds: f64,
    /// The number of covered branch edges, if the fuzzer reported it.
    pub covered: Option<u64>,
    /// The number of checks that are not settled, if the engine reported it.
    pub open: Option<u64>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 160.0;
const LEFT: f64 = 44.0;
const BELOW: f64 = 22.0;

/// The number of moments that are drawn for a series: more could not be distinguished.
const MOMENTS: usize = 200;

/// A selection of the points, including the last one.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let every = points.len().div_ceil(MOMENTS).max(1);
    let last = points.len().saturating_sub(1);
    let chosen = points.iter().enumerate();
    let chosen = chosen.filter(|(number, _)| number % every == 0 || *number == last);
    chosen.map(|(_, point)| *point).collect()
}

/// An SVG element that shows the covered edges and the open checks over time. Empty if there are
/// fewer than two samples.
pub fn picture(samples: &[Sample]) -> String {
    let series = |of: fn(&Sample) -> Option<u64>| -> Vec<(f64, f64)> {
        let points = samples.iter();
        let points = points.filter_map(|s| Some((s.seconds, of(s)? as f64)));
        thinned(points.collect())
    };
    let covered = series(|s| s.covered);
    let open = series(|s| s.open);
    let all = || covered.iter().chain(&open);
    if all().count() < 2 {
        return String::new();
    }
    let until = all().map(|p| p.0).fold(0.1, f64::max);
    let most = all().map(|p| p.1).fold(1.0, f64::max);
    let x = |seconds: f64| LEFT + seconds / until * (WIDTH - LEFT - 8.0);
    let y = |count: f64| 8.0 + (1.0 - count / most) * (HEIGHT - BELOW - 8.0);
    let steps = |points: &[(f64, f64)]| {
        let mut path = String::new();
        let mut last: Option<f64> = None;
        for (at, count) in points {
            // A step function, since nothing is known between two moments.
            let sep = if path.is_empty() { "" } else { " " };
            if let Some(last) = last {
                let _ = write!(path, "{sep}{:.1},{:.1}", x(*at), y(last));
            }
            let sep = if path.is_empty() { "" } else { " " };
            let _ = write!(path, "{sep}{:.1},{:.1}", x(*at), y(*count));
            last = Some(*count);
        }
        path
    };
    let bottom = HEIGHT - BELOW;
    let mut out = format!(
        "<svg class=\"growth\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"edges \
         covered and checks open over time\"><path class=\"axis\" d=\"M{LEFT},8V{bottom}H{:.1}\"/>",
        WIDTH - 8.0
    );
    let mut label = |x: f64, y: f64, anchor: &str, text: &str| {
        let _ = write!(
            out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
        );
    };
    label(LEFT - 6.0, 14.0, "end", &format!("{most:.0}"));
    label(LEFT - 6.0, bottom, "end", "0");
    label(WIDTH - 8.0, HEIGHT - 6.0, "end", &format!("{until:.1} s"));
    label(LEFT, HEIGHT - 6.0, "start", "0 s");
    for (class, points) in [("covered", &covered), ("open", &open)] {
        if !points.is_empty() {
            let _ = write!(
                out,
                "<polyline class=\"{class}\" points=\"{}\"/>",
                steps(points)
            );
        }
    }
    out.push_str("</svg>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_needs_two_moments() {
        let at = |seconds, covered| Sample {
            seconds,
            covered: Some(covered),
            open: None,
        };
        assert_eq!(picture(&[at(0.5, 3)]), "");
        let svg = picture(&[at(0.0, 0), at(1.0, 10)]);
        assert!(
            svg.contains("points=\"44.0,138.0 632.0,138.0 632.0,8.0\""),
            "{svg}"
        );
    }
}
