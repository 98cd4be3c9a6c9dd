package net

import (
	"fmt"
	"slices"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// goneInCapture are servers of a capture that answer no SYN, or have stopped to acknowledge what
// is sent to them.
func goneInCapture(s *scene.Scene, r *recording.Recording) (out []suspect.Finding) {
	for _, c := range scene.CapturedServers(s, r) {
		if len(c.Unanswered) > 0 {
			out = append(out, noSYNAnswered(s, r, c))
		}
		if f, ok := nothingAcknowledged(r, c); ok {
			out = append(out, f)
		}
	}
	return out
}

// captured is what findings on a captured server have in common.
func captured(c *scene.Captured, flows []recording.Flow) suspect.Finding {
	return suspect.Finding{Subject: c.Subject, Active: scene.SpansOf(flows),
		Next: fmt.Sprintf("ping -c 3 %s   # and there: tcpdump -ni any 'tcp port %s'", recording.Host(c.Server), recording.Port(c.Server))}
}

func noSYNAnswered(s *scene.Scene, r *recording.Recording, c *scene.Captured) suspect.Finding {
	n, syns := float64(len(c.Unanswered)), scene.SYNsOf(c.Unanswered)
	f := captured(c, c.Unanswered)
	f.Text = fmt.Sprintf("%s answers no SYN: it is gone, or the path to it, or a filter drops what is sent to it", c.Server)
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: syns, Unit: "SYNs", Source: source.File(measure.Captured + ": SYN, SYN-ACK, RST"), Origin: "SYN",
		Text: fmt.Sprintf("%s SYNs of %s connections were sent to it, over %s at the longest: neither a SYN-ACK nor a reset came", units.Count(syns), units.Count(n), units.Lasting(scene.LongestOf(c.Unanswered)))}
	if c.Opened > 0 {
		e.Grade = suspect.Strong
		f.Text = fmt.Sprintf("%s answers some SYNs, and others not at all", c.Server)
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: float64(c.Opened), Unit: "connections", Source: e.Source, Origin: "opened",
			Text: fmt.Sprintf("%s to it were opened: it is there", units.Plural(c.Opened, "connection"))})
	} else if ports := answersElsewhere(s, r, c); ports > 0 {
		e.Grade = suspect.Strong
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: float64(ports), Unit: "ports", Source: e.Source, Origin: "other ports",
			Text: fmt.Sprintf("its host answered on %s: it is there, and something drops what is sent to port %s", units.Plural(ports, "other port"), recording.Port(c.Server))})
	}
	f.Evidence = append([]suspect.Evidence{e}, f.Evidence...)
	f.Remedy.Program = "A time limit of a second or two for connect, and another address after it."
	if n, why, by := saidByICMP(c.Unanswered); n > 0 {
		f.Text = fmt.Sprintf("%s can't be reached: %s says %s", c.Server, by, why)
		f.Evidence = append([]suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Value: float64(n), Unit: "messages", Source: source.File(measure.Captured + ": ICMP"), Origin: "ICMP",
			Text: fmt.Sprintf("%s answered SYNs to it by ICMP, %s in all: %s", by, units.Plural(int(n), "message"), why)}}, f.Evidence...)
		f.Next = fmt.Sprintf("on %s: ip route get %s; nft list ruleset", by, recording.Host(c.Server))
	}
	return f
}

// saidByICMP is what a router, or the host itself, said of SYNs that did not arrive.
func saidByICMP(flows []recording.Flow) (n uint64, why, by string) {
	for _, f := range flows {
		if f.Up.Undelivered > 0 {
			n += f.Up.Undelivered
			why, by = f.Up.UndeliveredWhy, f.Up.UndeliveredBy
		}
	}
	why = map[string]string{"no route": "that there is no route to it", "filtered": "that a filter forbids it", "no port": "that the port is unreachable"}[why]
	return n, why, by
}

// answersElsewhere is on how many other ports the host let somebody in, or refused him.
func answersElsewhere(s *scene.Scene, r *recording.Recording, c *scene.Captured) (n int) {
	for _, o := range scene.CapturedServers(s, r) {
		if o != c && o.Netns == c.Netns && recording.Host(o.Server) == recording.Host(c.Server) && o.Opened+len(o.Refused) > 0 {
			n++
		}
	}
	return n
}

// nothingAcknowledged is a server that had let its clients in, and then acknowledged nothing of a request,
// however often it was sent. Of a host that acknowledged others meanwhile only some packets are lost.
func nothingAcknowledged(r *recording.Recording, c *scene.Captured) (suspect.Finding, bool) {
	var gone []recording.Flow
	again := 0.0
	for _, f := range c.Silent {
		if f.Silence.Open && f.Silence.Acked == nil && f.Down.Packets > 0 && f.Up.Stuck > 0 {
			gone = append(gone, f)
			again += float64(f.Up.Resent)
		}
	}
	if len(gone) == 0 || livesOn(r, c, gone) {
		return suspect.Finding{}, false
	}
	worst := scene.Worst(gone)
	f := captured(c, gone)
	f.Active = scene.Silences(gone)
	f.Text = fmt.Sprintf("%s is gone, or the whole path to it: for %s it acknowledged nothing of what it was asked", c.Server, units.Lasting(worst.Length))
	f.Evidence = []suspect.Evidence{
		{Side: suspect.For, Grade: suspect.Strong, Value: worst.Length, Unit: "s", Source: source.File(measure.Captured + ": ACKs"), Origin: "silence",
			Text: fmt.Sprintf("requests on %s had no answer and no acknowledgement, the longest for %s", units.Plural(len(gone), "connection"), units.Lasting(worst.Length))},
		{Side: suspect.For, Grade: suspect.Strong, Value: again, Unit: "packets", Source: source.File(measure.Captured + ": what was sent again"), Origin: "retransmit",
			Text: fmt.Sprintf("%s packets of them were sent again, the last three times and more, and never acknowledged", units.Count(again))},
	}
	f.Remedy.Program = "TCP_USER_TIMEOUT (10,000 ms) and SO_KEEPALIVE."
	return f, true
}

// livesOn: the host acknowledged something after one of these connections had stood still for longer
// than an ACK takes.
func livesOn(r *recording.Recording, c *scene.Captured, gone []recording.Flow) bool {
	last := recording.Time(0)
	for _, f := range r.Flows {
		if f.Netns == c.Netns && recording.Host(f.Server) == recording.Host(c.Server) {
			last = max(last, f.Up.LastAck)
		}
	}
	return slices.ContainsFunc(gone, func(f recording.Flow) bool {
		late := 0.05
		if f.Up.MaxRTT != nil {
			late = max(2**f.Up.MaxRTT, late)
		}
		return f.Up.StuckSince > 0 && last.Sub(f.Up.StuckSince).Seconds() > late
	})
}
