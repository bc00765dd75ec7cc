//! The exponential distribution by the ziggurat (Marsaglia and Tsang 2000): 256 layers of equal area, of which all but a
//! sliver lies under the curve, so 99 draws of 100 cost one multiplication.

use std::sync::LazyLock;

use super::Draws;

const LAYERS: usize = 256;
/// Beginning of the tail, and area of each layer, for 256 layers (Marsaglia and Tsang 2000).
const TAIL: f64 = 7.697_117_470_131_05;
const AREA: f64 = 0.003_949_659_822_581_572;

struct Layers {
    /// Right edges, from the widest to the top; `edge[0]` is the width that gives the base layer its area.
    edge: [f64; LAYERS + 1],
    /// The density at each edge.
    density: [f64; LAYERS + 1],
}

static LAYER: LazyLock<Layers> = LazyLock::new(|| {
    let mut edge = [0.0; LAYERS + 1];
    edge[0] = AREA / libm::exp(-TAIL);
    edge[1] = TAIL;
    for i in 2..LAYERS {
        edge[i] = -libm::log(AREA / edge[i - 1] + libm::exp(-edge[i - 1]));
    }
    Layers { edge, density: edge.map(|x| libm::exp(-x)) }
});

/// Most draws end at the first comparison: it is inlined wherever one draws, so that the generator stays in registers.
#[inline(always)]
pub(super) fn exponential(draws: &mut Draws) -> f64 {
    let layers = &*LAYER;
    let bits = draws.bits();
    let (layer, x) = layers.at(bits);
    if x < layers.edge[layer + 1] { x } else { layers.beyond(draws, layer, x) }
}

impl Layers {
    /// The layer that the low bits name, and how far to the right in it the high bits point.
    #[inline]
    fn at(&self, bits: u64) -> (usize, f64) {
        let layer = (bits & 0xff) as usize;
        (layer, (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64) * self.edge[layer])
    }

    /// Completes the draw of a point that does not lie wholly under the curve.
    #[cold]
    fn beyond(&self, draws: &mut Draws, mut layer: usize, mut x: f64) -> f64 {
        while x >= self.edge[layer + 1] {
            if layer == 0 {
                return TAIL - libm::log(1.0 - draws.uniform()); // The tail of an exponential is an exponential.
            }
            let (low, high) = (self.density[layer], self.density[layer + 1]);
            if low + (high - low) * draws.uniform() < libm::exp(-x) {
                break;
            }
            (layer, x) = self.at(draws.bits());
        }
        x
    }
}
