package page

import (
	"slices"

	"snag/recording"
	"snag/report/page/streams"
)

// streams are the live streams of the recording, with what the verdict says of each.
func (b *builder) streams() *streams.Data {
	d, left := streams.Of(b.r, b.start, b.ofStreams(), b.frames, b.limits.Streams)
	b.left = append(b.left, left...)
	return d
}

// onlyStreams reports whether streams were watched and nothing of the host was recorded.
func (b *builder) onlyStreams() bool {
	return len(b.r.Streams) > 0 && len(b.r.Processes) == 0 && len(b.r.Sockets) == 0
}

// ofStreams are the entries of the verdict that are about streams: those that lead to what
// was felt of one, or that ran over one.
func (b *builder) ofStreams() []streams.Verdict {
	var out []streams.Verdict
	for _, state := range drawn {
		for _, e := range b.v.With(state) {
			subjects := []recording.Subject{e.Subject}
			subjects = append(subjects, e.Related...)
			for _, i := range e.Explains {
				subjects = append(subjects, b.v.Symptoms[i].Subject)
			}
			seen := map[string]bool{}
			for _, sub := range slices.Backward(subjects) {
				if sub.Kind != recording.KindStream || seen[sub.Name] {
					continue
				}
				seen[sub.Name] = true
				out = append(out, streams.Verdict{
					Stream: sub.Name, Active: e.Active, Since: e.Since,
					Text: string(state) + " " + e.Suspect.Name + ": " + e.Subject.Name + ": " + e.Text,
				})
			}
		}
	}
	return out
}
