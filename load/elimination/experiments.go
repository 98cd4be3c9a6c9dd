package elimination

import "slices"

// The experiments.
const (
	TheRequest    = "request"
	OwnServer     = "own"
	Lookup        = "resolve"
	Connects      = "connect"
	TheWay        = "path"
	Sizes         = "size"
	Handshakes    = "handshake"
	NewOnes       = "new"
	SocketOptions = "options"
	NullRequest   = "null"
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
	// Number is what it showed.
	Number func(m *Measures) string
}

// Experiments in their order: those near the client come first, as their figures are part of all others.
var Experiments = []Experiment{
	{TheRequest, "the request, on new connections and on kept ones", nil, requestNumber},
	{OwnServer, "the same request to an empty server in snag's own process", nil, ownNumber},
	{Lookup, "look up the name", elsewhereToo, lookupNumber},
	{Connects, "connect to each address", overTCP, connectNumber},
	{TheWay, "round trips, packets sent again, the route", both(elsewhereToo, overAPath), pathNumber},
	{Sizes, "requests and answers that fill segments", both(overTCP, overAPath), sizeNumber},
	{Handshakes, "TLS handshakes", overTLS, handshakeNumber},
	{NewOnes, "the first answer on a connection against later ones", overTCP, newNumber},
	{SocketOptions, "with other socket options", overTCP, optionsNumber},
	{NullRequest, "a request that does nothing, in turn with this one", nil, nullNumber},
	{ManyRates, "higher rates", nil, ratesNumber},
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

// IsSlow reports whether requests take longer than what is called slow, or fail.
func (m *Measures) IsSlow() bool {
	if m.whole() >= m.Slow || m.kept() >= m.Slow {
		return true
	}
	if f := m.Fresh; f != nil {
		failed := 0
		for _, n := range f.Failed {
			failed += n
		}
		return 10*failed > f.Whole.N
	}
	return m.Kept != nil && m.Kept.N == 0
}
