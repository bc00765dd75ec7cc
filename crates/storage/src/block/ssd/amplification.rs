//! Write amplification in the steady state of uniform random writes, in the mean field: of very many blocks.
//!
//! A block is filled with valid pages, and loses each of them at the same rate until it is erased. Let F(i) be the share of the blocks with
//! at most i valid pages, and G(i) the probability that the next block to erase has. As many blocks pass from i + 1 pages to i as are erased
//! with at most i: (i + 1) · (F(i + 1) − F(i)) = c · G(i), with c = A/α; A is the write amplification, α all pages over those in use. With
//! the fewest of d blocks drawn, G = 1 − (1 − F)^d (Van Houdt 2013); with the fewest of all, G = 1 wherever F > 0. First written, first
//! erased: A = α / (α + W(−α e^−α)) (Desnoyers 2012).

use libm::{exp, pow};

use super::victims::Collection;

/// Blocks of more pages count as those of this many: A is up to 1 % higher in the limit of large blocks.
const MOST_PAGES: u32 = 1024;

/// Steps of a bisection, each of which halves the range, and at most of Newton's method.
const STEPS: u32 = 40;

impl Collection {
    /// Returns the number of pages written to flash for each that a host writes, with this many pages in a block, and `alpha` pages of
    /// flash for each page in use; infinite where all flash is in use.
    pub fn amplification(self, pages: u32, alpha: f64) -> f64 {
        if alpha <= 1.0 {
            return f64::INFINITY;
        }
        match self {
            Self::Fifo => first_written(alpha),
            Self::Greedy => drawn(pages, alpha, None),
            Self::Choices(many) => drawn(pages, alpha, Some(f64::from(many))),
        }
    }
}

/// The root of a falling function, between two values around it.
fn root(range: (f64, f64), falling: impl Fn(f64) -> f64) -> f64 {
    let halved = |(low, high): (f64, f64), _| {
        let middle = f64::midpoint(low, high);
        if falling(middle) > 0.0 { (middle, high) } else { (low, middle) }
    };
    let (low, high) = (0..STEPS).fold(range, halved);
    f64::midpoint(low, high)
}

fn first_written(alpha: f64) -> f64 {
    // On the upper branch, w e^w rises from −1/e at −1 to 0 at 0.
    let w = root((-1.0, 0.0), |w| -alpha * exp(-alpha) - w * exp(w));
    alpha / (alpha + w)
}

/// The fewest valid pages of `many` blocks drawn, or of all.
fn drawn(pages: u32, alpha: f64, many: Option<f64>) -> f64 {
    let pages = pages.min(MOST_PAGES);
    let wanted = f64::from(pages) / alpha;
    // The more blocks are erased for each page that hosts write, the more valid pages a block has on average.
    let c = root((0.0, f64::from(pages)), |c| wanted - mean_valid(pages, c, many));
    c * alpha
}

/// The mean number of valid pages of a block, Σ (1 − F(i)).
fn mean_valid(pages: u32, c: f64, many: Option<f64>) -> f64 {
    let below = |above: &mut f64, i: u32| {
        *above = share_below(*above, c / f64::from(i + 1), many);
        Some(1.0 - *above)
    };
    (0..pages).rev().scan(1.0, below).sum()
}

/// F(i), where F(i + 1) is `above` and F(i + 1) − F(i) = `flow` · G(i).
fn share_below(above: f64, flow: f64, many: Option<f64>) -> f64 {
    let Some(many) = many else { return (above - flow).max(0.0) };
    // Newton's method on a function that rises and is concave, from the left of its root: it never passes it.
    let mut share = 0.0;
    for _ in 0..STEPS {
        let left = pow(1.0 - share, many - 1.0);
        let missing = above - share - flow * (1.0 - left * (1.0 - share));
        share += missing / (1.0 + flow * many * left);
        if missing < 1e-12 {
            break;
        }
    }
    share
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published to four digits: 64, 256 and 1024 pages; ten choices of 64; in the limit of large blocks.
    #[test]
    fn the_formulas_give_the_published_numbers() {
        let (greedy, ten) = (Collection::Greedy, Collection::Choices(10));
        let published = [
            (greedy, 64, 0.07, 7.010),
            (greedy, 256, 0.07, 7.597),
            (greedy, 1024, 0.07, 7.761),
            (greedy, 64, 0.28, 2.403),
            (greedy, 256, 0.28, 2.461),
            (greedy, 1024, 0.28, 2.476),
            (ten, 64, 0.07, 7.323),
            (ten, 64, 0.28, 2.471),
            (Collection::Fifo, 64, 0.07, 7.817),
            (Collection::Fifo, 64, 0.28, 2.481),
        ];
        for (collection, pages, over, known) in published {
            let found = collection.amplification(pages, 1.0 + over);
            assert!((found / known - 1.0).abs() < 5e-4, "{collection:?} {pages} {over}: {found}");
        }
    }

    /// Random choice of one block, and any choice of a thousand, tend to the limits: first written, and the fewest of all.
    #[test]
    fn choices_lie_between_the_first_written_and_the_fewest() {
        let of = |collection: Collection| collection.amplification(256, 1.07);
        assert!((of(Collection::Choices(1000)) / of(Collection::Greedy) - 1.0).abs() < 0.005);
        let one = of(Collection::Choices(1));
        assert!(of(Collection::Choices(2)) < one && one > of(Collection::Fifo), "{one}");
    }

    #[test]
    fn full_flash_has_no_room_to_write() {
        assert_eq!(Collection::Greedy.amplification(64, 1.0), f64::INFINITY);
    }
}
