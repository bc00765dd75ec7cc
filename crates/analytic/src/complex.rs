//! Functions of complex numbers.

use num_complex::Complex64;

/// e^z. Not the one that comes with complex numbers: that takes the platform's functions, which differ between machines.
pub(crate) fn exp(z: Complex64) -> Complex64 {
    let (sin, cos) = libm::sincos(z.im);
    Complex64::new(cos, sin) * libm::exp(z.re)
}
