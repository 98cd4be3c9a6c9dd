package nics

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"snag/recording"
)

// mostNodes of a machine: CONFIG_NODES_SHIFT is 10 at most.
const mostNodes = 1024

// node writes, once, on which NUMA node a card is, and which CPUs the nodes have:
// what a mask of CPUs for it is made of (Documentation/networking/scaling.rst). A
// machine with one node writes nothing.
func (q *queues) node(t recording.Time, dev string) {
	if q.nodes == nil {
		q.nodes = map[string]bool{}
		q.cpusOfNodes(t)
	}
	if q.nodes[dev] || len(q.nodes) > mostQueueRows {
		return
	}
	q.nodes[dev] = true
	path := filepath.Join(q.env.Sys, "class/net", dev, "device/numa_node")
	b, err := os.ReadFile(path)
	if err != nil {
		return // it has no hardware
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && n >= 0 { // -1: not told, or there is one
		q.env.Sink.Append(recording.Fact{T: t, Name: "nic." + dev + ".numa_node", Value: strconv.Itoa(n), Source: path})
	}
}

func (q *queues) cpusOfNodes(t recording.Time) {
	all, err := filepath.Glob(filepath.Join(q.env.Sys, "devices/system/node/node[0-9]*/cpulist"))
	if err != nil || len(all) < 2 {
		return
	}
	for _, path := range all[:min(len(all), mostNodes)] {
		if b, err := os.ReadFile(path); err == nil {
			name := strings.TrimPrefix(filepath.Base(filepath.Dir(path)), "node")
			q.env.Sink.Append(recording.Fact{T: t, Name: "numa." + name + ".cpus", Value: strings.TrimSpace(string(b)), Source: path})
		}
	}
}
