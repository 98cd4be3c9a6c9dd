package host

import (
	"fmt"

	"snag/recording"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// cutOff is what ended the connection of somebody who sends a stream, where that was a reset a
// moment before: who sent it, and what then helps. "" where it was none.
func (e *ended) cutOff(r *recording.Recording, all []recording.Exit) (text string, why suspect.Evidence, remedy suspect.Remedy) {
	if e.proto != "feed" {
		return "", why, remedy
	}
	for _, x := range all {
		for _, got := range r.Resets {
			if got.Dir != "received" || got.PID != 0 && got.PID != x.PID || got.Netns != e.netns || got.Remote != e.at || got.T > x.T || got.T < x.T.Add(-leftBehind) {
				continue
			}
			by := e.at
			remedy = suspect.Remedy{Permanently: fmt.Sprintf("See on the host of %s what resets the connections of publishers (the server's log, a firewall, a load balancer's limit of time). Have %s reconnect automatically.", e.at, x.Comm)}
			for _, sent := range r.Resets {
				if sent.Dir == "sent" && sent.Local == got.Remote && sent.Remote == got.Local && sent.PID != 0 {
					by = fmt.Sprintf("%s[%d]", sent.Comm, sent.PID)
					remedy.Permanently = fmt.Sprintf("See why %s resets the connections of publishers. Have %s reconnect automatically.", by, x.Comm)
				}
			}
			text = "after its connection was reset by " + by
			why = suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: 1, Unit: "resets", Source: source.Tracepoint("tcp:tcp_receive_reset", source.Resets), Origin: "resets",
				Text: fmt.Sprintf("%s[%d] ended %s", x.Comm, x.PID, text)}
		}
	}
	return text, why, remedy
}
