// Package measure is what suspects of several kinds read off a recording: counters, intervals,
// looks at threads, rows of sockets, drops. What only one kind reads is in the folder of that
// kind.
package measure

import (
	"strconv"
	"strings"

	"snag/recording"
)

// Counter returns the series of a per-namespace counter in that namespace, and
// whether it was measured there at least twice. The own namespace's samples
// carry no netns label (docs/recording.md); 0 stands for the own one.
func Counter(r *recording.Recording, netns uint64, name string, pairs ...string) (recording.Series, bool) {
	own := netns == 0 || netns == r.Manifest.Netns
	for _, s := range r.Select(name, pairs...) {
		label, labelled := s.Labels["netns"]
		if labelled == own || labelled && label != strconv.FormatUint(netns, 10) {
			continue
		}
		if len(s.Points) >= 2 {
			return s, true
		}
	}
	return recording.Series{}, false
}

// Grew is how much a per-namespace counter grew over the window, and whether it
// was measured: not measured is not zero.
func Grew(r *recording.Recording, netns uint64, name string, pairs ...string) (float64, bool) {
	s, ok := Counter(r, netns, name, pairs...)
	if !ok {
		return 0, false
	}
	return s.Increase()
}

// NetnsOf is the namespace that a series belongs to.
func NetnsOf(r *recording.Recording, s recording.Series) uint64 {
	if id, err := strconv.ParseUint(s.Labels["netns"], 10, 64); err == nil {
		return id
	}
	return r.Manifest.Netns
}

// Namespace puts a table row's namespace in the form that the others have: 0,
// where the kernel side did not tell, is the own one.
func Namespace(r *recording.Recording, id uint64) uint64 {
	if id == 0 {
		return r.Manifest.Netns
	}
	return id
}

// Sysctl is a sysctl as a number: of that namespace where it has its own, else
// the host's. False where it was not read.
func Sysctl(r *recording.Recording, netns uint64, name string) (float64, bool) {
	for _, id := range []uint64{netns, 0} {
		if text, ok := r.FactOf(name, id); ok {
			if v, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
				return v, true
			}
		}
	}
	return 0, false
}

// Greatest is the key with the greatest value, the first by name of equal ones.
func Greatest(of map[string]float64) (string, float64) {
	best, n := "", 0.0
	for k, v := range of {
		if v > n || v == n && k < best {
			best, n = k, v
		}
	}
	return best, n
}

// LastOf is the last value of the first series of that name.
func LastOf(r *recording.Recording, name string) (float64, bool) {
	for _, s := range r.Select(name) {
		return s.Last()
	}
	return 0, false
}

// UDPArrived is how many datagrams the namespace's sockets got or lost; 0 where
// it was not measured.
func UDPArrived(r *recording.Recording, netns uint64) float64 {
	in, ok := Grew(r, netns, "node_netstat_Udp_InDatagrams")
	errors, ok2 := Grew(r, netns, "node_netstat_Udp_InErrors")
	if !ok || !ok2 {
		return 0
	}
	in6, _ := Grew(r, netns, "node_netstat_Udp6_InDatagrams")
	errors6, _ := Grew(r, netns, "node_netstat_Udp6_InErrors")
	return in + errors + in6 + errors6
}
