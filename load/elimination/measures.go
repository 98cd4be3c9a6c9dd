// Package elimination says of what was measured of a service which suspects are ruled out, which one is
// found, and which are left. It does no I/O: package trial runs the experiments.
package elimination

import "time"

// Measures are what the experiments found, all times in seconds. What is nil was not measured; Missing
// says why where there is more to say than that its turn did not come.
type Measures struct {
	Version int    `json:"version"`
	Target  string `json:"target"`
	// Here: the experiments ran on the server itself.
	Here bool `json:"here"`
	// Local: the target is an address of the host that asks.
	Local   bool   `json:"local"`
	Network string `json:"network"`
	// Address is that of the service which was asked, with its port; "": none is known.
	Address string  `json:"address,omitempty"`
	Secure  bool    `json:"tls"`
	Slow    float64 `json:"slow"` // longer than this is slow
	// NoDelay: TCP_NODELAY is set on this side.
	NoDelay bool `json:"nodelay"`
	// DoesNothing is the request that a null request is; "": none is known of the protocol.
	DoesNothing string `json:"null_request"`
	// HighRate is the highest rate that was to be tried.
	HighRate float64 `json:"high_rate"`

	Fresh   *Fresh     `json:"fresh"`
	Kept    *Asked     `json:"kept"`
	Own     *Own       `json:"own"`
	Resolve *Resolve   `json:"resolve"`
	Connect []Address  `json:"connect"`
	Port    *Port      `json:"port,omitempty"`
	Path    *Path      `json:"path"`
	Size    *Size      `json:"size"`
	Bytes   *Bytes     `json:"bytes,omitempty"`
	TLS     *Handshake `json:"handshake"`
	Options []Option   `json:"options"`
	Null    *Null      `json:"null"`
	Bursts  *Bursts    `json:"bursts,omitempty"`
	Rates   []Step     `json:"rates"`
	// Server is what the same experiments found on the server itself.
	Server *Measures `json:"server"`

	Done    []string          `json:"done"` // experiments, in the order in which they ran
	Missing map[string]string `json:"missing"`
	// When is the time at which each of Done, and of those that failed, was tried.
	When map[string]Span `json:"when,omitempty"`
}

// Span is a time in which something was tried.
type Span struct {
	Begin time.Time `json:"begin"`
	End   time.Time `json:"end"`
}

// Times are those of some attempts that succeeded.
type Times struct {
	N    int     `json:"n"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	Most float64 `json:"max"`
}

// Fresh are requests on new connections. The parts are medians.
type Fresh struct {
	Whole   Times          `json:"whole"`
	Failed  map[string]int `json:"failed"`
	Resolve float64        `json:"resolve"`
	Connect float64        `json:"connect"`
	TLS     float64        `json:"tls"`
	Login   float64        `json:"login"` // what the protocol says before the first request
	Answer  float64        `json:"answer"`
}

// Asked are requests on connections that are kept.
type Asked struct {
	Times
	Failed int64  `json:"failed"` // without an answer
	Why    string `json:"not_the_services"`
}

// Own is what an empty server in snag's own process takes.
type Own struct {
	Times
	LagP50 float64 `json:"lag_p50"` // how late snag sent
	LagP90 float64 `json:"lag_p90"`
}

// Resolve are lookups of the name.
type Resolve struct {
	Times
	Failed int    `json:"failed"`
	Why    string `json:"error"`
	// Literal: the target has an address and no name.
	Literal bool `json:"literal"`
	// Addresses is how many the name has.
	Addresses int `json:"addresses"`
}
