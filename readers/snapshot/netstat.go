package snapshot

import (
	"encoding/json"
	"strconv"
	"strings"

	"snag/internal/procfile"
)

// worded are the lines of netstat -s that say a counter in words, by section, a "#"
// for the number (net-tools statistics.c); the others have the counter's own name.
// Spellings of older versions stand beside the new ones.
var worded = map[string]string{
	"Ip # total packets received": "InReceives", "Ip # with invalid headers": "InHdrErrors", "Ip # with invalid addresses": "InAddrErrors",
	"Ip # forwarded": "ForwDatagrams", "Ip # incoming packets discarded": "InDiscards", "Ip # incoming packets delivered": "InDelivers",
	"Ip # requests sent out": "OutRequests", "Ip # outgoing packets dropped": "OutDiscards", "Ip # dropped because of missing route": "OutNoRoutes",
	"Ip # packet reassembles failed": "ReasmFails", "Ip # packet reassemblies failed": "ReasmFails", "Ip # fragments failed": "FragFails",
	"Icmp # ICMP messages received": "InMsgs", "Icmp # ICMP messages sent": "OutMsgs",
	"Tcp # active connection openings": "ActiveOpens", "Tcp # active connections openings": "ActiveOpens", "Tcp # passive connection openings": "PassiveOpens",
	"Tcp # failed connection attempts": "AttemptFails", "Tcp # connection resets received": "EstabResets", "Tcp # connections established": "CurrEstab",
	"Tcp # segments received": "InSegs", "Tcp # segments sent out": "OutSegs", "Tcp # segments send out": "OutSegs",
	"Tcp # segments retransmitted": "RetransSegs", "Tcp # segments retransmited": "RetransSegs", "Tcp # bad segments received": "InErrs", "Tcp # bad segments received.": "InErrs", "Tcp # resets sent": "OutRsts",
	"Udp # packets received": "InDatagrams", "Udp # packets to unknown port received": "NoPorts", "Udp # packets to unknown port received.": "NoPorts",
	"Udp # packet receive errors": "InErrors", "Udp # packets sent": "OutDatagrams", "Udp # receive buffer errors": "RcvbufErrors", "Udp # send buffer errors": "SndbufErrors",
	"TcpExt # SYN cookies sent": "SyncookiesSent", "TcpExt # SYN cookies received": "SyncookiesRecv", "TcpExt # invalid SYN cookies received": "SyncookiesFailed",
	"TcpExt # resets received for embryonic SYN_RECV sockets":                           "EmbryonicRsts",
	"TcpExt # packets pruned from receive queue because of socket buffer overrun":       "PruneCalled",
	"TcpExt # packets pruned from receive queue":                                        "RcvPruned",
	"TcpExt # packets dropped from out-of-order queue because of socket buffer overrun": "OfoPruned",
	"TcpExt # ICMP packets dropped because socket was locked":                           "LockDroppedIcmps",
	"TcpExt # TCP sockets finished time wait in fast timer":                             "TW",
	"TcpExt # delayed acks sent":                                                        "DelayedACKs",
	"TcpExt Quick ack mode was activated # times":                                       "DelayedACKLost",
	"TcpExt # times the listen queue of a socket overflowed":                            "ListenOverflows",
	"TcpExt # SYNs to LISTEN sockets dropped":                                           "ListenDrops",
	"TcpExt # SYNs to LISTEN sockets ignored":                                           "ListenDrops",
	"TcpExt Detected reordering # times using SACK":                                     "TCPSACKReorder",
	"TcpExt Detected reordering # times using reno fast retransmit":                     "TCPRenoReorder",
	"TcpExt Detected reordering # times using time stamp":                               "TCPTSReorder",
	"TcpExt # fast retransmits":                                                         "TCPFastRetrans",
	"TcpExt # retransmits in slow start":                                                "TCPSlowStartRetrans",
	"TcpExt # other TCP timeouts":                                                       "TCPTimeouts",
	"TcpExt # packets collapsed in receive queue due to low socket buffer":              "TCPRcvCollapsed",
	"TcpExt # DSACKs sent for old packets":                                              "TCPDSACKOldSent",
	"TcpExt # DSACKs sent for out of order packets":                                     "TCPDSACKOfoSent",
	"TcpExt # DSACKs received":                                                          "TCPDSACKRecv",
	"TcpExt # DSACKs for out of order packets received":                                 "TCPDSACKOfoRecv",
	"TcpExt # connections reset due to unexpected data":                                 "TCPAbortOnData",
	"TcpExt # connections reset due to early user close":                                "TCPAbortOnClose",
	"TcpExt # connections aborted due to memory pressure":                               "TCPAbortOnMemory",
	"TcpExt # connections aborted due to timeout":                                       "TCPAbortOnTimeout",
	"TcpExt # connections aborted after user close in linger timeout":                   "TCPAbortOnLinger",
	"TcpExt # times unable to send RST due to no memory":                                "TCPAbortFailed",
	"TcpExt TCP ran low on memory # times":                                              "TCPMemoryPressures",
}

// netstatText reads netstat -s. Counters of TcpExt and IpExt that are 0 it does not
// print.
func (l *look) netstatText(it item) int {
	section, given := "", map[string]bool{}
	for data := it.data; len(data) > 0; {
		var line []byte
		line, data = procfile.CutLine(data)
		text := strings.TrimRight(string(line), " \r")
		if name, ok := strings.CutSuffix(text, ":"); ok && !strings.HasPrefix(text, " ") {
			section = name
			l.seen[section] = true
			continue
		}
		words, v, ok := numbered(strings.TrimSpace(text))
		if !ok {
			continue
		}
		field := worded[section+" "+words]
		if name, own := strings.CutSuffix(words, ": #"); field == "" && own && !strings.Contains(name, " ") {
			field = name
		}
		if field != "" {
			given[section+"_"+field] = true
			l.protocol(it.t, section, field, v)
		}
	}
	l.still(it, given)
	return 0
}

// numbered puts a "#" for the one number of a line.
func numbered(text string) (words string, v float64, ok bool) {
	from := strings.IndexAny(text, "0123456789")
	for from > 0 && text[from-1] != ' ' { // part of a name, as in TCPHystartTrain2
		next := strings.IndexAny(text[from+1:], "0123456789")
		if next < 0 {
			return "", 0, false
		}
		from += 1 + next
	}
	if from < 0 {
		return "", 0, false
	}
	to := from
	for to < len(text) && text[to] >= '0' && text[to] <= '9' {
		to++
	}
	v, err := strconv.ParseFloat(text[from:to], 64)
	return text[:from] + "#" + text[to:], v, err == nil
}

// still writes 0 for the counters of the protocols that were printed which were not:
// both tools leave out what is 0.
func (l *look) still(it item, given map[string]bool) {
	protos := map[string]bool{}
	for key := range given {
		proto, _, _ := strings.Cut(key, "_")
		protos[proto] = true
	}
	if l.seen["TcpExt"] && protos["Tcp"] {
		protos["TcpExt"] = true
	}
	for key := range procfile.Always {
		if proto, field, _ := strings.Cut(key, "_"); protos[proto] && !given[key] {
			l.protocol(it.t, proto, field, 0)
		}
	}
}

// snmpTables are the protocols as nstat's names begin, the longer first.
var snmpTables = []string{"UdpLite6", "UdpLite", "TcpExt", "IpExt", "Icmp6", "Udp6", "Ip6", "IcmpMsg", "Icmp", "Tcp", "Udp", "Ip"}

// splitName parts "TcpExtListenDrops".
func splitName(name string) (proto, field string) {
	for _, p := range snmpTables {
		if rest, ok := strings.CutPrefix(name, p); ok && rest != "" {
			return p, rest
		}
	}
	return "", ""
}

// nstatText reads nstat: "TcpExtListenDrops  5  0.0".
func (l *look) nstatText(it item) (bad int) {
	values := map[string]float64{}
	_, data := procfile.CutLine(it.data)
	for len(data) > 0 {
		var line []byte
		line, data = procfile.CutLine(data)
		name, rest := procfile.CutField(line)
		value, _ := procfile.CutField(rest)
		if len(name) == 0 {
			continue
		}
		v, ok := procfile.Number(value)
		if !ok {
			bad++
			continue
		}
		values[string(name)] = v
	}
	l.nstat(it, values)
	return bad
}

// nstatJSON reads nstat -j.
func (l *look) nstatJSON(it item) int {
	var all struct{ Kernel map[string]float64 }
	if err := json.Unmarshal(it.data, &all); err != nil {
		l.doubt("%s: nstat's JSON can't be read: %v", it.path, err)
		return 1
	}
	l.nstat(it, all.Kernel)
	return 0
}

func (l *look) nstat(it item, values map[string]float64) {
	given := map[string]bool{}
	for name, v := range values {
		if proto, field := splitName(name); proto != "" {
			given[proto+"_"+field] = true
			l.protocol(it.t, proto, field, v)
		}
	}
	if given["Ip_InReceives"] { // all were asked for, and not one by one
		l.seen["Udp"], l.seen["TcpExt"] = true, true
		for _, proto := range []string{"Udp", "Tcp", "TcpExt"} {
			given[proto+"_"] = true
		}
		l.still(it, given)
	}
	if it.command == it.path || !nameHas(it.command, "nstat") {
		return
	}
	if words := strings.Fields(it.command); len(words) < 2 || !strings.Contains(words[1], "a") {
		l.doubt("%s: nstat without -a prints what grew since it ran before: of two, the growth is not the difference", it.path)
	}
}
