package procfile

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Statistics reads the form of the files in /proc/net/stat: a line of names, then a
// line for each CPU with values in hexadecimal, and returns the sums over the CPUs.
// "entries" is the same on every line, the table's, and is not summed. A line with
// fewer values than names is not read (kernel net/netfilter/nf_conntrack_standalone.c
// and net/core/neighbour.c print all).
func Statistics(data []byte) (map[string]float64, error) {
	lines := strings.Split(string(bytes.TrimSpace(data)), "\n")
	names := strings.Fields(lines[0])
	if len(names) == 0 || len(lines) < 2 {
		return nil, fmt.Errorf("read statistics: %d lines", len(lines))
	}
	out := map[string]float64{}
	for _, line := range lines[1:] {
		values := strings.Fields(line)
		if len(values) < len(names) {
			return nil, fmt.Errorf("read statistics: %d values for %d names", len(values), len(names))
		}
		for i, name := range names {
			v, err := strconv.ParseUint(values[i], 16, 64)
			if err != nil {
				return nil, fmt.Errorf("read statistics: %s: %w", name, err)
			}
			if name == "entries" {
				out[name] = float64(v)
				continue
			}
			out[name] += float64(v)
		}
	}
	return out, nil
}
