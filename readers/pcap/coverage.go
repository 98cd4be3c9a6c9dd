package pcap

import (
	"fmt"

	"snag/internal/packet"
	capture "snag/internal/pcap"
	"snag/recording"
)

// coverage says what the capture measured, and what it could not.
func (a *analysis) coverage(torn string) []recording.Coverage {
	n := &a.count
	lost := a.dropped
	partial := ""
	add := func(format string, args ...any) {
		if partial != "" {
			partial += "; "
		}
		partial += fmt.Sprintf(format, args...)
	}
	if torn != "" {
		add("%s", torn)
	}
	if lost > 0 {
		add("the capture itself dropped %d packets (its own count): what looks lost may be these", lost)
	}
	if n.Missed > 0 {
		add("%d bytes that were acknowledged are not in it: the capture missed their packets, or saw one direction by another way", n.Missed)
	}
	if n.Unread > 0 {
		add("%d packets of %s are not read", n.Unread, links(a.interfaces))
	}
	if a.order.late > 0 {
		add("%d packets lie further behind in the file than %d packets: they are taken as they come (reordercap puts them in order)", a.order.late, orderWindow)
	}
	if n.Timeless > 0 {
		add("%d packets have no time in the file: that of the packet before them is taken", n.Timeless)
	}
	if a.conns.evicted > 0 {
		add("%d connections that stood were forgotten to make room: more than %d at a time", a.conns.evicted, maxConns)
	}
	if n := a.sip.broken; n > 0 {
		add("%d SIP messages over TCP are not in it whole, or do not say how long they are", n)
	}
	if n.LeftOut > 0 {
		add("%d connections have no row of their own in flows: they are counted in connections", n.LeftOut)
	}
	if a.listing.refused > 0 || a.listing.every > 1 {
		add("the rows of single connections are thinned out: %d at a time, every %d s", maxListed, a.listing.every)
	}
	state := recording.CoverageOK
	if partial != "" {
		state = recording.CoveragePartial
	}
	since := recording.Time(a.begin)
	var rows []recording.Coverage
	for _, m := range []string{"pcap.flows", "pcap.handshakes", "pcap.udp", "sockets.retransmits", "sockets.connections", "sockets.resets", "sockets.holds", "sockets.turns"} {
		row := recording.Coverage{Probe: m, State: state, Since: since, Lost: lost, Why: partial}
		if m == "sockets.retransmits" && n.CutOptions > 0 && n.Resent > 0 {
			// What was lost can't be told from what was sent again for nothing.
			row.State = recording.CoverageUnavailable
			row.Why = fmt.Sprintf("the TCP options of %d packets were cut off by the snap length: which duplicates were reported (DSACK) is not known", n.CutOptions)
			row.Cure = fmt.Sprintf("tcpdump -s %d, or more", packet.LeastSnap)
		}
		rows = append(rows, row)
	}
	return append(rows, recording.Coverage{Probe: "sockets.diag", State: recording.CoverageUnavailable, Since: since,
		Why: "a capture has what went over the wire (pcap.flows), nothing of the sockets' queues, buffers and owners", Cure: "snag find on the host, or ss -tniemp beside the capture"})
}

func links(all []capture.Interface) string {
	for _, i := range all {
		if err := i.Link.Known(); err != nil {
			return fmt.Sprintf("link type %d", uint16(i.Link))
		}
	}
	return fmt.Sprintf("link types that are not IP, or cut by the snap length (%d bytes are needed)", packet.LeastSnap)
}
