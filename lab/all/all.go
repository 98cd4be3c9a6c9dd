// Package all lists the incidents. A new one is its folder and one line here.
package all

import (
	"snag/lab"
	"snag/lab/bufferbloat"
	cpusaturated "snag/lab/cpu-saturated"
	cputhrottled "snag/lab/cpu-throttled"
	fdlimit "snag/lab/fd-limit"
	fqflowlimit "snag/lab/fq-flow-limit"
	listenoverflow "snag/lab/listen-overflow"
	lockconvoy "snag/lab/lock-convoy"
	nagledelayedack "snag/lab/nagle-delayed-ack"
	netfilterdrop "snag/lab/netfilter-drop"
	"snag/lab/observer"
	packetloss "snag/lab/packet-loss"
	packetreordering "snag/lab/packet-reordering"
	peerreset "snag/lab/peer-reset"
	processstopped "snag/lab/process-stopped"
	qdiscdrop "snag/lab/qdisc-drop"
	reconnectstorm "snag/lab/reconnect-storm"
	runqueuewait "snag/lab/run-queue-wait"
	slowconsumer "snag/lab/slow-consumer"
	smallreceivewindow "snag/lab/small-receive-window"
	softirqononecpu "snag/lab/softirq-on-one-cpu"
	softnetbacklog "snag/lab/softnet-backlog"
	udpportclosed "snag/lab/udp-port-closed"
	udpreceivebufferfull "snag/lab/udp-receive-buffer-full"
)

// Incidents in the order in which they are run.
var Incidents = []lab.Incident{
	udpreceivebufferfull.Incident,
	udpportclosed.Incident,
	qdiscdrop.Incident,
	fqflowlimit.Incident,
	softnetbacklog.Incident,
	softirqononecpu.Incident,
	netfilterdrop.Incident,
	listenoverflow.Incident,
	reconnectstorm.Incident,
	nagledelayedack.Incident,
	peerreset.Incident,
	slowconsumer.Incident,
	fdlimit.Incident,
	packetloss.Incident,
	packetreordering.Incident,
	bufferbloat.Incident,
	smallreceivewindow.Incident,
	lockconvoy.Incident,
	cputhrottled.Incident,
	cpusaturated.Incident,
	runqueuewait.Incident,
	processstopped.Incident,
	observer.Incident,
}
