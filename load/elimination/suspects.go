package elimination

// Suspect is one thing that may make a service slow, as far as a client can tell them apart.
type Suspect struct {
	ID    string
	About string // follows "because"
	// Cause is what snag suspects calls it; "": none of them.
	Cause string
	// Find is what measures it, on which host.
	Find string
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
	{"client-busy", "this host is busy: snag itself runs late", "run-queue-wait", onClient, nil, clientBusy},
	{"resolver", "the name is resolved slowly or not at all", "slow-dependency", onClient, nil, resolver},
	{"dead-address", "an address of the service does not answer", "upstream-refused", onClient, overTCP, deadAddress},
	{"packet-loss", "the path loses packets", "packet-loss", onBoth, overAPath, packetLoss},
	{"path-length", "the path is long", "", "the round trip is the distance: a server that is nearer", overAPath, pathLength},
	{"path-queue", "packets wait in a queue on the path", "bufferbloat", onBoth, both(overTCP, overAPath), pathQueue},
	{"listen-queue", "the listen queue is full, or a filter drops SYNs", "listen-overflow", onServer, overTCP, listenQueue},
	{"large-to-server", "large packets to the server vanish (path MTU)", "pmtu-blackhole", onBoth, both(overTCP, overAPath), largeToServer},
	{"large-from-server", "large packets from the server vanish (path MTU)", "pmtu-blackhole", onBoth, both(overTCP, overAPath), largeFromServer},
	{"tls", "the service takes long for a TLS handshake", "busy-thread", onServer, overTLS, tlsHandshake},
	{"new-connections", "the service takes long for the first answer on a new connection", "worker-queue", onServer, overTCP, newConnections},
	{"nagle-client", "Nagle's algorithm delays writes of this side", "nagle-delayed-ack", onClient, overTCP, nagleClient},
	{"nagle-service", "Nagle's algorithm delays writes of the service", "nagle-delayed-ack", onServer, overTCP, nagleService},
	{"handler", "this request takes long in the service, others do not", "slow-dependency", onServer, nil, handler},
	{"service", "every request takes long in the service", "busy-thread", onServer, nil, service},
	{"pool", "too few workers, or a pool that is too small, for many requests", "worker-queue", onServer, nil, pool},
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
