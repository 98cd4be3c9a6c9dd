package elimination

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
	RTT     float64 `json:"rtt"`     // the median
	End     bool    `json:"end"`
	// Sent probes and those that were answered, and the shortest and the longest time. A router reports a limited
	// number of packets per second: fewer answers are no loss on the way, unless the hops behind it answer fewer as
	// well.
	Sent     int     `json:"sent"`
	Answered int     `json:"answered"`
	Least    float64 `json:"min"`
	Most     float64 `json:"max"`
	// Times are those of the probes while they run.
	Times []float64 `json:"-"`
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
