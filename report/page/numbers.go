package page

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
)

// maxNumbers on one hop: more would hide the one that matters.
const maxNumbers = 5

func (b *builder) socketNumbers(k *scene.Socket) []Number {
	var out []Number
	add := func(label, value string, bad bool) {
		if len(out) < maxNumbers {
			out = append(out, Number{label, value, bad})
		}
	}
	mostIn, mostOut := 0, 0
	for _, row := range k.Rows {
		mostIn, mostOut = max(mostIn, row.RecvQ), max(mostOut, row.SendQ)
	}
	last := k.Last()
	if n := k.DropsGrew(); n > 0 {
		add("drops", units.Count(float64(n)), true)
	}
	if k.Listening() {
		add("waiting, most", units.Count(float64(mostIn))+" of "+units.Count(float64(last.SendQ)), last.SendQ > 0 && mostIn > last.SendQ)
		return out
	}
	if mostIn > 0 || last.Proto == "udp" {
		add("Recv-Q, most", units.Bytes(float64(mostIn)), false)
	}
	if mostOut > 0 {
		add("Send-Q, most", units.Bytes(float64(mostOut)), false)
	}
	if last.Proto == "udp" && last.RcvBuf > 0 {
		add("buffer", units.Bytes(float64(last.RcvBuf)), false)
	}
	a, z := k.First().TCP, last.TCP
	if z == nil {
		return out
	}
	if in, gave, ok := moved(k); ok && b.r.Length() > 0 {
		seconds := b.r.Length().Seconds()
		if in >= gave/4 {
			add("received", units.Bytes(in/seconds)+"/s", false)
		}
		if gave >= in/4 {
			add("sent", units.Bytes(gave/seconds)+"/s", false)
		}
	}
	if z.RTT > 0 {
		add("rtt", units.Seconds(time.Duration(z.RTT*1e9)), false)
	}
	if a != nil && z.TotalRetrans > a.TotalRetrans {
		add("retransmitted", units.Count(float64(z.TotalRetrans-a.TotalRetrans)), true)
	}
	return out
}

func (b *builder) processNumbers(p *scene.Process) []Number {
	var out []Number
	first, last := p.First(), p.Last()
	if span := last.T.Sub(first.T).Seconds(); span > 0 && last.CPU >= first.CPU {
		out = append(out, Number{"CPU", units.Percent((last.CPU - first.CPU) / span), false})
	}
	if last.Threads > 0 {
		out = append(out, Number{"threads", strconv.Itoa(last.Threads), false})
	}
	if last.FDs != nil {
		most := 0
		for _, row := range p.Rows {
			if row.FDs != nil {
				most = max(most, *row.FDs)
			}
		}
		value := units.Count(float64(most))
		if last.FDLimit > 0 {
			value += " of " + units.Count(float64(last.FDLimit))
		}
		out = append(out, Number{"descriptors", value, last.FDLimit > 0 && most >= last.FDLimit})
	}
	stopped := 0
	for _, row := range p.Rows {
		if row.State == "T" || row.State == "t" {
			stopped++
		}
	}
	if stopped > 0 {
		out = append(out, Number{"stopped", strconv.Itoa(stopped) + " of " + strconv.Itoa(len(p.Rows)) + " samples", true})
	}
	return out[:min(len(out), maxNumbers)]
}

func (b *builder) cgroupNumbers(sub recording.Subject) []Number {
	var out []Number
	for _, c := range b.s.Cgroups {
		if c.Row.Path == sub.Cgroup && c.Row.Period > 0 && c.Row.Quota > 0 {
			out = append(out, Number{"limit", strings.TrimSuffix(strconv.FormatFloat(c.Row.Quota/c.Row.Period, 'f', 2, 64), ".00") + " CPUs", false})
		}
	}
	throttled, measured := b.grew("snag_cgroup_cpu_throttled_periods_total", "cgroup", sub.Cgroup)
	if periods, ok := b.grew("snag_cgroup_cpu_periods_total", "cgroup", sub.Cgroup); ok && measured {
		out = append(out, Number{"throttled", units.Count(throttled) + " of " + units.Count(periods), throttled > 0})
	}
	return out
}

// grew is how much the counters of that name and labels grew, and whether any
// was measured. A netns label that is not asked for is another namespace's.
func (b *builder) grew(name string, pairs ...string) (float64, bool) {
	tied := slices.Contains(pairs, "netns")
	sum, any := 0.0, false
	for _, s := range b.r.Select(name, pairs...) {
		if _, other := s.Labels["netns"]; other && !tied {
			continue
		}
		if v, ok := s.Increase(); ok {
			sum, any = sum+v, true
		}
	}
	return sum, any
}
