package readers

import (
	"slices"

	"snag/readers/ffprobe"
	"snag/readers/gclog"
	"snag/readers/logs"
	"snag/readers/pcap"
	"snag/readers/perf"
	"snag/readers/reader"
	"snag/readers/strace"
)

// Formats are all that can be read, the most particular first.
var Formats = slices.Concat(
	[]reader.Format{pcap.Format},
	[]reader.Format{strace.Format},
	perf.Formats,
	[]reader.Format{gclog.Format, ffprobe.Format},
	[]reader.Format{logs.Format}, // last: nearly every text with times is one
)
