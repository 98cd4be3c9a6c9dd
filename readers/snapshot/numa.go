package snapshot

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"snag/internal/procfile"
	"snag/recording"
)

// nodeMemory and nodePages are the two halves of the measure host.numa: how full each
// node is, and which pages came from another. The second may be told by the sums in
// /proc/vmstat.
const (
	nodeMemory = "nodes' memory"
	nodePages  = "nodes' pages"
)

func node(name string) recording.Labels { return recording.Labels{"node": name} }

// nodeMeminfo reads meminfo of nodes in /sys/devices/system/node; one file may hold
// several.
func (l *look) nodeMeminfo(it item) (bad int) {
	for _, line := range bytes.SplitAfter(it.data, []byte("\n")) {
		f := bytes.Fields(line)
		if len(f) < 2 || string(f[0]) != "Node" {
			continue
		}
		l.counted(nodeMemory, it.t)
		bad += procfile.Meminfo(line, func(name []byte, v float64) {
			if series := procfile.NodeMeminfoName(string(name)); series != "" {
				l.out.Sample(it.t, series, node(string(f[1])), v)
			}
		})
	}
	return bad
}

var nodeFolder = regexp.MustCompile(`node(\d+)`)

// nodeNumastat reads numastat of a node in /sys/devices/system/node.
func (l *look) nodeNumastat(it item) int {
	m := nodeFolder.FindStringSubmatch(it.command)
	if m == nil {
		return 1
	}
	l.counted(nodePages, it.t)
	return procfile.NameValue(it.data, func(name []byte, v float64) {
		if series := procfile.NumastatName(string(name)); series != "" {
			l.out.Sample(it.t, series, node(m[1]), v)
		}
	})
}

// numastat reads the command's table of pages: a column for each node.
func (l *look) numastat(it item) (bad int) {
	head, rest := procfile.CutLine(bytes.TrimLeft(it.data, "\n"))
	var nodes []string
	for _, f := range strings.Fields(string(head)) {
		nodes = append(nodes, strings.TrimPrefix(f, "node"))
	}
	l.counted(nodePages, it.t)
	for len(rest) > 0 {
		var line []byte
		line, rest = procfile.CutLine(rest)
		f := bytes.Fields(line)
		if len(f) == 0 {
			continue
		}
		series := procfile.NumastatName(string(f[0]))
		if len(f) != len(nodes)+1 {
			bad++
			continue
		}
		for i, n := range nodes {
			if v, ok := procfile.Number(f[i+1]); ok && series != "" {
				l.out.Sample(it.t, series, node(n), v)
			}
		}
	}
	return bad
}

var nodeHead = regexp.MustCompile(`Node (\d+)`)

// numastatMemory reads numastat -m: MB with two decimals, a column for each node, the
// last their sum; wide tables are broken into several.
func (l *look) numastatMemory(it item) (bad int) {
	var nodes []string
	for line := range lines(it.data) {
		if m := nodeHead.FindAllStringSubmatch(line, -1); m != nil {
			nodes = nil
			for _, n := range m {
				nodes = append(nodes, n[1])
			}
			continue
		}
		f := strings.Fields(line)
		if len(f) < 2 || strings.HasPrefix(f[0], "-") || len(nodes) == 0 {
			continue
		}
		series := procfile.NodeMeminfoName(f[0])
		if series == "" || strings.HasPrefix(f[0], "HugePages_") { // these in MB too: not what the kernel counts
			continue
		}
		l.counted(nodeMemory, it.t)
		for i, n := range nodes {
			if i+1 >= len(f) {
				bad++
				break
			}
			v, err := strconv.ParseFloat(f[i+1], 64)
			if err != nil {
				bad++
				break
			}
			l.out.Sample(it.t, series, node(n), v*(1<<20))
		}
	}
	return bad
}
