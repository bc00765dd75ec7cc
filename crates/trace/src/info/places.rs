//! Addresses accessed: sequentiality, footprint, popularity and reuse.

use serde::Serialize;

use super::footprint::Footprint;
use super::popularity::Popularity;
use super::reuse::{LruHits, Reuse};
use super::sequential::Sequential;
use crate::reader::Traced;
use crate::survey::DeviceSurvey;

/// Addresses accessed.
#[derive(Clone, Debug, Serialize)]
pub struct AddressesAccessed {
    /// Share of requests that begin where one of the previous 32 requests to the same device ended.
    pub sequential_share: f64,
    /// Number of distinct bytes accessed.
    pub footprint: u64,
    /// Resolution of the footprint in bytes; 1 if it is exact.
    pub footprint_grain: u64,
    /// One past the last byte accessed, the maximum over all devices.
    pub end: u64,
    /// Region size in bytes for `popularity`.
    pub region: u64,
    /// (share of the regions accessed, most popular first; share of the requests that begin in them).
    pub popularity: Vec<(f64, f64)>,
    /// How often an LRU cache would have what is asked for, by its size.
    pub lru: Option<LruHits>,
}

/// Accumulates [`AddressesAccessed`].
#[derive(Default)]
pub struct PlaceCounts {
    sequential: Sequential,
    footprint: Footprint,
    popularity: Popularity,
    reuse: Reuse,
}

impl PlaceCounts {
    #[inline]
    pub fn add(&mut self, traced: &Traced) {
        let Some(address) = traced.address else { return };
        let end = address + traced.bytes;
        self.sequential.add(traced.device, address, end);
        self.footprint.add(traced.device, address, end);
        self.popularity.add(traced.device, address);
        self.reuse.add(traced.op, traced.device, address, end);
    }

    pub fn finish(self, devices: &[DeviceSurvey], n: f64) -> AddressesAccessed {
        let (footprint, footprint_grain) = self.footprint.finish();
        let (region, popularity) = self.popularity.finish(n);
        AddressesAccessed {
            sequential_share: self.sequential.count as f64 / n,
            footprint,
            footprint_grain,
            end: devices.iter().map(|device| device.end).max().unwrap_or(0),
            region,
            popularity,
            lru: self.reuse.finish(),
        }
    }
}
