package net

import (
	"fmt"
	"math"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var conntrackFull = &suspect.Suspect{
	Name:  "conntrack-full",
	Title: "the connection tracking table is full: new connections are dropped",
	About: "Where a firewall or NAT tracks connections, each takes an entry in a table of nf_conntrack_max. When the table is full, the first packet of every new connection is dropped; only the kernel log says so. Connections that were never answered make room for new ones, established ones do not. A full table that refuses no client is a risk.",
	Needs: []suspect.Need{
		{Measure: "routes.conntrack", Must: true, Why: "entries, their limit, and packets dropped for want of one"},
		{Measure: "drops.kfree_skb", Must: false, Why: "what netfilter dropped in the same namespace"},
	},
	For: []string{
		"decisive: the table was full, and netfilter dropped as many packets as connection tracking counted",
		"strong: connection tracking dropped packets (nf_conntrack drop); strong: the table was full (entries = limit)",
	},
	Against: []string{
		"strong: the table was full, and every new connection took the place of one that was never answered (early_drop)",
		"strong: the table was nearly full and nothing was dropped",
		"trap: in a network namespace the limit can't be set: it is the machine's",
	},
	LeadsTo: []suspect.Lead{{To: scene.ConnectLatency, Lag: 3 * time.Second}, {To: scene.ConnectionErrors, Lag: 10 * time.Second}, {To: scene.DatagramsLost, Lag: 2 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}, {To: "netfilter-drop", Lag: 2 * time.Second}},
	Remedy: suspect.Remedy{
		Now:         "sysctl -w net.netfilter.nf_conntrack_max=ENTRIES",
		Permanently: "net.netfilter.nf_conntrack_max in /etc/sysctl.d, with nf_conntrack_buckets at a quarter of it. Shorter timeouts, or notrack for what need not be tracked.",
	},
	Verified: "drop of conntrack -S does not grow",
	Next:     "conntrack -S; sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max; dmesg | grep 'table full'",
	Weigh:    weighConntrack,
}

// Entries come and go between two readings of a second, and the limit is soft by
// one entry for each CPU: a table of 1,000 that refuses is seen at 990 and more. A
// healthy host stays below half of its limit.
const fullShare, nearlyShare = 0.95, 0.8

func weighConntrack(s *scene.Scene, r *recording.Recording) (out []suspect.Finding) {
	for _, series := range r.Select("node_nf_conntrack_entries") {
		netns := measure.NetnsOf(r, series)
		limits, ok := measure.Counter(r, netns, "node_nf_conntrack_entries_limit")
		if !ok || len(series.Points) < 2 {
			continue
		}
		// The limit may change within the window: the second counts in which the table was fullest.
		most, limit := 0.0, limits.Points[0].V
		for i, p := range series.Points {
			if i < len(limits.Points) && limits.Points[i].V > 0 && most*limits.Points[i].V < min(p.V, limits.Points[i].V)*limit {
				most, limit = p.V, limits.Points[i].V
			}
		}
		if limit <= 0 || most < nearlyShare*limit {
			continue
		}
		out = append(out, conntrackFinding(s, r, netns, most, limit))
	}
	return out
}

func conntrackFinding(s *scene.Scene, r *recording.Recording, netns uint64, most, limit float64) suspect.Finding {
	f := suspect.Finding{
		Subject: recording.Subject{Kind: recording.KindNetns, Netns: netns, Path: "net.netfilter.nf_conntrack_max"},
		Next:    remedy.InNetns(s, netns, "conntrack -S") + "; " + remedy.InNetns(s, netns, "conntrack -L 2>/dev/null | awk '{print $1, $4}' | sort | uniq -c | sort -rn | head"),
	}
	level := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: most, Unit: "entries", Source: source.Of("/proc/sys/net/netfilter/nf_conntrack_count, nf_conntrack_max", source.ConntrackEntries), Origin: "entries",
		Text: fmt.Sprintf("up to %s of %s entries of the table were taken (%.0f %%; healthy: below half)", units.Count(most), units.Count(limit), 100*most/limit)}
	if most < fullShare*limit {
		level.Grade = suspect.Weak
	}
	drops, ok := measure.Counter(r, netns, "node_nf_conntrack_stat_drop")
	dropped, known := 0.0, false
	if ok {
		dropped, known = drops.Increase()
	}
	early, _ := measure.Grew(r, netns, "node_nf_conntrack_stat_early_drop")
	switch {
	case !known:
		f.Evidence = []suspect.Evidence{level, {Side: suspect.Missing, Text: "whether packets were dropped for it was not measured", Source: source.ConntrackStat("drop").As("conntrack -S")}}
		f.Text = "the table was full"
		return f
	case dropped == 0:
		level.Grade = suspect.Weak // a full table alone refuses nobody
		f.Evidence = []suspect.Evidence{level, {Side: suspect.Against, Grade: suspect.Strong, Value: early, Unit: "entries", Source: source.ConntrackStat("drop", "early_drop"), Origin: "drop",
			Text: fmt.Sprintf("no packet was dropped for it; %s entries that were never answered made room", units.Count(early))}}
		f.Text = "the table was nearly full and refused no client"
		return f
	}
	all := measure.StepsOf(drops)
	f.Active = all.Active()
	f.Text = fmt.Sprintf("the table was full (%s entries): %s packets of new connections were dropped", units.Count(limit), units.Count(dropped))
	f.Settings = conntrackSettings(r, limit, dropped)
	f.Remedy = suspect.Remedy{Now: remedy.Now(s, r, f.Settings), Permanently: remedy.Kept(s, r, f.Settings)}
	refused := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: dropped, Unit: "packets", Source: source.ConntrackStat("drop"), Origin: "drop",
		Text: fmt.Sprintf("connection tracking dropped %s packets (early_drop made room %s times)", units.Count(dropped), units.Count(early))}
	byFilter := filtered(r, netns)
	if _, same, _ := countedIn(r, netns, byFilter, "node_nf_conntrack_stat_drop"); same && level.Grade == suspect.Strong {
		refused.Grade = suspect.Decisive
		refused.Text += fmt.Sprintf("; netfilter dropped %s in the namespace", units.Count(byFilter.Sum()))
	}
	f.Evidence = []suspect.Evidence{refused, level}
	f.Harm = suspect.Harm{Symptom: scene.ConnectionErrors, Amount: dropped, Unit: "packets", Text: fmt.Sprintf("%s packets of new connections dropped", units.Count(dropped))}
	return f
}

// closedFor is for how long an entry stays after its connection was closed, s
// (nf_conntrack_tcp_timeout_time_wait).
const closedFor = 120

// leastEntries is what a host with more than 1 GB of memory has by default
// (nf_conntrack_core.c, nf_conntrack_init_start). A table that is shorter was made so. What it
// should hold, those who were dropped tell only in part: clients that wait for an answer to their
// SYN ask once in some seconds.
const leastEntries = 65536

// fewestBuckets is the smallest hash that a plan may set. One that is smaller is of a machine with
// little memory, and stays.
const fewestBuckets = 1024

// conntrackSettings is a table twice as long, as long as the default at least, and longer where those who were
// dropped need more, and the hash with it where it would hold more than four entries a bucket (nf_conntrack_core.c
// makes it one to one by default).
func conntrackSettings(r *recording.Recording, limit, dropped float64) []suspect.Setting {
	// Who was dropped needs an entry too, and keeps it for as long as a closed connection does.
	want := max(2*limit, leastEntries, math.Ceil(limit+dropped/max(1, r.Window().End.Sub(r.Window().Start).Seconds())*closedFor))
	set := []suspect.Setting{{Kind: "sysctl", Name: "net.netfilter.nf_conntrack_max", AtLeast: true, Value: fmt.Sprintf("%.0f", want),
		Why: fmt.Sprintf("%s packets of new connections were dropped, as all %s entries were taken", units.Count(dropped), units.Count(limit)), Risk: fmt.Sprintf("%s of memory when it is full", units.Bytes(320*(want-limit)))}}
	buckets, ok := measure.Sysctl(r, 0, "net.netfilter.nf_conntrack_buckets")
	if ok && buckets >= fewestBuckets && want > 4*buckets {
		set = append(set, suspect.Setting{Kind: "sysctl", Name: "net.netfilter.nf_conntrack_buckets", AtLeast: true, Value: fmt.Sprintf("%.0f", max(fewestBuckets, math.Ceil(want/4))),
			Why: fmt.Sprintf("%s entries in %s buckets are %.0f in each, and every packet walks one", units.Count(want), units.Count(buckets), want/buckets), Risk: "the table is built again while packets come"})
	}
	return set
}

// filtered is what netfilter dropped in a namespace.
func filtered(r *recording.Recording, netns uint64) (out measure.Steps) {
	for _, d := range r.Drops {
		if measure.Namespace(r, d.Netns) == netns && !d.Benign && measure.BecauseOf(d, "NETFILTER_DROP", "nf_hook_slow") {
			out = append(out, measure.Step{Interval: measure.OneSecond(d.T), N: float64(d.N)})
		}
	}
	return out
}
