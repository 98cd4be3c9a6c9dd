package net

import (
	"fmt"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var flowDirectorMiss = &suspect.Suspect{
	Name:    "flow-director-miss",
	Fixture: true,
	Title:   "the card's flow director does not find its flows",
	About: "Intel's cards learn from what is sent which queue a connection's answers belong to (ATR), so that they are received where their program runs. When the table overflows or connections are too short to be learned, packets go where the hash sends them, and a connection's packets may change queues on the way, which reorders them. " +
		"Misses alone are normal: UDP is never learned, and with ntuple filters ATR is off.",
	Needs: []suspect.Need{
		{Measure: "nics.statistics", Must: true, Why: "fdir_match, fdir_miss and fdir_overflow"},
		{Measure: "nics.settings", Must: false, Why: "whether ntuple filters took ATR's place"},
		{Measure: "host.netstat", Must: false, Why: "TCP's and UDP's share of the packets, and reordering"},
	},
	For: []string{
		"strong: most TCP segments missed the table",
		"strong: the table overflowed (fdir_overflow)",
		"strong: TCP saw reordering meanwhile",
	},
	Against: []string{
		"decisive: ntuple filters are on: ATR is off, and a miss is a packet without a rule",
		"decisive: what missed was UDP: ATR learns TCP only",
		"trap: a card that shows misses and matches nothing, and loses nothing",
	},
	LeadsTo:  []suspect.Lead{{To: "packet-reordering", Lag: 5 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.ThroughputPlateau, Lag: 5 * time.Second}},
	Remedy:   suspect.Remedy{Permanently: "RFS (net.core.rps_sock_flow_entries, rps_flow_cnt) with RPS, or ntuple filters for the flows that matter (ethtool -N), in a unit and /etc/sysctl.d."},
	Verified: "TCP's reordering counters do not grow",
	Next:     "ethtool -S DEVICE | grep fdir; ethtool -k DEVICE | grep ntuple; nstat -az TcpExtTCPSACKReorder TcpExtTCPTSReorder",
	Weigh:    weighFlowDirectorMiss,
}

// missShare of the packets at which the table is of no use. The examples of healthy
// cards that are known have 0.9 and more as well (short or no TCP), so that this
// alone proves nothing.
const missShare = 0.5

func weighFlowDirectorMiss(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, n := range hardwareNICs(r) {
		all := nicSeries(r, n.Netns, n.Device)
		missed, ok := nicCount(all, "fdir_miss")
		matched, _ := nicCount(all, "fdir_match")
		if !ok || missed < 1000 || missed < missShare*(missed+matched) {
			continue
		}
		overflowed, _ := nicCount(all, "fdir_overflow")
		f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindInterface, Netns: n.Netns, Device: n.Device},
			Text:     fmt.Sprintf("its flow director missed %s packets", units.OfAll(missed, missed+matched)),
			Evidence: missEvidence(r, n, missed, matched, overflowed),
			Next:     remedy.InNetns(s, n.Netns, fmt.Sprintf("ethtool -S %s | grep fdir; ethtool -u %s", n.Device, n.Device)),
		}
		f.Settings = rpsSettings(r, -1, f.Subject)
		f.Remedy = suspect.Remedy{Now: steerNow(s, f.Settings), Permanently: remedy.Kept(s, r, f.Settings)}
		for _, series := range all {
			if series.Name == "node_ethtool_fdir_miss" {
				f.Active = measure.StepsOf(series).Active()
			}
		}
		out = append(out, f)
	}
	return out
}

func missEvidence(r *recording.Recording, n recording.NIC, missed, matched, overflowed float64) []suspect.Evidence {
	statistics := source.Of("ethtool -S " + n.Device)
	if on, known := n.Features["rx-ntuple-filter"]; known && on {
		return []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: missed, Unit: "packets", Source: source.Of("ethtool -k " + n.Device), Origin: "ntuple",
			Text: fmt.Sprintf("ntuple filters are on, which turns ATR off: %s misses are packets without a rule, and the hash spreads them", units.Count(missed))}}
	}
	var out []suspect.Evidence
	udp, _ := measure.Grew(r, n.Netns, "node_netstat_Udp_InDatagrams")
	tcp, tcpSeen := measure.Grew(r, n.Netns, "node_netstat_Tcp_InSegs")
	if udp >= 0.8*missed {
		return []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: udp, Unit: "datagrams", Source: statistics.And(source.SNMP("Udp", "InDatagrams")), Origin: "protocol",
			Text: fmt.Sprintf("%s of %s misses can be UDP (%s datagrams came in): ATR learns TCP only", units.Count(min(udp, missed)), units.Count(missed), units.Count(udp))}}
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: missed, Unit: "packets", Source: statistics, Origin: "fdir",
		Text: fmt.Sprintf("fdir_miss grew by %s, fdir_match by %s", units.Count(missed), units.Count(matched))}
	if tcpSeen && tcp >= 0.5*missed {
		e.Grade = suspect.Strong
		e.Text += fmt.Sprintf("; %s TCP segments came in", units.Count(tcp))
	}
	out = append(out, e)
	if overflowed > 0 {
		out = append(out, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: overflowed, Unit: "times", Source: statistics, Origin: "fdir overflow",
			Text: fmt.Sprintf("its table was full and emptied %s times (fdir_overflow)", units.Count(overflowed))})
	}
	reordered := 0.0
	for _, field := range []string{"TCPSACKReorder", "TCPTSReorder"} {
		v, _ := measure.Grew(r, n.Netns, "node_netstat_TcpExt_"+field)
		reordered += v
	}
	if reordered >= 10 {
		out = append(out, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: reordered, Unit: "times", Source: source.Netstat("TCPSACKReorder", "TCPTSReorder").As("/proc/net/netstat TcpExt TCPSACKReorder, TCPTSReorder"), Origin: "reordering",
			Text: fmt.Sprintf("TCP saw reordering %s times", units.Count(reordered))})
	} else {
		out = append(out, suspect.Evidence{Side: suspect.Against, Grade: suspect.Weak, Value: reordered, Unit: "times", Source: source.Netstat("TCPSACKReorder").As("/proc/net/netstat TcpExt TCPSACKReorder"), Origin: "reordering",
			Text: fmt.Sprintf("TCP saw reordering %s times: the hash kept each connection on its queue", units.Count(reordered))})
	}
	return out
}
