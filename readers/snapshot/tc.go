package snapshot

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"snag/recording"
)

// qdisc is one queueing discipline as tc -s prints it.
type qdisc struct {
	kind, handle, parent, device string
	options                      map[string]string
	counted                      bool
	bytes, packets               float64
	drops, overlimits, requeues  float64
	backlog, qlen                float64
	flowLimit                    *float64
}

var (
	qdiscLine = regexp.MustCompile(`^qdisc (\S+) ([0-9a-f]*:)(?: \[Unknown\])?(?: dev (\S+))?(?: (root|ingress|parent (\S+)))?(?: refcnt \d+)?(.*)$`)
	sentLine  = regexp.MustCompile(`^\s*Sent (\d+) bytes (\d+) pkts? \(dropped (\d+), overlimits (\d+) requeues (\d+)\)`)
	backLine  = regexp.MustCompile(`^\s*backlog (\d+)([KMG]?)b (\d+)p`)
	limitWord = regexp.MustCompile(`\bflows_plimit (\d+)`)
)

// tcText reads tc -s qdisc show (iproute2 tc/tc_qdisc.c, print_qdisc).
func (l *look) tcText(it item) (bad int) {
	var q *qdisc
	flush := func() {
		if q != nil {
			l.qdisc(it, *q)
		}
	}
	for line := range lines(it.data) {
		if m := qdiscLine.FindStringSubmatch(line); m != nil {
			flush()
			q = &qdisc{kind: m[1], handle: m[2], device: m[3], parent: m[5], options: tcOptions(m[6])}
			switch m[4] {
			case "root":
				q.parent = "root"
			case "ingress":
				q.parent = "ingress"
			}
			continue
		}
		if q == nil {
			if strings.TrimSpace(line) != "" {
				bad++
			}
			continue
		}
		if m := sentLine.FindStringSubmatch(line); m != nil {
			q.counted = true
			q.bytes, q.packets, q.drops, q.overlimits, q.requeues = number(m[1]), number(m[2]), number(m[3]), number(m[4]), number(m[5])
		} else if m := backLine.FindStringSubmatch(line); m != nil {
			q.backlog, q.qlen = number(m[1])*map[string]float64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[m[2]], number(m[3])
		}
		if m := limitWord.FindStringSubmatch(line); m != nil && q.kind == "fq" {
			v := number(m[1])
			q.flowLimit = &v
		}
	}
	flush()
	return bad
}

// number reads digits that a pattern has found.
func number(text string) float64 {
	v, _ := strconv.ParseFloat(text, 64)
	return v
}

// tcOptions reads what stands behind a qdisc's name: "limit 10000p flow_limit 100p".
func tcOptions(text string) map[string]string {
	f := strings.Fields(text)
	var out map[string]string
	for i := 0; i+1 < len(f); i++ {
		if !wordOption[f[i]] {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[f[i]] = baseUnits(f[i], f[i+1])
		i++
	}
	return out
}

var wordOption = map[string]bool{"limit": true, "flow_limit": true, "rate": true, "ceil": true, "burst": true, "lat": true, "latency": true, "peakrate": true,
	"target": true, "interval": true, "flows": true, "quantum": true, "delay": true, "loss": true, "bandwidth": true, "maxrate": true, "memory_limit": true}

var amount = regexp.MustCompile(`^([0-9.]+)([KMGT]?)(bit|b|p|ms|us|s)?$`)

// baseUnits writes a rate in bits per second and a size in bytes, as the table qdiscs has
// them; what is neither stays as it is.
func baseUnits(name, value string) string {
	m := amount.FindStringSubmatch(value)
	if m == nil || m[2] == "" {
		return value
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return value
	}
	scale := 1000.0 // rates
	if m[3] != "bit" {
		scale = 1024
	}
	for _, unit := range "KMGT" {
		v *= scale
		if string(unit) == m[2] {
			break
		}
	}
	return fmt.Sprintf("%.0f%s", v, m[3])
}

// tcJSON reads tc -j -s qdisc show.
func (l *look) tcJSON(it item) int {
	var all []struct {
		Kind, Handle, Parent, Dev string
		Root                      bool
		Ingress                   bool
		Options                   map[string]any
		Bytes, Packets, Drops     *float64
		Overlimits, Requeues      float64
		Backlog, Qlen             float64
		FlowsPlimit               *float64 `json:"flows_plimit"`
	}
	if err := json.Unmarshal(it.data, &all); err != nil {
		l.doubt("%s: tc's JSON can't be read: %v", it.path, err)
		return 1
	}
	for _, j := range all {
		q := qdisc{kind: j.Kind, handle: j.Handle, parent: j.Parent, device: j.Dev, overlimits: j.Overlimits, requeues: j.Requeues, backlog: j.Backlog, qlen: j.Qlen}
		if j.Root {
			q.parent = "root"
		}
		if j.Bytes != nil && j.Packets != nil && j.Drops != nil {
			q.counted, q.bytes, q.packets, q.drops = true, *j.Bytes, *j.Packets, *j.Drops
		}
		if j.Kind == "fq" {
			q.flowLimit = j.FlowsPlimit
			if q.flowLimit == nil && q.counted { // printed where it is not 0
				zero := 0.0
				q.flowLimit = &zero
			}
		}
		for name, v := range j.Options {
			if text := jsonOption(name, v); text != "" {
				if q.options == nil {
					q.options = map[string]string{}
				}
				q.options[name] = text
			}
		}
		l.qdisc(it, q)
	}
	return 0
}

// jsonOption writes an option as the table has it.
func jsonOption(name string, v any) string {
	n, ok := v.(float64)
	switch {
	case !ok || !wordOption[name]:
		return ""
	case name == "limit" || name == "flow_limit":
		return fmt.Sprintf("%.0fp", n)
	case name == "rate" || name == "ceil": // JSON has bytes per second
		return fmt.Sprintf("%.0fbit", 8*n)
	}
	return fmt.Sprintf("%.0f", n)
}

// qdisc writes one, as the host probe does.
func (l *look) qdisc(it item, q qdisc) {
	if q.device == "" { // tc qdisc show dev DEVICE does not print it
		if q.device = l.deviceFor(it, "tc qdisc"); q.device == "" {
			return
		}
	}
	if q.handle == "" || q.handle == "0:" {
		q.handle = "0:"
	}
	l.out.Append(recording.Qdisc{T: it.t, Device: q.device, Kind: q.kind, Handle: q.handle, Parent: q.parent, Options: q.options})
	// noqueue and noop have no queue and count nothing (kernel sch_generic.c).
	if !q.counted || q.kind == "noqueue" || q.kind == "noop" {
		return
	}
	if q.kind == "fq" && q.flowLimit == nil {
		zero := 0.0 // printed where it is not 0 (iproute2 tc/q_fq.c)
		q.flowLimit = &zero
	}
	labels := recording.Labels{"device": q.device, "kind": q.kind, "handle": q.handle, "parent": q.parent}
	for _, v := range []struct {
		name string
		v    float64
	}{
		{"node_qdisc_bytes_total", q.bytes}, {"node_qdisc_packets_total", q.packets}, {"node_qdisc_drops_total", q.drops},
		{"node_qdisc_requeues_total", q.requeues}, {"node_qdisc_overlimits_total", q.overlimits},
		{"node_qdisc_current_queue_length", q.qlen}, {"node_qdisc_backlog", q.backlog},
	} {
		l.out.Sample(it.t, v.name, labels, v.v)
	}
	if q.flowLimit != nil {
		l.out.Sample(it.t, "snag_qdisc_flow_limit_drops_total", labels, *q.flowLimit)
	}
	l.counted("host.qdisc", it.t)
}
