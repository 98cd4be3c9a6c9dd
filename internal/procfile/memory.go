package procfile

import (
	"bytes"
	"strings"
)

// ValueFunc gets one field of a file; the name is only good until it returns.
type ValueFunc func(name []byte, v float64)

// Meminfo reads /proc/meminfo and /sys/devices/system/node/nodeN/meminfo,
// whose lines begin with "Node N": "MemFree: 21372760 kB". Sizes are handed on in
// bytes, counts (HugePages_Total) as they are. What is no such line is skipped
// and counted.
func Meminfo(data []byte, each ValueFunc) (bad int) {
	for len(data) > 0 {
		var line []byte
		line, data = CutLine(data)
		name, rest := CutField(line)
		if string(name) == "Node" {
			_, rest = CutField(rest)
			name, rest = CutField(rest)
		}
		if len(name) == 0 {
			continue
		}
		value, rest := CutField(rest)
		unit, _ := CutField(rest)
		v, ok := Number(value)
		name, colon := bytes.CutSuffix(name, []byte(":"))
		if !ok || !colon {
			bad++
			continue
		}
		if string(unit) == "kB" {
			v *= 1024
		}
		each(name, v)
	}
	return bad
}

// NameValue reads files of lines "name value": /proc/vmstat and numastat of
// a node.
func NameValue(data []byte, each ValueFunc) (bad int) {
	for len(data) > 0 {
		var line []byte
		line, data = CutLine(data)
		name, rest := CutField(line)
		if len(name) == 0 {
			continue
		}
		value, _ := CutField(rest)
		v, ok := Number(value)
		if !ok {
			bad++
			continue
		}
		each(name, v)
	}
	return bad
}

// BlocksFunc gets how many free blocks of 2^order pages a zone has.
type BlocksFunc func(node, zone []byte, order int, blocks float64)

// Buddyinfo reads /proc/buddyinfo: "Node 0, zone   Normal  1512  14841 …",
// one count an order from 0 on (mm/vmstat.c, frag_show_print).
func Buddyinfo(data []byte, each BlocksFunc) (bad int) {
	for len(data) > 0 {
		var line []byte
		line, data = CutLine(data)
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		node, zone, rest, ok := parseZoneName(line)
		if !ok {
			bad++
			continue
		}
		for order := 0; ; order++ {
			var value []byte
			if value, rest = CutField(rest); len(value) == 0 {
				break
			}
			v, ok := Number(value)
			if !ok {
				bad++
				break
			}
			each(node, zone, order, v)
		}
	}
	return bad
}

// parseZoneName reads "Node 0, zone   Normal".
func parseZoneName(line []byte) (node, zone, rest []byte, ok bool) {
	word, rest := CutField(line)
	node, rest = CutField(rest)
	word2, rest := CutField(rest)
	zone, rest = CutField(rest)
	node, comma := bytes.CutSuffix(node, []byte(","))
	return node, zone, rest, comma && string(word) == "Node" && string(word2) == "zone" && len(zone) > 0
}

// ZoneFunc gets a field of a zone, in pages.
type ZoneFunc func(node, zone, name []byte, v float64)

// Zoneinfo reads the pages and watermarks of each zone out of
// /proc/zoneinfo (mm/vmstat.c, zoneinfo_show_print): the lines that follow
// "pages free", up to the zone's own statistics. What a host with 256 CPUs has
// most of there, a page set for each, is passed over.
func Zoneinfo(data []byte, each ZoneFunc) (bad int) {
	var node, zone []byte
	in := false // between "pages free" and the zone's statistics
	for len(data) > 0 {
		var line []byte
		line, data = CutLine(data)
		name, rest := CutField(line)
		switch {
		case string(name) == "Node":
			var ok bool
			if node, zone, _, ok = parseZoneName(line); !ok {
				node, zone = nil, nil
				bad++
			}
			in = false
			continue
		case zone == nil:
			continue
		case string(name) == "pages":
			if name, rest = CutField(rest); string(name) != "free" {
				continue
			}
			in = true
		case !in || !zoneFields[string(name)]:
			if string(name) == "protection:" {
				in = false
			}
			continue
		}
		value, _ := CutField(rest)
		v, ok := Number(value)
		if !ok {
			bad++
			continue
		}
		each(node, zone, name, v)
	}
	return bad
}

var zoneFields = map[string]bool{
	"min": true, "low": true, "high": true, "present": true, "managed": true,
	"boost": true, // 5.0 and later: watermarks raised after a fallback
}

// Swaps reads the names of /proc/swaps: "/dev/sda2 partition, /swap file".
func Swaps(data []byte) string {
	var out []string
	_, data = CutLine(data)
	for len(data) > 0 && len(out) < 8 {
		var line []byte
		line, data = CutLine(data)
		name, rest := CutField(line)
		kind, _ := CutField(rest)
		if len(kind) > 0 {
			out = append(out, strings.ToValidUTF8(string(name)+" "+string(kind), "?"))
		}
	}
	return strings.Join(out, ", ")
}
