package streams

import (
	"slices"

	"snag/recording"
	"snag/scene"
)

// notTold says of a stream without a frame that what its server receives may be another.
func (f *faulty) notTold(server string) string {
	return "nothing shows that what " + server + " receives is this stream. No frame of it came: is it published?"
}

// cameMeanwhile reports whether a connection brought more than words while its viewer got nothing.
func (f *faulty) cameMeanwhile(k *scene.Socket) bool {
	if k == nil {
		return false
	}
	var first, last *recording.TCPInfo
	for _, row := range k.Rows {
		if row.TCP == nil || !slices.ContainsFunc(f.felt, func(i recording.Interval) bool { return i.Covers(row.T) }) {
			continue
		}
		if last = row.TCP; first == nil {
			first = last
		}
	}
	return first != nil && last.BytesReceived > first.BytesReceived+scene.BringsLeast
}
