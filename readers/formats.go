package readers

import (
	"slices"

	"snag/readers/ffprobe"
	"snag/readers/gclog"
	"snag/readers/logs"
	"snag/readers/pcap"
	"snag/readers/perf"
	"snag/readers/reader"
	"snag/readers/snapshot"
	"snag/readers/strace"
)

// Formats are all that can be read, the most particular first.
var Formats = slices.Concat(
	[]reader.Format{pcap.Format},
	[]reader.Format{strace.Format, snapshot.Format},
	perf.Formats,
	[]reader.Format{gclog.Format, ffprobe.Format},
	[]reader.Format{logs.Format}, // last: nearly every text with times is one
)

// formatNamed is the format that takes a file of a folder by its name; why stays where
// there is none.
func formatNamed(path string, head []byte, why string) (reader.Format, string) {
	for _, f := range Formats {
		if f.Named != nil && len(head) > 0 && f.Named(path, head) {
			return f, ""
		}
	}
	return reader.Format{}, why
}
