// Package all lists the incidents. A new one is its folder and one line here.
package all

import (
	"snag/lab"
	"snag/lab/bufferbloat"
	conntrackfull "snag/lab/conntrack-full"
	cpusaturated "snag/lab/cpu-saturated"
	cputhrottled "snag/lab/cpu-throttled"
	diskstall "snag/lab/disk-stall"
	fdlimit "snag/lab/fd-limit"
	listenoverflow "snag/lab/listen-overflow"
	lockconvoy "snag/lab/lock-convoy"
	machinepaused "snag/lab/machine-paused"
	memoryfragmentation "snag/lab/memory-fragmentation"
	nagledelayedack "snag/lab/nagle-delayed-ack"
	neighbourfailed "snag/lab/neighbour-failed"
	netfilterdrop "snag/lab/netfilter-drop"
	noroute "snag/lab/no-route"
	numaimbalance "snag/lab/numa-imbalance"
	"snag/lab/observer"
	packetloss "snag/lab/packet-loss"
	packetreordering "snag/lab/packet-reordering"
	peerreset "snag/lab/peer-reset"
	pmtublackhole "snag/lab/pmtu-blackhole"
	processstopped "snag/lab/process-stopped"
	qdiscdrop "snag/lab/qdisc-drop"
	reconnectstorm "snag/lab/reconnect-storm"
	reversepathfilter "snag/lab/reverse-path-filter"
	runqueuewait "snag/lab/run-queue-wait"
	slowconsumer "snag/lab/slow-consumer"
	smallreceivewindow "snag/lab/small-receive-window"
	"snag/lab/swap"
	udpportclosed "snag/lab/udp-port-closed"
	udpreceivebufferfull "snag/lab/udp-receive-buffer-full"
)

// Incidents in the order in which they are run.
var Incidents = []lab.Incident{
	udpreceivebufferfull.Incident,
	udpportclosed.Incident,
	qdiscdrop.Incident,
	netfilterdrop.Incident,
	reversepathfilter.Incident,
	noroute.Incident,
	neighbourfailed.Incident,
	conntrackfull.Incident,
	pmtublackhole.Incident,
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
	diskstall.Incident,
	swap.Incident,
	memoryfragmentation.Incident,
	numaimbalance.Incident,
	machinepaused.Incident,
	processstopped.Incident,
	observer.Incident,
}
