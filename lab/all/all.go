// Package all lists the incidents. A new one is its folder and one line here.
package all

import (
	"snag/lab"
	cputhrottled "snag/lab/cpu-throttled"
	netfilterdrop "snag/lab/netfilter-drop"
	"snag/lab/observer"
	packetloss "snag/lab/packet-loss"
	processstopped "snag/lab/process-stopped"
	qdiscdrop "snag/lab/qdisc-drop"
	udpportclosed "snag/lab/udp-port-closed"
	udpreceivebufferfull "snag/lab/udp-receive-buffer-full"
)

// Incidents in the order in which they are run.
var Incidents = []lab.Incident{
	udpreceivebufferfull.Incident,
	udpportclosed.Incident,
	qdiscdrop.Incident,
	netfilterdrop.Incident,
	packetloss.Incident,
	cputhrottled.Incident,
	processstopped.Incident,
	observer.Incident,
}
