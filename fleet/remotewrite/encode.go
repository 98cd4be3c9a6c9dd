package remotewrite

import (
	"encoding/binary"
	"math"
	"sort"

	"github.com/golang/snappy"

	"snag/recording"
)

// sample is one value of a series, with its labels by name, __name__ among them.
type sample struct {
	labels []label
	value  float64
	at     recording.Time
}

type label struct{ name, value string }

func sorted(labels []label) []label {
	sort.Slice(labels, func(i, j int) bool { return labels[i].name < labels[j].name })
	return labels
}

// stale says that a series has no value any more (model/value of Prometheus: StaleNaN).
var stale = math.Float64frombits(0x7ff0000000000002)

// encode is a WriteRequest of remote write 1.0 (prometheus.io/docs/specs/prw/remote_write_spec), compressed:
//
//	message WriteRequest { repeated TimeSeries timeseries = 1; }
//	message TimeSeries   { repeated Label labels = 1; repeated Sample samples = 2; }
//	message Label        { string name = 1; string value = 2; }
//	message Sample       { double value = 1; int64 timestamp = 2; }
func encode(all []sample) []byte {
	var out, series, part []byte
	for _, s := range all {
		series = series[:0]
		for _, l := range s.labels {
			part = text(text(part[:0], 1, l.name), 2, l.value)
			series = bytesOf(series, 1, part)
		}
		part = binary.LittleEndian.AppendUint64(append(part[:0], 1<<3|1), math.Float64bits(s.value))
		part = binary.AppendUvarint(append(part, 2<<3), uint64(int64(s.at)/1e6)) // ms since the epoch
		series = bytesOf(series, 2, part)
		out = bytesOf(out, 1, series)
	}
	return snappy.Encode(nil, out)
}

// bytesOf appends a field of wire type 2 (length, bytes).
func bytesOf(to []byte, field byte, b []byte) []byte {
	return append(binary.AppendUvarint(append(to, field<<3|2), uint64(len(b))), b...)
}

func text(to []byte, field byte, s string) []byte {
	return append(binary.AppendUvarint(append(to, field<<3|2), uint64(len(s))), s...)
}
