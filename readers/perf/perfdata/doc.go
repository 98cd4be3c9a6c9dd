// Package perfdata reads perf.data, the file of perf record: its header, its events,
// and its records in the order of their times. The format is that of Linux'
// tools/perf/Documentation/perf.data-file-format.txt and
// include/uapi/linux/perf_event.h. Nothing in a file is trusted; what is kept in
// memory is bounded.
package perfdata
