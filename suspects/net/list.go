// Package net holds the causes on the way of packets and in the kernel's queues for them:
// interfaces, filters, routes, sockets' buffers, connections being opened.
package net

import "snag/suspects/suspect"

// All are the suspects of this kind, in the order in which they are printed. A new one is a
// file and a line here.
var All = []*suspect.Suspect{
	udpReceiveBufferFull,
	udpPortClosed,
	qdiscDrop,
	fqFlowLimit,
	nicRingOverflow,
	softnetBacklog,
	softirqOnOneCPU,
	flowDirectorMiss,
	interruptCoalescingLow,
	netfilterDrop,
	reversePathFilter,
	noRoute,
	neighbourFailed,
	conntrackFull,
	packetLoss,
	packetReordering,
	bufferbloat,
	pmtuBlackhole,
	smallReceiveWindow,
	nagleDelayedAck,
	listenOverflow,
	unixBacklog,
	reconnectStorm,
	peerReset,
	tlsHandshakeFailed,
	ephemeralPorts,
	synFlood,
	halfOpenPeer,
}
