package all

import (
	"snag/lab"
	cputhrottled "snag/lab/cpu-throttled"
	fdlimit "snag/lab/fd-limit"
	listenoverflow "snag/lab/listen-overflow"
	lockconvoy "snag/lab/lock-convoy"
	nagledelayedack "snag/lab/nagle-delayed-ack"
	netfilterdrop "snag/lab/netfilter-drop"
	packetloss "snag/lab/packet-loss"
	packetreordering "snag/lab/packet-reordering"
	peerreset "snag/lab/peer-reset"
	processstopped "snag/lab/process-stopped"
	qdiscdrop "snag/lab/qdisc-drop"
	reconnectstorm "snag/lab/reconnect-storm"
	slowconsumer "snag/lab/slow-consumer"
	udpportclosed "snag/lab/udp-port-closed"
	udpreceivebufferfull "snag/lab/udp-receive-buffer-full"
)

// Pairs are incidents that are on the machine at the same time, each in namespaces
// of its own: both must be named. They are chosen to be taken for each other: the
// same symptom from two causes, or one that hides in the noise of the other.
var Pairs = [][]lab.Incident{
	// Datagrams are lost twice: a total alone would blame one of them.
	{udpreceivebufferfull.Incident, netfilterdrop.Incident},
	{qdiscdrop.Incident, udpportclosed.Incident},
	// Requests are late twice: on the wire, and for want of CPU.
	{nagledelayedack.Incident, cputhrottled.Incident},
	// Connections fail twice: not accepted for want of descriptors, and reset.
	{fdlimit.Incident, peerreset.Incident},
	// Connections are many and rejected here, and late there.
	{reconnectstorm.Incident, listenoverflow.Incident},
	// Streams stand still twice: nobody reads, and nobody runs.
	{slowconsumer.Incident, processstopped.Incident},
	// Retransmits of a lossy path beside SYNs sent again to a full queue.
	{packetloss.Incident, listenoverflow.Incident},
	// Loud counters beside a cause that hardly has any.
	{udpreceivebufferfull.Incident, nagledelayedack.Incident},
	{reconnectstorm.Incident, slowconsumer.Incident},
	{netfilterdrop.Incident, processstopped.Incident},
	// Retransmits twice: of what was late, and of what was lost.
	{packetreordering.Incident, packetloss.Incident},
	// Threads wait twice: for a lock, and for CPU time that a quota withholds.
	{lockconvoy.Incident, cputhrottled.Incident},
}
