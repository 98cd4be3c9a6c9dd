// Package all lists the incidents. A new one is its folder and one line here.
package all

import (
	"snag/lab"
	cputhrottled "snag/lab/cpu-throttled"
	fdlimit "snag/lab/fd-limit"
	listenoverflow "snag/lab/listen-overflow"
	lockconvoy "snag/lab/lock-convoy"
	nagledelayedack "snag/lab/nagle-delayed-ack"
	netfilterdrop "snag/lab/netfilter-drop"
	"snag/lab/observer"
	packetloss "snag/lab/packet-loss"
	peerreset "snag/lab/peer-reset"
	processstopped "snag/lab/process-stopped"
	qdiscdrop "snag/lab/qdisc-drop"
	reconnectstorm "snag/lab/reconnect-storm"
	runtimepause "snag/lab/runtime-pause"
	slowconsumer "snag/lab/slow-consumer"
	udpportclosed "snag/lab/udp-port-closed"
	udpreceivebufferfull "snag/lab/udp-receive-buffer-full"
)

// Incidents in the order in which they are run.
var Incidents = []lab.Incident{
	udpreceivebufferfull.Incident,
	udpportclosed.Incident,
	qdiscdrop.Incident,
	netfilterdrop.Incident,
	listenoverflow.Incident,
	reconnectstorm.Incident,
	nagledelayedack.Incident,
	peerreset.Incident,
	slowconsumer.Incident,
	fdlimit.Incident,
	packetloss.Incident,
	runtimepause.Incident,
	lockconvoy.Incident,
	cputhrottled.Incident,
	processstopped.Incident,
	observer.Incident,
}
