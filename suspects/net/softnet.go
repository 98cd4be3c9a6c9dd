package net

import (
	"math"
	"slices"
	"sort"
	"strconv"

	"snag/internal/cpus"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
)

// softCPU is what one CPU did for the network.
type softCPU struct {
	id                           int
	dropped, squeezed, processed measure.Steps
	span                         recording.Interval // between the first and last sample of dropped
	busy, idle                   []cpuShare         // of each second: in softirqs, idle
}

// cpuShare of a span that a CPU spent on something, 0 to 1.
type cpuShare struct {
	recording.Interval
	v float64
}

// cpuSubject is the CPU as a subject.
func cpuSubject(id int) recording.Subject {
	return recording.Subject{Kind: recording.KindCPU, Name: "CPU " + strconv.Itoa(id)}
}

// softCPUs are all CPUs with samples, by number. A CPU that was switched off while
// it was recorded has fewer.
func softCPUs(r *recording.Recording) []*softCPU {
	by := map[int]*softCPU{}
	of := func(s recording.Series) *softCPU {
		id, err := strconv.Atoi(s.Labels["cpu"])
		if err != nil || len(s.Points) < 2 {
			return nil
		}
		if by[id] == nil {
			by[id] = &softCPU{id: id}
		}
		return by[id]
	}
	for _, s := range r.Select("node_softnet_dropped_total") {
		if c := of(s); c != nil {
			c.dropped = measure.StepsOf(s)
			c.span = s.Span()
		}
	}
	for _, s := range r.Select("node_softnet_times_squeezed_total") {
		if c := of(s); c != nil {
			c.squeezed = measure.StepsOf(s)
		}
	}
	for _, s := range r.Select("node_softnet_processed_total") {
		if c := of(s); c != nil {
			c.processed = measure.StepsOf(s)
		}
	}
	for _, s := range r.Select("node_cpu_seconds_total", "mode", "softirq") {
		if c := of(s); c != nil {
			c.busy = cpuSharesOf(s)
		}
	}
	for _, s := range r.Select("node_cpu_seconds_total", "mode", "idle") {
		if c := of(s); c != nil {
			c.idle = cpuSharesOf(s)
		}
	}
	var out []*softCPU
	for _, c := range by {
		out = append(out, c)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].id < out[j].id })
	return out
}

// cpuSharesOf turns a counter of seconds into the share of each span between samples.
func cpuSharesOf(s recording.Series) []cpuShare {
	var out []cpuShare
	for i, grown := range s.Steps() {
		span := recording.Interval{Start: s.Points[i].T, End: grown.T}
		if length := span.Length(span.End).Seconds(); length > 0 {
			out = append(out, cpuShare{span, min(1, grown.V/length)})
		}
	}
	return out
}

// meanShare of the shares in the spans that overlap those given; all where none is
// given. False where nothing was measured there.
func meanShare(all []cpuShare, in []recording.Interval) (float64, bool) {
	sum, length := 0.0, 0.0
	for _, s := range all {
		if in != nil && intervals.Overlap([]recording.Interval{s.Interval}, in, math.MaxInt64) == 0 {
			continue
		}
		d := s.Length(s.End).Seconds()
		sum, length = sum+s.v*d, length+d
	}
	return sum / max(length, 1e-9), length > 0
}

// backlogDrops are the packets that enqueue_to_backlog freed (net/core/dev.c).
func backlogDrops(r *recording.Recording) []recording.Drop {
	var out []recording.Drop
	for _, d := range r.Drops {
		if measure.BecauseOf(d, "CPU_BACKLOG", "enqueue_to_backlog") {
			out = append(out, d)
		}
	}
	return out
}

// interfacesOf are the interfaces at which these packets had come in, most first.
// A packet that a socket of this host sent still belongs to its sender, and with it
// the namespace that the row names: the interface is the receiver's.
func interfacesOf(s *scene.Scene, r *recording.Recording, rows []recording.Drop) []recording.Subject {
	_, order := measure.DropsBy(measure.ByEnds(rows), func(d recording.Drop) (measure.DropKey, bool) {
		k := measure.DropKey{Netns: measure.Namespace(r, d.Netns), Device: d.Device}
		if d.Sent {
			if to := measure.HolderOf(s, r, d.Proto, d.Dst, d.Src); to != nil {
				k.Netns = to.First().Netns
			}
		}
		return k, d.Device != ""
	})
	var out []recording.Subject
	for _, k := range order[:min(len(order), measure.MostRelated)] {
		out = append(out, recording.Subject{Kind: recording.KindInterface, Netns: k.Netns, Device: k.Device})
	}
	return out
}

// receiversOf are the sockets on this host that these packets were for.
func receiversOf(s *scene.Scene, r *recording.Recording, rows []recording.Drop) []recording.Subject {
	var out []recording.Subject
	seen := map[scene.NodeID]bool{}
	for _, d := range measure.ByEnds(rows) {
		k := measure.HolderOf(s, r, d.Proto, d.Dst, d.Src)
		if k != nil && !seen[k.ID] && len(out) < measure.MostRelated {
			seen[k.ID] = true
			out = append(out, k.Subject)
		}
	}
	return out
}

// arrivedAt is how many packets came in by these interfaces, those that were lost
// after the interface counted them not twice; 0: not measured.
func arrivedAt(r *recording.Recording, devices []recording.Subject) float64 {
	n := 0.0
	for _, d := range devices {
		if v, ok := measure.Grew(r, d.Netns, "node_network_receive_packets_total", "device", d.Device); ok {
			n += v
		}
	}
	return n
}

// powerOfTwo rounds up to a power of two.
func powerOfTwo(v float64) float64 { return math.Exp2(math.Ceil(math.Log2(max(1, v)))) }

// otherCPUs are the host's CPUs but this one.
func otherCPUs(hostCPUs, not int) []int {
	var out []int
	for c := range hostCPUs {
		if c != not {
			out = append(out, c)
		}
	}
	return out
}

// budgets are both limits of a round of work, now: the other would be met next
// (net/core/dev.c, net_rx_action).
func budgets(r *recording.Recording) (packets, usecs float64, ok bool) {
	packets, ok1 := measure.Sysctl(r, 0, "net.core.netdev_budget")
	usecs, ok2 := measure.Sysctl(r, 0, "net.core.netdev_budget_usecs")
	return packets, usecs, ok1 && ok2
}

// listOfCPUs is a list of CPUs of a row; nil where it says none or is damaged.
func listOfCPUs(text string) []int {
	set, err := cpus.ParseList(text)
	if err != nil {
		return nil
	}
	return set
}

// namesOnly reports whether a list of CPUs names that one alone.
func namesOnly(list string, cpu int) bool { return slices.Equal(listOfCPUs(list), []int{cpu}) }
