// Package elimination says of what was measured of a service which suspects are ruled out, which one is
// found, and which are left. It does no I/O: package trial runs the experiments.
package elimination

// Measures are what the experiments found, all times in seconds. What is nil was not measured; Missing
// says why where there is more to say than that its turn did not come.
type Measures struct {
	Version int    `json:"version"`
	Target  string `json:"target"`
	// Here: the experiments ran on the server itself.
	Here bool `json:"here"`
	// Local: the target is an address of the host that asks.
	Local   bool    `json:"local"`
	Network string  `json:"network"`
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
	Path    *Path      `json:"path"`
	Size    *Size      `json:"size"`
	TLS     *Handshake `json:"handshake"`
	Options []Option   `json:"options"`
	Null    *Null      `json:"null"`
	Rates   []Step     `json:"rates"`
	// Server is what the same experiments found on the server itself.
	Server *Measures `json:"server"`

	Done    []string          `json:"done"` // experiments, in the order in which they ran
	Missing map[string]string `json:"missing"`
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

// Address is what connects to one address of the service did.
type Address struct {
	Address string `json:"address"`
	Times
	Least float64 `json:"min"`
	// Delayed are those that waited for a SYN that was sent again, and those that ended without an answer.
	Delayed int `json:"delayed"`
	Tried   int `json:"tried"`
	Refused int `json:"refused"`
	Silent  int `json:"silent"` // nothing came back
	// Alive: the host answers something else, such as ICMP echo. Nil: it was not asked, or did not answer.
	Alive *bool `json:"alive"`
}

// Path is what was found between the two hosts.
type Path struct {
	Least    float64 `json:"min_rtt"`
	Median   float64 `json:"rtt"`
	Segments int64   `json:"segments"` // of requests on kept connections
	Resent   int64   `json:"resent"`
	Answers  int64   `json:"answers"`
	// Late are answers that took longer than others by a retransmission timeout or more.
	Late  int64  `json:"late"`
	Echo  *Echo  `json:"icmp_echo"`
	Hops  []Hop  `json:"hops"`     // by UDP
	ByTCP []Hop  `json:"hops_tcp"` // by TCP to the port
	Note  string `json:"note"`
}

// Echo are ICMP echo requests.
type Echo struct {
	Sent int     `json:"sent"`
	Lost int     `json:"lost"`
	P50  float64 `json:"p50"`
	Min  float64 `json:"min"`
}

// Hop is a router on the way, or the host at its end.
type Hop struct {
	TTL     int     `json:"ttl"`
	Address string  `json:"address"` // "": no answer
	RTT     float64 `json:"rtt"`
	End     bool    `json:"end"`
}

// Size are requests and answers that fill segments.
type Size struct {
	Plain  *Tried `json:"plain"`
	Padded *Tried `json:"padded"`
	Small  *Tried `json:"small"`
	// Small is asked as the first one that got no answer, with segments of SmallSegment bytes.
	SmallSegment int `json:"small_segment"`
	// Segment is the most that a segment may carry, to the server and from there.
	Segment     int `json:"segment"`
	SegmentBack int `json:"segment_back"`
	// Largest is the most that a segment of the answers carried.
	Largest int `json:"largest"`
	// Filled: a padded request fills a segment.
	Filled bool `json:"filled"`
}

// Tried are requests of one kind, each on its own connection.
type Tried struct {
	N        int `json:"n"`
	Answered int `json:"answered"`
	// Unacked are those of which the service's host did not acknowledge all.
	Unacked int `json:"unacked"`
}

// Handshake are TLS handshakes.
type Handshake struct {
	Times
	Failed int    `json:"failed"`
	Why    string `json:"error"`
	Trips  int    `json:"round_trips"` // that the version takes
}

// Option is one socket option that was changed on this side, in pairs of runs.
type Option struct {
	Name  string       `json:"name"`
	Pairs [][2]float64 `json:"pairs"` // p50 as asked, and with the option
	Frees bool         `json:"frees"`
	Why   string       `json:"not_the_services"`
}

// Null are requests as asked and requests that do nothing, in turn, with TCP_NODELAY and TCP_QUICKACK.
type Null struct {
	Asked Asked  `json:"asked"`
	Null  *Asked `json:"null"`
}

// Step is one rate.
type Step struct {
	Rate    float64 `json:"rate"`
	Conns   int     `json:"connections"`
	Answers float64 `json:"answers"` // a second
	Due     float64 `json:"since_due_p50"`
	Sent    float64 `json:"since_sent_p50"`
	Behind  int64   `json:"behind"`
	Lost    int64   `json:"lost"`
	Why     string  `json:"not_the_services"`
}
