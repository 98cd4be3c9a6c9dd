package elimination

import "slices"

// The experiments.
const (
	TheRequest    = "request"
	OwnServer     = "own"
	Lookup        = "resolve"
	Connects      = "connect"
	ThePort       = "port"
	TheWay        = "path"
	Sizes         = "size"
	ByBytes       = "bytes"
	Handshakes    = "handshake"
	NewOnes       = "new"
	SocketOptions = "options"
	NullRequest   = "null"
	InBursts      = "bursts"
	ManyRates     = "rates"
	// OnServer is no experiment of this run: its measures come from the server.
	OnServer = "server"
)

// Experiment is one thing that is tried.
type Experiment struct {
	ID   string
	What string
	// Applies reports whether it can be done at all; nil: always.
	Applies func(m *Measures) bool
	// Number is what it showed, in words; Figure is the main one of its numbers.
	Number func(m *Measures) string
	Figure func(m *Measures) (Figure, bool)
}

// Experiments in their order: those near the client come first, as their figures are part of all others.
var Experiments = []Experiment{
	{TheRequest, "the request, on new connections and on kept ones", nil, requestNumber, requestFigure},
	{OwnServer, "the same request to an empty server in snag's own process", nil, ownNumber, ownFigure},
	{Lookup, "look up the name", elsewhereToo, lookupNumber, lookupFigure},
	{Connects, "connect to each address", overTCP, connectNumber, connectFigure},
	{ThePort, "datagrams to the port, and what its host reports of them", overUDP, portNumber, portFigure},
	{TheWay, "round trips, packets sent again, the route", both(elsewhereToo, overAPath), pathNumber, pathFigure},
	{Sizes, "requests and answers that fill segments", both(overTCP, overAPath), sizeNumber, sizeFigure},
	{ByBytes, "datagrams that fill a packet, and larger ones", both(overUDP, overAPath), bytesNumber, bytesFigure},
	{Handshakes, "TLS handshakes", overTLS, handshakeNumber, handshakeFigure},
	{NewOnes, "the first answer on a connection against later ones", overTCP, newNumber, newFigure},
	{SocketOptions, "with other socket options", overTCP, optionsNumber, optionsFigure},
	{NullRequest, "a request that does nothing, in turn with this one", nil, nullNumber, nullFigure},
	{InBursts, "datagrams many at once, against one at a time", overUDP, burstsNumber, burstsFigure},
	{ManyRates, "higher rates", nil, ratesNumber, ratesFigure},
}

// elsewhereToo: not only on the server itself.
func elsewhereToo(m *Measures) bool { return !m.Here }

// Applies is whether an experiment can be done on this target at all.
func (m *Measures) Applies(e Experiment) bool { return e.Applies == nil || e.Applies(m) }

// Did reports whether an experiment ran to its end.
func (m *Measures) Did(id string) bool { return slices.Contains(m.Done, id) }

// Miss says why an experiment was not done.
func (m *Measures) Miss(id, why string) {
	if m.Missing == nil {
		m.Missing = map[string]string{}
	}
	m.Missing[id] = why
}

// Took says when an experiment was tried.
func (m *Measures) Took(id string, at Span) {
	if m.When == nil {
		m.When = map[string]Span{}
	}
	m.When[id] = at
}

// Attempts are requests on new connections, or on kept ones where there are no others, and those that failed.
func (m *Measures) Attempts() (tried, failed int) {
	if f := m.Fresh; f != nil {
		for _, n := range f.Failed {
			failed += n
		}
		return f.Whole.N + failed, failed
	}
	if k := m.Kept; k != nil {
		return k.N + int(k.Failed), int(k.Failed)
	}
	return 0, 0
}

// IsSlow reports whether requests take longer than what is called slow, or fail.
func (m *Measures) IsSlow() bool {
	if m.whole() >= m.Slow || m.kept() >= m.Slow {
		return true
	}
	tried, failed := m.Attempts()
	if m.Fresh != nil {
		return 10*failed > tried-failed
	}
	if m.Network == "udp" && m.Kept != nil {
		return 10*failed > tried-failed
	}
	return m.Kept != nil && m.Kept.N == 0
}
