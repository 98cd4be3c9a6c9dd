package chain

import (
	"strconv"
	"strings"
	"time"

	"snag/lab"
)

// trickle is what a stream of 1 Mb/s never falls to: acknowledgements and reports.
const trickle = 5000 // bytes/s

// Still is for how long at most hardly anything came to each place in that time, by
// the kernel's counters: looked at ten times per second, without snag.
func Still(s *lab.Stage, d time.Duration) (map[string]time.Duration, error) {
	out := map[string]time.Duration{}
	began, since := map[string]uint64{}, map[string]time.Time{}
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		for _, place := range Places {
			n, err := s.Counter(s.Name(place), "IpExt", "InOctets")
			if err != nil {
				return nil, err
			}
			now := time.Now()
			at, seen := since[place]
			if !seen || float64(n-began[place]) > trickle*max(now.Sub(at).Seconds(), 0.1) {
				began[place], since[place] = n, now
				continue
			}
			out[place] = max(out[place], now.Sub(at))
		}
	}
	return out, nil
}

// Waits is how many bytes wait at the origin for the edge.
func Waits(s *lab.Stage) (int, error) {
	out, err := s.Output(s.Name("origin"), "ss", "-Htn", "state", "established", "dst", pushed)
	if err != nil {
		return 0, err
	}
	most := 0
	for _, line := range strings.Split(out, "\n") {
		if f := strings.Fields(line); len(f) >= 2 { // Recv-Q Send-Q local peer
			n, _ := strconv.Atoi(f[1])
			most = max(most, n)
		}
	}
	return most, nil
}
