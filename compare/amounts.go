package compare

import (
	"maps"
	"slices"

	"snag/recording"
)

// Amount is a count, or a time, per second of the recording.
type Amount struct {
	// What it is in words, and in which unit per second it is: "segments sent again", "".
	What, Unit string
	Bad        bool   // more of it is worse
	LessBad    bool   // less of it is worse
	Stream     string // it is of this stream alone; "" of the host
	Change     Change
}

// Units besides "", a count per second; "s", seconds per second; "bit", bits per second.
const (
	PerMinute    = "1/min"  // counted by the minute: a few of it matter
	GaugeSeconds = "s mean" // seconds, on average: it is by no second
)

// Worse reports whether B has more of what is bad, or less of what is good.
func (x Amount) Worse() bool {
	return x.Bad && x.Change.Worse() || x.LessBad && x.Change.Differs() && x.Change.B < x.Change.A
}

// counter is a series that only grows. Its series of all labels are added up.
type counter struct {
	name, what, unit string
	bad              bool
	mode             string // its series of this mode is left out
}

var counters = []counter{
	{name: "node_cpu_seconds_total", what: "CPU time used", unit: "s", mode: "idle"},
	{name: "node_pressure_io_waiting_seconds_total", what: "time in which a process waited for a disk", unit: "s", bad: true},
	{name: "node_pressure_memory_waiting_seconds_total", what: "time in which a process waited for memory", unit: "s", bad: true},
	{name: "snag_cgroup_cpu_throttled_seconds_total", what: "time for which control groups had used up their CPU quota", unit: "s", bad: true},
	{name: "node_netstat_Tcp_RetransSegs", what: "TCP segments sent again", bad: true},
	{name: "node_netstat_TcpExt_TCPTimeouts", what: "TCP retransmission timeouts", bad: true},
	{name: "node_netstat_TcpExt_ListenOverflows", what: "connections that found an accept queue full", bad: true},
	{name: "node_netstat_TcpExt_TCPToZeroWindowAdv", what: "receive windows that closed", bad: true},
	{name: "node_netstat_Tcp_AttemptFails", what: "connects that failed", bad: true},
	{name: "node_netstat_Tcp_EstabResets", what: "connections that were reset", bad: true},
	{name: "node_netstat_TcpExt_IPReversePathFilter", what: "packets that the reverse-path filter dropped", bad: true},
	{name: "node_netstat_Udp_RcvbufErrors", what: "datagrams that found a receive buffer full", bad: true},
	{name: "node_netstat_Udp_SndbufErrors", what: "datagrams that found a send buffer full", bad: true},
	{name: "node_netstat_Udp_NoPorts", what: "datagrams to a closed port", bad: true},
	{name: "node_softnet_dropped_total", what: "packets that found a CPU's backlog full", bad: true},
	{name: "node_qdisc_drops_total", what: "packets that queueing disciplines dropped", bad: true},
	{name: "node_network_receive_drop_total", what: "packets that interfaces dropped on receipt", bad: true},
	{name: "node_network_transmit_drop_total", what: "packets that interfaces dropped on sending", bad: true},
	{name: "node_nf_conntrack_stat_drop", what: "connections that the tracking table had no room for", bad: true},
	{name: "node_vmstat_pgmajfault", what: "page faults that read from a disk", bad: true},
	{name: "node_vmstat_oom_kill", what: "processes that the kernel killed for want of memory", unit: PerMinute, bad: true},
	{name: "node_vmstat_pgscan_direct", what: "pages that programs had to reclaim themselves", bad: true},
}

// amountsOf are the amounts that both recordings measured, and the names of those that only one did:
// what was not measured is not 0.
func amountsOf(a, b *recording.Recording) (out []Amount, oneSided []string) {
	for _, c := range counters {
		one := Amount{What: c.what, Unit: c.unit, Bad: c.bad}
		out = append(out, one.of(growths(a, c), growths(b, c))...)
	}
	for _, e := range lasting {
		if both(a, b, e.measure, e.what, &oneSided) {
			one := Amount{What: e.what, Unit: "s", Bad: true}
			out = append(out, one.of(e.seconds(a), e.seconds(b))...)
		}
	}
	da, db := counts{}, counts{}
	if both(a, b, "drops.kfree_skb", "packets that the kernel dropped", &oneSided) {
		da.drops(a)
		db.drops(b)
	}
	if both(a, b, "sockets.errors", "calls that failed", &oneSided) {
		da.errors(a)
		db.errors(b)
	}
	out = append(out, counted(a, b, da, db, "")...)
	if both(a, b, "ends", "ends of processes", &oneSided) {
		da, db = counts{}, counts{}
		da.ends(a)
		db.ends(b)
		out = append(out, counted(a, b, da, db, PerMinute)...)
	}
	return out, oneSided
}

// counted are what either counted, all of it bad.
func counted(a, b *recording.Recording, da, db counts, unit string) (out []Amount) {
	all := maps.Clone(da)
	maps.Copy(all, db)
	for _, what := range slices.Sorted(maps.Keys(all)) {
		one := Amount{What: what, Unit: unit, Bad: true}
		out = append(out, one.of(orEmpty(da[what], a), orEmpty(db[what], b))...)
	}
	return out
}

// both reports whether both recordings measured something, and names what only one did.
func both(a, b *recording.Recording, measure, what string, oneSided *[]string) bool {
	_, inA := a.Measured(measure)
	_, inB := b.Measured(measure)
	switch {
	case inA && !inB:
		*oneSided = append(*oneSided, what+" (not measured in B)")
	case inB && !inA:
		*oneSided = append(*oneSided, what+" (not measured in A)")
	}
	return inA && inB
}

// Smaller differences matter to nobody.
const (
	leastCount     = 0.1  // per second
	leastPerMinute = 1    // a minute
	leastPart      = 0.01 // s per second
)

// of compares what each second had; nothing where one of them did not measure it, or there is nothing.
func (x Amount) of(a, b []float64) []Amount {
	if a == nil || b == nil {
		return nil
	}
	least, k, per := leastCount, events, 1.0
	switch x.Unit {
	case "s":
		least, k = leastPart, amounts
	case PerMinute:
		least, per = leastPerMinute, 60
	}
	x.Change = newChange(blocksOfSeconds(a, per), blocksOfSeconds(b, per), least, k)
	if !x.Change.enough() || x.Change.A == 0 && x.Change.B == 0 {
		return nil
	}
	return []Amount{x}
}

// blocksOfSeconds are what so many seconds have.
func blocksOfSeconds(all []float64, per float64) (out []block) {
	length := max(blockLeast, (len(all)+mostBlocks-1)/mostBlocks)
	for i := 0; i+length <= len(all); i += length {
		one := block{of: float64(length) / per}
		for _, v := range all[i : i+length] {
			one.part += v
		}
		out = append(out, one)
	}
	return out
}

func seconds(r *recording.Recording) int { return int(r.Length().Seconds()) }

// growths is by how much a counter grew in each second; nil where no series has it.
func growths(r *recording.Recording, c counter) []float64 {
	var out []float64
	for _, s := range r.Series {
		if s.Name != c.name || c.mode != "" && s.Labels["mode"] == c.mode {
			continue
		}
		if out == nil {
			out = make([]float64, seconds(r))
		}
		for i := 1; i < len(s.Points); i++ {
			from, to := s.Points[i-1], s.Points[i]
			if more := to.V - from.V; more > 0 { // less: the counter began again
				share(out, r, from.T, to.T, more)
			}
		}
	}
	return out
}

// share adds what happened between two times to the seconds in between.
func share(out []float64, r *recording.Recording, from, to recording.Time, v float64) {
	length := to.Sub(from).Seconds()
	begin := from.Sub(r.Manifest.Start).Seconds()
	for at := max(0, int(begin)); at < len(out) && float64(at) < begin+length; at++ {
		part := min(begin+length, float64(at+1)) - max(begin, float64(at))
		out[at] += v * part / length
	}
}
