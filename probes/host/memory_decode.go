package host

import (
	"bytes"
	"strings"
)

// valueFunc gets one field of a file; the name is only good until it returns.
type valueFunc func(name []byte, v float64)

// parseMeminfo reads /proc/meminfo and /sys/devices/system/node/nodeN/meminfo,
// whose lines begin with "Node N": "MemFree: 21372760 kB". Sizes are handed on in
// bytes, counts (HugePages_Total) as they are. What is no such line is skipped
// and counted.
func parseMeminfo(data []byte, each valueFunc) (bad int) {
	for len(data) > 0 {
		var line []byte
		line, data = cutLine(data)
		name, rest := cutField(line)
		if string(name) == "Node" {
			_, rest = cutField(rest)
			name, rest = cutField(rest)
		}
		if len(name) == 0 {
			continue
		}
		value, rest := cutField(rest)
		unit, _ := cutField(rest)
		v, ok := parseNumber(value)
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

// parseNameValue reads files of lines "name value": /proc/vmstat and numastat of
// a node.
func parseNameValue(data []byte, each valueFunc) (bad int) {
	for len(data) > 0 {
		var line []byte
		line, data = cutLine(data)
		name, rest := cutField(line)
		if len(name) == 0 {
			continue
		}
		value, _ := cutField(rest)
		v, ok := parseNumber(value)
		if !ok {
			bad++
			continue
		}
		each(name, v)
	}
	return bad
}

// blocksFunc gets how many free blocks of 2^order pages a zone has.
type blocksFunc func(node, zone []byte, order int, blocks float64)

// parseBuddyinfo reads /proc/buddyinfo: "Node 0, zone   Normal  1512  14841 …",
// one count an order from 0 on (mm/vmstat.c, frag_show_print).
func parseBuddyinfo(data []byte, each blocksFunc) (bad int) {
	for len(data) > 0 {
		var line []byte
		line, data = cutLine(data)
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
			if value, rest = cutField(rest); len(value) == 0 {
				break
			}
			v, ok := parseNumber(value)
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
	word, rest := cutField(line)
	node, rest = cutField(rest)
	word2, rest := cutField(rest)
	zone, rest = cutField(rest)
	node, comma := bytes.CutSuffix(node, []byte(","))
	return node, zone, rest, comma && string(word) == "Node" && string(word2) == "zone" && len(zone) > 0
}

// zoneFunc gets a field of a zone, in pages.
type zoneFunc func(node, zone, name []byte, v float64)

// parseZoneinfo reads the pages and watermarks of each zone out of
// /proc/zoneinfo (mm/vmstat.c, zoneinfo_show_print): the lines that follow
// "pages free", up to the zone's own statistics. What a host with 256 CPUs has
// most of there, a page set for each, is passed over.
func parseZoneinfo(data []byte, each zoneFunc) (bad int) {
	var node, zone []byte
	in := false // between "pages free" and the zone's statistics
	for len(data) > 0 {
		var line []byte
		line, data = cutLine(data)
		name, rest := cutField(line)
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
			if name, rest = cutField(rest); string(name) != "free" {
				continue
			}
			in = true
		case !in || !zoneFields[string(name)]:
			if string(name) == "protection:" {
				in = false
			}
			continue
		}
		value, _ := cutField(rest)
		v, ok := parseNumber(value)
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

// parseSwaps reads the names of /proc/swaps: "/dev/sda2 partition, /swap file".
func parseSwaps(data []byte) string {
	var out []string
	_, data = cutLine(data)
	for len(data) > 0 && len(out) < 8 {
		var line []byte
		line, data = cutLine(data)
		name, rest := cutField(line)
		kind, _ := cutField(rest)
		if len(kind) > 0 {
			out = append(out, strings.ToValidUTF8(string(name)+" "+string(kind), "?"))
		}
	}
	return strings.Join(out, ", ")
}
