package actor

// All actors. A new one is one file and one line here.
var All = []Actor{
	limited,
	udpSink,
	udpSource,
	udpProbe,
	tcpSource,
	tcpSink,
	tcpRelay,
	rrServer,
	loopServer,
	rrClient,
	idleServer,
	burner,
	sleeper,
	stopper,
	tunRelay,
}
