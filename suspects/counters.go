package suspects

import (
	"strconv"
	"strings"

	"snag/internal/units"
	"snag/recording"
)

// counter returns the series of a per-namespace counter in that namespace, and
// whether it was measured there at least twice. The own namespace's samples
// carry no netns label (docs/recording.md); 0 stands for the own one.
func counter(r *recording.Recording, netns uint64, name string, pairs ...string) (recording.Series, bool) {
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

// grew is how much a per-namespace counter grew over the window, and whether it
// was measured: not measured is not zero.
func grew(r *recording.Recording, netns uint64, name string, pairs ...string) (float64, bool) {
	s, ok := counter(r, netns, name, pairs...)
	if !ok {
		return 0, false
	}
	return s.Increase()
}

// netnsOf is the namespace that a series belongs to.
func netnsOf(r *recording.Recording, s recording.Series) uint64 {
	if id, err := strconv.ParseUint(s.Labels["netns"], 10, 64); err == nil {
		return id
	}
	return r.Manifest.Netns
}

// namespace puts a table row's namespace in the form that the others have: 0,
// where the kernel side did not tell, is the own one.
func namespace(r *recording.Recording, id uint64) uint64 {
	if id == 0 {
		return r.Manifest.Netns
	}
	return id
}

// setting is a sysctl as a number: of that namespace where it has its own, else
// the host's. False where it was not read.
func setting(r *recording.Recording, netns uint64, name string) (float64, bool) {
	for _, id := range []uint64{netns, 0} {
		if text, ok := r.FactOf(name, id); ok {
			if v, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
				return v, true
			}
		}
	}
	return 0, false
}

// count writes a number as people read it: 2,874.
func count(v float64) string { return units.Count(v) }

// size writes bytes as people read them: 208 KiB.
func size(bytes float64) string { return units.Bytes(bytes) }

// plural writes "1 port", "3 ports".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(float64(n)) + " " + noun + "s"
}

// times writes "once", "3 times".
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return count(float64(n)) + " times"
}

// ofAll writes "2,874 of 9,000", or the first alone where the whole is unknown.
func ofAll(n, of float64) string {
	if of <= 0 {
		return count(n)
	}
	return count(n) + " of " + count(of)
}

// most is the key with the greatest value, the first by name of equal ones.
func most(of map[string]float64) (string, float64) {
	best, n := "", 0.0
	for k, v := range of {
		if v > n || v == n && k < best {
			best, n = k, v
		}
	}
	return best, n
}

func lastOf(r *recording.Recording, name string) (float64, bool) {
	for _, s := range r.Select(name) {
		return s.Last()
	}
	return 0, false
}

// udpArrived is how many datagrams the namespace's sockets got or lost; 0 where
// it was not measured.
func udpArrived(r *recording.Recording, netns uint64) float64 {
	in, ok := grew(r, netns, "node_netstat_Udp_InDatagrams")
	errors, ok2 := grew(r, netns, "node_netstat_Udp_InErrors")
	if !ok || !ok2 {
		return 0
	}
	in6, _ := grew(r, netns, "node_netstat_Udp6_InDatagrams")
	errors6, _ := grew(r, netns, "node_netstat_Udp6_InErrors")
	return in + errors + in6 + errors6
}
