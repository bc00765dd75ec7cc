//! Usable units of stripes, and their devices.

/// Says where the units of a layout are now.
pub trait Units {
    /// The device that has the unit of `stripe` which the layout puts on `disk`, in its row `row`. `None` where that cannot be used:
    /// the device is down, or it missed a write.
    fn device(&self, stripe: u64, disk: usize, row: u64) -> Option<usize>;

    /// Returns true if all units can be used, so that none has to be looked up to know it.
    #[inline]
    fn are_all_usable(&self) -> bool {
        false
    }
}

/// Every unit is where the layout puts it.
pub struct Whole;

impl Units for Whole {
    #[inline]
    fn device(&self, _: u64, disk: usize, _: u64) -> Option<usize> {
        Some(disk)
    }

    #[inline]
    fn are_all_usable(&self) -> bool {
        true
    }
}

/// Of each disk, whether it has failed.
impl Units for [bool] {
    fn device(&self, _: u64, disk: usize, _: u64) -> Option<usize> {
        (!self[disk]).then_some(disk)
    }
}
