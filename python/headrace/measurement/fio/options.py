"""fio's job options that headrace does not simulate, and why. What it simulates is in `jobs`."""

from collections.abc import Mapping

REPORTING = "it concerns what fio reports"
HOST = "it concerns the host that runs fio, which is not simulated"
CONTENTS = "data contents are not simulated, only addresses and sizes"
FILES = "it concerns how fio sets up its files"
CACHE = "the page cache is not simulated"
SYNCING = "flushes are those of `fsync`, `fdatasync` and `sync`"
VERIFYING = "fio's reads for verification are not simulated"
BATCHES = "requests are issued one by one as others complete"
ZONES = "zones, of a device or of a job (`strided`), are not simulated"
FAILURES = "it concerns how fio handles errors and limits, which are not simulated"
REPLAY = "it concerns the replay of a log"
TARGETS = "headrace runs the load as given; `headrace capacity` searches for a load that meets a limit"
WARM_UP = "headrace determines the warm-up itself"
RANDOM = "headrace has its own random numbers, from `run.seed`; addresses may repeat"

_BY_REASON = {
    REPORTING: (
        "group_reporting new_group stats per_job_logs write_bw_log bwavgtime write_lat_log "
        "write_iops_log iopsavgtime "
        "write_hist_log write_iolog log_entries log_avg_msec log_hist_msec log_hist_coarseness log_max_value "
        "log_window_value log_offset log_prio log_issue_time log_compression log_compression_cpus "
        "log_store_compressed "
        "log_unix_epoch log_alternate_epoch log_alternate_epoch_clock_id block_error_percentiles clat_percentiles "
        "lat_percentiles slat_percentiles percentile_list significant_figures disk_util gtod_reduce disable_lat "
        "disable_clat disable_slat disable_bw_measurement disable_bw gtod_cpu unified_rw_reporting description "
        "kb_base unit_base clocksource rate_cycle name"
    ),
    HOST: (
        "thread mem iomem nice prio prioclass cpumask cpus_allowed cpus_allowed_policy "
        "numa_cpu_nodes numa_mem_policy "
        "lockmem cgroup cgroup_nodelete cgroup_weight uid gid exec_prerun exec_postrun "
        "hugepage-size hipri userspace_reap "
        "sqthread_poll sqthread_poll_cpu fixedbufs registerfiles nonvectored ioscheduler io_submit_mode "
        "thinktime_spin force_async uncached cmdprio_percentage cmdprio cmdprio_class"
    ),
    CONTENTS: (
        "refill_buffers zero_buffers scramble_buffers buffer_pattern buffer_compress_percentage "
        "buffer_compress_chunk "
        "dedupe_percentage dedupe_mode dedupe_working_set_percentage dedupe_global write_hint"
    ),
    FILES: (
        "create_serialize create_fsync create_on_open create_only allow_file_create allow_mounted_write fallocate "
        "fadvise_hint unlink unlink_each_loop overwrite file_append fill_device lockfile "
        "filename_format unique_filename "
        "opendir nrfiles openfiles file_service_type directory atomic"
    ),
    CACHE: "invalidate pre_read",
    SYNCING: "end_fsync fsync_on_close sync_file_range write_barrier",
    VERIFYING: (
        "verify do_verify verify_only verify_interval verify_offset verify_pattern verify_fatal "
        "verify_dump verify_async "
        "verify_backlog verify_backlog_batch verify_state_load verify_state_save experimental_verify trim_percentage "
        "trim_verify_zero trim_backlog trim_backlog_batch"
    ),
    BATCHES: (
        "iodepth_batch iodepth_batch_submit iodepth_batch_complete iodepth_batch_complete_min "
        "iodepth_batch_complete_max "
        "iodepth_low serialize_overlap"
    ),
    ZONES: (
        "zonemode zonesize zonecapacity zonerange zoneskip read_beyond_wp max_open_zones job_max_open_zones "
        "ignore_zone_limits zone_reset_threshold zone_reset_frequency"
    ),
    FAILURES: (
        "ignore_error continue_on_error error_dump exitall exit_what exitall_on_error rate_min rate_iops_min "
        "max_latency"
    ),
    TARGETS: (
        "latency_target latency_window latency_percentile latency_run steadystate steadystate_duration "
        "steadystate_ramp_time ss ss_dur ss_ramp"
    ),
    REPLAY: (
        "read_iolog_chunked replay_no_stall replay_redirect replay_scale replay_align replay_time_scale replay_skip "
        "merge_blktrace_file merge_blktrace_scalars merge_blktrace_iters"
    ),
    "requests are counted for `thinktime`, not issues or time": "thinktime_blocks_type thinktime_iotime",
    "an `offset` in per cent is ignored": "offset_align",
    WARM_UP: "ramp_time",
    RANDOM: "randrepeat allrandrepeat random_generator norandommap softrandommap rwmixcycle rw_sequencer",
    "addresses are multiples of the smallest request, or of `blockalign`": "bs_unaligned",
    "all jobs begin together": "startdelay",
    "a rate is kept on average": "rate_ignore_thinktime",
    "jobs do not take turns by share": "flow flow_id flow_sleep flow_watermark",
}
IGNORED = {name: why for why, names in _BY_REASON.items() for name in names.split()}

# The options that become part of a scenario.
_HONOURED = (
    "rw rwmixread rwmixwrite bs bsrange bssplit bs_is_seq_rand ba iodepth numjobs ioengine size "
    "io_size filesize offset offset_increment filename number_ios loops runtime time_based thinktime "
    "thinktime_blocks rate rate_iops rate_process random_distribution percentage_random randseed "
    "direct buffered stonewall wait_for sync fsync fdatasync"
)
HONOURED = frozenset(_HONOURED.split())

UNKNOWN = "headrace does not know it; check its spelling"

# Other names of the same option.
ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "blockalign": "ba",
    "io_limit": "io_size",
    "timeout": "runtime",
    "nr_files": "nrfiles",
    "fileoffset": "offset",
    "wait_for_previous": "stonewall",
    "blocksize_unaligned": "bs_unaligned",
    "iomem": "mem",
    "fill_fs": "fill_device",
    "ratemin": "rate_min",
    "ratecycle": "rate_cycle",
}

SYNCHRONOUS = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice")
ASYNCHRONOUS = ("libaio", "io_uring", "io_uring_cmd", "posixaio", "solarisaio", "windowsaio", "sg", "xnvme", "libblkio")
DEFAULT_ENGINE = "psync"


def flushing(options: Mapping[str, str]) -> list[str]:
    """Return the options by which flushes follow writes.

    >>> flushing({"fsync": "0", "fdatasync": "8"})
    ['fdatasync']
    """
    return [name for name in ("fsync", "fdatasync") if options.get(name, "0") != "0"]


def is_durable(options: Mapping[str, str]) -> bool:
    """Return true if writes are answered when they are durable.

    >>> is_durable({"sync": "dsync"}), is_durable({"sync": "none"}), is_durable({})
    (True, False, False)
    """
    return options.get("sync", "0") not in {"0", "none"}
