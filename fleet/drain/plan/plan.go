// Package plan is the file of a drain: which peers are restarted, in which order and how many at a time, the commands
// for each, and what must stay healthy meanwhile (docs/drain.md).
//
// The file is YAML; JSON is YAML. A key that is not known is an error, and so is a plan without a peer, without a
// command or without a word about health: nothing is begun before all of it was found to be valid.
package plan

import "time"

// Version is the version of the file's form.
const Version = 1

// Plan is a drain.
type Plan struct {
	Version int `yaml:"version"`
	// Batch is how many peers are out of service at a time, Canary how many in the first batch (0: as all others).
	Batch  Batch `yaml:"batch"`
	Canary int   `yaml:"canary"`
	// Pause is between two batches, with up to Jitter more.
	Pause  Duration `yaml:"pause"`
	Jitter Duration `yaml:"jitter"`
	// Peers in their order.
	Peers []Peer `yaml:"peers"`
	// PeersFrom is the spec of a discovery (docs/discovery.md) that lists the peers; "": the plan does.
	PeersFrom string `yaml:"peers_from"`

	// Of each peer, in this order.
	Drain   []Action `yaml:"drain"` // takes it out of service
	Leave   *Leave   `yaml:"leave"` // its connections end; nil: nothing is waited for
	Restart []Action `yaml:"restart"`
	Ready   *Ready   `yaml:"ready"` // it answers again; nil: nothing is waited for
	Return  []Action `yaml:"return"`

	Health Health `yaml:"health"`
	// OnHurt is what is done with the peers of a batch that hurts: "return" (the default) or "leave".
	OnHurt string `yaml:"on_hurt"`
}

// What OnHurt may be.
const (
	HurtReturn = "return"
	HurtLeave  = "leave"
)

// Phase is what is done with a peer.
type Phase string

// The phases, in their order.
const (
	Drain   Phase = "drain"
	Leaving Phase = "leave"
	Restart Phase = "restart"
	Answers Phase = "ready"
	Return  Phase = "return"
)

// Acting are the phases that do something; the others wait.
var Acting = []Phase{Drain, Restart, Return}

// Actions are those of a phase.
func (p *Plan) Actions(phase Phase) []Action {
	switch phase {
	case Drain:
		return p.Drain
	case Restart:
		return p.Restart
	case Return:
		return p.Return
	}
	return nil
}

// Peer is one that is drained. In commands and addresses of the plan {name}, {address}, {host}, {label.KEY} and
// {meta.KEY} (the label __meta_KEY of a discovery) are replaced by what it has.
type Peer struct {
	Name    string            `yaml:"name" json:"name"`
	Address string            `yaml:"address" json:"address,omitempty"` // HOST:PORT
	Host    string            `yaml:"host" json:"host,omitempty"`       // as the store calls it (label instance); "": as Name
	Labels  map[string]string `yaml:"labels" json:"labels,omitempty"`
}

// HostName is the peer's host as the store calls it.
func (p Peer) HostName() string {
	if p.Host != "" {
		return p.Host
	}
	return p.Name
}

// Action is one thing that is done: exactly one of Run, HTTP and Consul.
type Action struct {
	Run     []string `yaml:"run"` // a command and its arguments; no shell is between
	HTTP    *Request `yaml:"http"`
	Consul  *Consul  `yaml:"consul"`
	Timeout Duration `yaml:"timeout"` // 0: 2 min
}

// Request is one over HTTP.
type Request struct {
	Method  string `yaml:"method"` // "": GET
	URL     string `yaml:"url"`
	Headers string `yaml:"headers"` // a file with one in each line: values are secrets
	Body    string `yaml:"body"`
	Status  int    `yaml:"status"` // the one expected; 0: 200 to 299
}

// Consul is the maintenance mode of a service at its agent: on in drain, off in return.
type Consul struct {
	URL     string `yaml:"url"` // the agent's
	Service string `yaml:"service"`
	Reason  string `yaml:"reason"`
	Headers string `yaml:"headers"` // a file, as of Request
}

// Leave says how it is seen that a peer's connections are gone: exactly one of Connections, Query and Metrics.
type Leave struct {
	Connections string   `yaml:"connections"` // HOST:PORT, established as this host sees them
	Query       string   `yaml:"query"`       // PromQL, for the store of health
	Metrics     *Series  `yaml:"metrics"`
	Most        float64  `yaml:"most"`    // so many may be left
	Timeout     Duration `yaml:"timeout"` // 0: 5 min
	Then        string   `yaml:"then"`    // what is done at the timeout: "stop" (the default) or "go-on"
}

// What Leave.Then may be.
const (
	ThenStop = "stop"
	ThenGoOn = "go-on"
)

// Series are those of one name on a page of metrics, in Prometheus' text format: their sum is used.
type Series struct {
	URL     string            `yaml:"url"`
	Name    string            `yaml:"name"`
	Labels  map[string]string `yaml:"labels"`
	Headers string            `yaml:"headers"`
}

// Ready says how it is seen that a peer works after its restart: exactly one of TCP, HTTP and Run.
type Ready struct {
	TCP     string   `yaml:"tcp"` // HOST:PORT, which accepts
	HTTP    *Request `yaml:"http"`
	Run     []string `yaml:"run"`     // exit code 0
	Timeout Duration `yaml:"timeout"` // 0: 1 min
}

// Health is what must stay healthy.
type Health struct {
	None    bool     `yaml:"none"` // nothing is looked at; said in the plan so that it is not forgotten
	Fleet   *Fleet   `yaml:"fleet"`
	Streams []string `yaml:"streams"` // URLs, as snag watch takes them
	Checks  []Check  `yaml:"checks"`
	Every   Duration `yaml:"every"`   // 0: 5 s
	Settle  Duration `yaml:"settle"`  // how long it is looked at after a batch; absent: 30 s
	Limit   Duration `yaml:"limit"`   // of one answer; 0: 10 s
	Unknown Duration `yaml:"unknown"` // how long it may be unknown before the drain stops; 0: 1 min
}

// Fleet is the store that recorders send to (snag record --remote-write).
type Fleet struct {
	URL     string `yaml:"url"`
	Hosts   string `yaml:"hosts"` // matchers: role="edge"; "": all
	Headers string `yaml:"headers"`
}

// Check is one that must succeed: exactly one of Run and HTTP.
type Check struct {
	Name string   `yaml:"name"`
	Run  []string `yaml:"run"`
	HTTP *Request `yaml:"http"`
}

// Defaults of what a plan leaves out.
const (
	ActionTimeout = 2 * time.Minute
	LeaveTimeout  = 5 * time.Minute
	ReadyTimeout  = time.Minute
	HealthEvery   = 5 * time.Second
	HealthSettle  = 30 * time.Second
	HealthLimit   = 10 * time.Second
	HealthUnknown = time.Minute
)
