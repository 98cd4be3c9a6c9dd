package suspects

// All is the catalogue, in the order in which it is printed. A new suspect is
// one file and one line here.
var All = []*Suspect{
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
	upstreamRefused,
	serviceKilled,
	connectionLimit,
	errorAnswers,
	syscallFailing,
	tlsHandshakeFailed,
	slowConsumer,
	receiverTooSlow,
	fdLimit,
	ephemeralPorts,
	synFlood,
	halfOpenPeer,
	encoderStall,
	uplinkThrottled,
	uplinkBlackhole,
	serverStall,
	readerStall,
	heapFull,
	runtimePause,
	spinLock,
	lockConvoy,
	workerQueue,
	busyThread,
	slowDependency,
	poolExhausted,
	sessionLock,
	logSilence,
	cpuThrottled,
	cpuSaturated,
	runQueueWait,
	diskStall,
	memoryLimit,
	swapping,
	wrongLibrary,
	memoryFragmentation,
	numaImbalance,
	machinePaused,
	kernelHotPath,
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
