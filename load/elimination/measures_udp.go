package elimination

// Port are datagrams to the service's port, one at a time.
type Port struct {
	Sent     int `json:"sent"`
	Answered int `json:"answered"`
	// Refused are those for which the host reported that nobody listens (ICMP port unreachable).
	Refused int `json:"refused"`
}

// Bytes are datagrams of several sizes, in turn. What is nil was not tried.
type Bytes struct {
	Small *Tried `json:"small"` // the request as it is
	// Full fills the interface's MTU and must not be fragmented. TooLarge: the kernel, or a hop, reported
	// that it is too large, as it should where a path is narrower.
	Full      *Tried `json:"full"`
	FullBytes int    `json:"full_bytes"` // of the message
	TooLarge  bool   `json:"too_large"`
	// Fragmented is larger than the MTU, and arrives in fragments.
	Fragmented      *Tried `json:"fragmented"`
	FragmentedBytes int    `json:"fragmented_bytes"`
}

// Bursts are many datagrams at once, and as many spread over time.
type Bursts struct {
	Spread Tried   `json:"spread"`
	AtOnce []Tried `json:"at_once"`
	// Dropped are answers that snag's own socket had no room for.
	Dropped int `json:"dropped_here"`
	// Echo are ICMP echo requests that were sent meanwhile; nil: the host answers none, or they are not permitted.
	Echo *Echo `json:"icmp_echo"`
}

// lost are the datagrams of a try without an answer.
func (t Tried) lost() int { return t.N - t.Answered }
