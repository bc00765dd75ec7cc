//! What other tools call a field or a value: fio, DLIO, DiskSim, data sheets.

/// Levels of two levels: an array of arrays.
const RAID50: &str =
    "type: array, level: raid0, of: LEG, disks: 2` with `parts: {LEG: {type: array, level: raid5, …}}";
const RAID60: &str =
    "type: array, level: raid0, of: LEG, disks: 2` with `parts: {LEG: {type: array, level: raid6, …}}";

/// Words of others, which of the names that are possible they mean, and what to write.
const MEANT: &[(&[&str], &str, &str)] = &[
    // The document.
    (&["load", "loads", "workloads", "streams", "jobs"], "workload", "workload: {NAME: {arrivals: …}}"),
    (&["components", "devices", "storage", "topology"], "system", "system: {NAME: {type: …}}"),
    // Streams.
    (
        &["iodepth", "queue_depth", "qd", "depth", "clients", "concurrency"],
        "arrivals",
        "arrivals: {closed: {depth: 32}}",
    ),
    (&["numjobs", "jobs", "threads"], "arrivals", "arrivals: {closed: {depth: 32, threads: 4}}"),
    (&["rate", "iops", "rate_iops", "rps", "load", "throughput"], "arrivals", "arrivals: {poisson: 100 /s}"),
    (&["thinktime", "think_time", "think"], "arrivals", "arrivals: {closed: {depth: 8, think: 5 ms}}"),
    (&["trace", "replay"], "arrivals", "arrivals: {replay: {trace: requests.csv}}"),
    (&["log"], "arrivals", "arrivals: {log: {file: operations.csv}}"),
    (&["bs", "blocksize", "block_size", "request_size", "io_size", "record_size"], "size", "size: 4 KiB"),
    (&["rw", "readwrite", "type", "operation"], "op", "op: read"),
    (&["rwmixread", "read_percent", "reads", "read_share", "mix"], "op", "op: {reads: 70 %}"),
    (&["rwmixwrite", "writes"], "op", "op: {reads: 30 %}"),
    (&["access", "access_pattern", "random_distribution"], "pattern", "pattern: uniform"),
    (&["target", "filename", "volume"], "to", "to: NAME"),
    (&["source", "host"], "from", "from: NAME"),
    (&["fsync", "fdatasync"], "flush_every", "flush_every: 1"),
    (&["sync", "fua"], "durable", "durable: true"),
    // Values of these.
    (&["random", "rand"], "uniform", "uniform"),
    (&["zipf", "pareto", "skewed", "hot", "hotspot"], "{hot_spot: …}", "{hot_spot: {skew: 1.1}}"),
    (&["seq", "linear"], "sequential", "sequential"),
    (&["randread", "rand_read"], "read", "op: read, pattern: uniform"),
    (&["randwrite", "rand_write"], "write", "op: write, pattern: uniform"),
    (&["seqread", "seq_read"], "read", "op: read, pattern: sequential"),
    (&["seqwrite", "seq_write"], "write", "op: write, pattern: sequential"),
    (&["randrw", "rw", "readwrite", "mixed", "both"], "{reads: …}", "{reads: 50 %}"),
    (&["trim", "unmap"], "discard", "discard"),
    (&["exponential", "random", "open"], "{poisson: …}", "{poisson: 100 /s}"),
    (&["constant", "fixed", "periodic", "deterministic"], "{every: …}", "{every: 10 ms}"),
    // The run.
    (&["duration", "seconds", "runtime", "length", "end"], "time", "time: 60 s"),
    (&["count", "number_ios", "operations", "n"], "requests", "requests: 100000"),
    (&["ramp_time", "warmup", "ramp"], "warm_up", "warm_up: auto"),
    // Training.
    (&["gpus", "gpu", "num_accelerators", "ranks"], "accelerators", "accelerators: 8"),
    (&["batch_size"], "batch", "batch: 7"),
    (&["num_workers", "workers", "read_threads", "readers"], "threads", "threads: 4"),
    (&["computation_time", "compute_time", "step_time"], "compute", "compute: 300 ms"),
    (&["prefetch_size"], "prefetch", "prefetch: 2"),
    // Components.
    (&["raid0"], "array", "type: array, level: raid0"),
    (&["raid1"], "array", "type: array, level: raid1"),
    (&["raid10"], "array", "type: array, level: raid10"),
    (&["raid01"], "array", "type: array, level: raid01"),
    (&["raid4"], "array", "type: array, level: raid4"),
    (&["raid5"], "array", "type: array, level: raid5"),
    (&["raid6"], "array", "type: array, level: raid6"),
    (&["raid50"], "array", RAID50),
    (&["raid60"], "array", RAID60),
    (&["raid", "jbod"], "array", "type: array, level: raid5"),
    (&["stripe"], "array", "type: array, level: raid0"),
    (&["mirror"], "array", "type: array, level: raid1"),
    (&["hdd", "drive", "harddisk"], "disk", "type: disk"),
    (&["nvme", "flash", "nand"], "ssd", "type: ssd"),
    (&["nic", "network", "ethernet", "cable"], "link", "type: link"),
    (&["host", "node", "client", "initiator"], "server", "type: server"),
    (&["tape", "library", "robot"], "tape_library", "type: tape_library"),
    (&["hba", "raid_controller"], "controller", "type: controller"),
    (&["ceph", "osd", "cluster"], "pool", "type: pool"),
    (&["wal"], "write_ahead_log", "type: write_ahead_log"),
    (&["rocksdb", "lsm"], "lsm_tree", "type: lsm_tree"),
    (&["queue", "delay"], "station", "type: station"),
    (&["qos", "throttle"], "limiter", "type: limiter"),
    (&["model", "drive"], "device", "device: exos-x18"),
    (&["count", "number", "drives", "members", "n"], "disks", "disks: 8"),
    (&["raid", "raid_level"], "level", "level: raid5"),
    (&["chunk", "chunk_size", "stripe_size", "strip", "stripe"], "stripe_unit", "stripe_unit: 64 KiB"),
    (&["size", "capacity"], "device", "device: {like: NAME, capacity: 1 TB}"),
    (&["rpm", "rotation", "interface"], "device", "device: NAME"),
    (&["draid"], "array", "type: array, level: raid6, declustered: {width: 10, spares: 1, row: 16 MiB}"),
    (&["raid50", "50"], "raid5", RAID50),
    (&["raid60", "60"], "raid6", RAID60),
    (&["raidz", "raidz1"], "raid5", "level: raid5"),
    (&["raidz2"], "raid6", "level: raid6"),
    (&["raidz3"], "{erasure: …}", "level: {erasure: {parity: 3}}"),
    (&["draid"], "raid6", "level: raid6, declustered: {width: 10, spares: 1, row: 16 MiB}"),
    // Generations by their number in the standard, which is not their rate.
    (&["sas1", "sas_1"], "sas_3g", "sas_3g"),
    (&["sas2", "sas_2", "sas6"], "sas_6g", "sas_6g"),
    (&["sas3", "sas_3", "sas12"], "sas_12g", "sas_12g"),
    (&["sas4", "sas_4", "sas24", "sas_24g"], "sas_22_5g", "sas_22_5g"),
    (&["sata1", "sata_1", "sata_i"], "sata_1.5g", "sata_1.5g"),
    (&["sata2", "sata_2", "sata_ii"], "sata_3g", "sata_3g"),
    (&["sata", "sata3", "sata_3", "sata_iii", "sata6"], "sata_6g", "sata_6g"),
    (&["pcie3", "pcie_3", "pcie_gen3", "pcie3_x4", "nvme_gen3", "nvme3"], "nvme_gen3_x4", "nvme_gen3_x4"),
    (&["pcie4", "pcie_4", "pcie_gen4", "pcie4_x4", "nvme_gen4", "nvme4"], "nvme_gen4_x4", "nvme_gen4_x4"),
    (&["pcie5", "pcie_5", "pcie_gen5", "pcie5_x4", "nvme_gen5", "nvme5"], "nvme_gen5_x4", "nvme_gen5_x4"),
    (&["cost"], "price", "price: 300"),
];

/// Returns what to write instead of `name`, if that is what others call one of the names that are `possible`.
pub fn meant(name: &str, possible: impl Fn(&str) -> bool) -> Option<&'static str> {
    let name = name.to_lowercase().replace('-', "_");
    let mut all = MEANT.iter().filter(|(words, name_here, _)| words.contains(&&*name) && possible(name_here));
    all.next().map(|(.., write)| *write)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name that no document has could never be meant.
    #[test]
    fn every_name_is_one_of_the_schema() {
        let schema = crate::document::schema_of::<crate::spec::ScenarioSpec>().to_string();
        for (_, name, _) in MEANT {
            let key = name.trim_start_matches('{').trim_end_matches(": …}");
            assert!(schema.contains(&format!("\"{key}\"")), "{name}");
        }
    }

    #[test]
    fn words_mean_what_is_possible_there() {
        let of_stream = ["arrivals", "size", "op"];
        let in_stream = |name: &str| meant(name, |known| of_stream.contains(&known));
        assert_eq!(in_stream("bs"), Some("size: 4 KiB"));
        assert_eq!(in_stream("Queue-Depth"), Some("arrivals: {closed: {depth: 32}}"));
        assert_eq!(in_stream("gpus"), None);
        assert_eq!(meant("random", |known| known == "uniform"), Some("uniform"));
    }
}
