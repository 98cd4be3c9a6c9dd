package suspects

import (
	"slices"
	"testing"

	"snag/recording"
)

func gauge(name string, v float64, labels ...string) recording.Series {
	l := recording.Labels{}
	for i := 0; i+1 < len(labels); i += 2 {
		l[labels[i]] = labels[i+1]
	}
	return recording.Series{Name: name, Labels: l, Points: []recording.Point{{T: 1, V: v}, {T: 30e9, V: v}}}
}

// hostOf is a recording of a host with that many CPUs.
func hostOf(cpus int) *recording.Recording {
	return &recording.Recording{Manifest: recording.Manifest{CPUs: cpus, Netns: 1, Start: 1, End: 30e9}}
}

func growingTo(name string, labels recording.Labels, n float64) recording.Series {
	return recording.Series{Name: name, Labels: labels, Points: []recording.Point{{T: 1, V: 0}, {T: 30e9, V: n}}}
}

func settingsAre(t *testing.T, got []Setting, want ...string) {
	t.Helper()
	var all []string
	for _, s := range got {
		all = append(all, s.String())
	}
	if !slices.Equal(all, want) {
		t.Errorf("%q, want %q", all, want)
	}
}
