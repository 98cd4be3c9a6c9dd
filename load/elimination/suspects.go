package elimination

// Suspect is one thing that may make a service slow, as far as a client can tell them apart.
type Suspect struct {
	ID    string
	About string // follows "because"
	// Cause is what snag suspects calls it; "": none of them.
	Cause string
	// Also are causes that are not ruled out at the service either before this suspect is: a slow handler may
	// compute, wait for another service or for a worker, and an experiment cannot distinguish these.
	Also []string
	// Find is what measures it, on which host.
	Find string
	// By is the experiment that shows it.
	By string
	// Client: it is the part of the host that asks, and not the service's.
	Client bool
	// Proves: found, it is proof of Cause: it was counted, or taking it away freed the request. The others
	// show only where the time passes, which has more causes than one.
	Proves bool
	// applies reports whether it can be at all; nil: always.
	applies func(m *Measures) bool
	judge   func(m *Measures) Standing
}

const (
	onServer = "on the server: sudo snag find --port PORT"
	onClient = "on this host: sudo snag find"
	onBoth   = "on both ends: sudo snag find --port PORT --out DIR"
)

func overTCP(m *Measures) bool { return m.Network == "tcp" }

// overAPath: the service is another host's.
func overAPath(m *Measures) bool { return !m.Local }

func overTLS(m *Measures) bool { return m.Secure }

// Suspects are all of them, those near the client first, and faults of the path before its length.
var Suspects = []Suspect{
	{ID: "client-busy", About: "this host is busy: snag itself runs late", Cause: "run-queue-wait", Find: onClient, By: OwnServer, Client: true, judge: clientBusy},
	{ID: "resolver", About: "the name is resolved slowly or not at all", Cause: "slow-dependency", Find: onClient, By: Lookup, Client: true, Proves: true, judge: resolver},
	{ID: "dead-address", About: "an address of the service does not answer", Cause: "upstream-refused", Find: onClient, By: Connects, applies: overTCP, judge: deadAddress},
	{ID: "closed-port", About: "nothing listens at the port", Cause: "udp-port-closed", Find: onServer, By: ThePort, Proves: true, applies: overUDP, judge: closedPort},
	{ID: "packet-loss", About: "the path loses packets", Cause: "packet-loss", Find: onBoth, By: TheWay, Proves: true, applies: overAPath, judge: packetLoss},
	{ID: "path-length", About: "the path is long", Find: "the round trip is the distance: a server that is nearer", By: TheWay, applies: overAPath, judge: pathLength},
	{ID: "path-queue", About: "packets wait in a queue on the path", Cause: "bufferbloat", Find: onBoth, By: Connects, applies: both(overTCP, overAPath), judge: pathQueue},
	{ID: "listen-queue", About: "the listen queue is full, or a filter drops SYNs", Cause: "listen-overflow", Find: onServer, By: Connects, applies: overTCP, judge: listenQueue},
	{ID: "large-to-server", About: "large packets to the server vanish (path MTU)", Cause: "pmtu-blackhole", Find: onBoth, By: Sizes, Proves: true, applies: both(overTCP, overAPath), judge: largeToServer},
	{ID: "large-from-server", About: "large packets from the server vanish (path MTU)", Cause: "pmtu-blackhole", Find: onBoth, By: Sizes, Proves: true, applies: both(overTCP, overAPath), judge: largeFromServer},
	{ID: "large-datagrams", About: "datagrams that fill a packet vanish (path MTU)", Cause: "pmtu-blackhole", Find: onBoth, By: ByBytes, applies: both(overUDP, overAPath), judge: largeDatagrams},
	{ID: "fragments", About: "fragments of large datagrams vanish", Find: "a filter or a balancer on the way that drops fragments: tcpdump -ni any 'ip[6:2] & 0x3fff != 0' on both ends", By: ByBytes, applies: both(overUDP, overAPath), judge: fragments},
	{ID: "receive-buffer", About: "the receive buffer of the service is too small for what comes at once", Cause: "udp-receive-buffer-full", Find: onServer, By: InBursts, applies: overUDP, judge: receiveBuffer},
	{ID: "tls", About: "the service takes long for a TLS handshake", Cause: "busy-thread", Find: onServer, By: Handshakes, applies: overTLS, judge: tlsHandshake},
	{ID: "new-connections", About: "the service takes long for the first answer on a new connection", Cause: "worker-queue", Find: onServer, By: NewOnes, applies: overTCP, judge: newConnections},
	{ID: "nagle-client", About: "Nagle's algorithm delays writes of this side", Cause: "nagle-delayed-ack", Find: onClient, By: SocketOptions, Proves: true, applies: overTCP, judge: nagleClient},
	{ID: "nagle-service", About: "Nagle's algorithm delays writes of the service", Cause: "nagle-delayed-ack", Find: onServer, By: SocketOptions, Proves: true, applies: overTCP, judge: nagleService},
	{ID: "handler", About: "this request takes long in the service, others do not", Cause: "slow-dependency", Also: []string{"busy-thread", "worker-queue"}, Find: onServer, By: NullRequest, judge: handler},
	{ID: "service", About: "every request takes long in the service", Cause: "busy-thread", Also: []string{"slow-dependency", "worker-queue"}, Find: onServer, By: NullRequest, judge: service},
	{ID: "pool", About: "too few workers, or a pool that is too small, for many requests", Cause: "worker-queue", Also: []string{"busy-thread", "slow-dependency"}, Find: onServer, By: ManyRates, judge: pool},
}

func both(a, b func(*Measures) bool) func(*Measures) bool {
	return func(m *Measures) bool { return a(m) && b(m) }
}

// State is what is known of a suspect.
type State string

// The states. A suspect is left unless it is ruled out.
const (
	Open     State = "open"
	Found    State = "found"
	RuledOut State = "ruled out"
)

// Standing is what is known of a suspect, and which experiment shows it.
type Standing struct {
	Suspect string  `json:"suspect"`
	State   State   `json:"state"`
	By      string  `json:"by"` // the experiment; "": none yet
	Why     string  `json:"why"`
	Cost    float64 `json:"cost"` // s of an answer's time that it takes; 0 where it is no time
	Cause   string  `json:"cause"`
	Find    string  `json:"find"`
	// Proves: it is found, and that is proof of Cause.
	Proves bool `json:"proves,omitempty"`
}

// Judge says of each suspect that can be what is known.
func Judge(m *Measures) (out []Standing) {
	for _, s := range Suspects {
		if s.applies != nil && !s.applies(m) {
			continue
		}
		st := s.judge(m)
		st = elsewhere(m, s.ID, st)
		if st.State == "" {
			st.State = Open
		}
		st.Suspect, st.Cause, st.Find = s.ID, s.Cause, s.Find
		st.Proves = st.State == Found && (s.Proves || st.Proves)
		out = append(out, st)
	}
	return out
}

// About is what a suspect is.
func About(id string) string {
	for _, s := range Suspects {
		if s.ID == id {
			return s.About
		}
	}
	return id
}

// Told is the first suspect that is found; false: none is.
func Told(all []Standing) (Standing, bool) {
	for _, s := range all {
		if s.State == Found {
			return s, true
		}
	}
	return Standing{}, false
}
