package suspects

// All is the catalogue, in the order in which it is printed. A new suspect is
// one file and one line here.
var All = []*Suspect{
	udpReceiveBufferFull,
	udpPortClosed,
	qdiscDrop,
	netfilterDrop,
	packetLoss,
	packetReordering,
	bufferbloat,
	smallReceiveWindow,
	nagleDelayedAck,
	listenOverflow,
	reconnectStorm,
	peerReset,
	slowConsumer,
	fdLimit,
	lockConvoy,
	cpuThrottled,
	cpuSaturated,
	runQueueWait,
	diskStall,
	swapping,
	memoryFragmentation,
	numaImbalance,
	machinePaused,
	processStopped,
	observer,
}

// ByName returns the suspect of that name, or nil.
func ByName(name string) *Suspect {
	for _, s := range All {
		if s.Name == name {
			return s
		}
	}
	return nil
}
