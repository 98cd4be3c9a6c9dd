// Package suspecttest is what tests of several kinds of suspects share.
package suspecttest

import (
	"slices"
	"testing"

	"snag/recording"
	"snag/suspects/suspect"
)

// Gauge is a value that stayed as it was for half a minute.
func Gauge(name string, v float64, labels ...string) recording.Series {
	l := recording.Labels{}
	for i := 0; i+1 < len(labels); i += 2 {
		l[labels[i]] = labels[i+1]
	}
	return recording.Series{Name: name, Labels: l, Points: []recording.Point{{T: 1, V: v}, {T: 30e9, V: v}}}
}

// HostOf is a recording of a host with that many CPUs.
func HostOf(cpus int) *recording.Recording {
	return &recording.Recording{Manifest: recording.Manifest{CPUs: cpus, Netns: 1, Start: 1, End: 30e9}}
}

// GrowingTo is a counter that grew by n within half a minute.
func GrowingTo(name string, labels recording.Labels, n float64) recording.Series {
	return recording.Series{Name: name, Labels: labels, Points: []recording.Point{{T: 1, V: 0}, {T: 30e9, V: n}}}
}

// SettingsAre fails a test whose settings are not those.
func SettingsAre(t *testing.T, got []suspect.Setting, want ...string) {
	t.Helper()
	var all []string
	for _, s := range got {
		all = append(all, s.String())
	}
	if !slices.Equal(all, want) {
		t.Errorf("%q, want %q", all, want)
	}
}
