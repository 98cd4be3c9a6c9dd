package main

import (
	"fmt"
	"path/filepath"
)

// stored is what filling a store took.
type stored struct {
	hosts, series int     // series of each host
	seconds, cpu  float64 // until all was stored
	resident      float64 // bytes, then
}

const header = `| hosts | series | snag | wall | CPU | memory | queries | read | of them on the wire | Prometheus' CPU | its memory filled | at most |
|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|`

func row(snag string, s stored, c cost, most float64) string {
	return fmt.Sprintf("| %d | %d | %s | %.2f s | %.2f s | %.0f MB | %d | %s | %s | %.2f s | %s | %s |", s.hosts, s.hosts*s.series, filepath.Base(snag),
		c.Wall, c.CPU, c.Resident/1e6, c.Queries, bytesText(c.Read), bytesText(c.Wire), c.StoreCPU, bytesText(s.resident), bytesText(most))
}

func bytesText(n float64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", n/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", n/1e6)
	}
	return fmt.Sprintf("%.0f kB", n/1e3)
}
