package recording

import "slices"

// Load is one run of requests that snag sent itself (snag load, snag find --load), in total. Durations
// are seconds; nil where nothing was measured.
type Load struct {
	T      Time   `json:"t"`      // from when on requests count
	End    Time   `json:"end"`    // no request that is due later was sent
	Target string `json:"target"` // the URL, without its user and query
	// Whom it asked, from which network namespace, and from where: LocalPorts are those of its
	// first connections, MorePorts how many are left out.
	Proto      string   `json:"proto"` // tcp or udp
	Netns      uint64   `json:"netns"`
	Remote     string   `json:"remote"`          // address:port
	Local      string   `json:"local,omitempty"` // address
	LocalPorts []uint64 `json:"local_ports,omitempty"`
	MorePorts  int      `json:"more_ports,omitempty"`

	Connections int     `json:"connections"`
	Rate        float64 `json:"rate_asked"` // requests/s; 0: one request is open on each connection all the time
	// Asked are the requests that were due, Behind those of them that were not sent as no connection
	// was free, Failed the answers that are errors in the protocol's own words. Lost are requests
	// and connections that came to nothing, by why (load.Kind). Late are answers that took longer than
	// Deadline; 0: there was none.
	Asked    uint64            `json:"asked"`
	Sent     uint64            `json:"sent"`
	Answered uint64            `json:"answered"`
	Failed   uint64            `json:"failed,omitempty"`
	Unasked  uint64            `json:"unasked,omitempty"` // answers that came with no request open
	Behind   uint64            `json:"behind,omitempty"`
	Lost     map[string]uint64 `json:"lost,omitempty"`
	Deadline float64           `json:"deadline,omitempty"`
	Late     uint64            `json:"late,omitempty"`

	// SinceDue and SinceSent are of answered requests, OwnLag of those that were sent. EmptyServer is
	// the time since sent at a server of snag's own process that answers at once.
	SinceDue    *Quantiles `json:"since_due,omitempty"`
	SinceSent   *Quantiles `json:"since_sent,omitempty"`
	OwnLag      *Quantiles `json:"own_lag,omitempty"`
	EmptyServer *Quantiles `json:"empty_server,omitempty"`
	// Parts are those of the mean since due; SlowParts of the answers of which one in a hundred is
	// as slow or slower.
	Parts     *LoadParts `json:"parts,omitempty"`
	SlowParts *LoadParts `json:"slow_parts,omitempty"`

	Open float64 `json:"open"` // requests that were open at a moment, on average
	Busy float64 `json:"busy"` // share of the time in which its thread did not wait
	CPU  float64 `json:"cpu_seconds"`
	// NotTheServices is why the figures are not the service's (load.Result.Honest); "": they are.
	NotTheServices string `json:"not_the_services,omitempty"`
}

// Quantiles of a duration, s.
type Quantiles struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

// LoadParts are means over N answers, s. A request that is due waits for a free connection, is then
// sent late by snag itself, and then waits for its answer.
type LoadParts struct {
	N       uint64  `json:"n"`
	Waiting float64 `json:"waiting"`
	OwnLag  float64 `json:"own_lag"`
	Answer  float64 `json:"answer"`
}

// Whole is the time since due.
func (p LoadParts) Whole() float64 { return p.Waiting + p.OwnLag + p.Answer }

// LoadSecond is what a load did in the second that begins at T.
type LoadSecond struct {
	T        Time              `json:"t"`
	Target   string            `json:"target"`
	Asked    uint64            `json:"asked"`
	Sent     uint64            `json:"sent"`
	Answered uint64            `json:"answered"`
	Failed   uint64            `json:"failed,omitempty"`
	Lost     map[string]uint64 `json:"lost,omitempty"`
	Late     uint64            `json:"late,omitempty"`
	// Sums of the answers that came in it: the parts of the time since each was due, s.
	Waiting float64 `json:"waiting_sum"`
	OwnLag  float64 `json:"own_lag_sum"`
	Answer  float64 `json:"answer_sum"`
	Max     float64 `json:"max"`  // since due
	Open    float64 `json:"open"` // requests that were open, on average
	// DueHist counts them by the time since due, SentHist by that since sent, in the buckets of
	// Turns.Hist.
	DueHist  []uint64 `json:"due_hist,omitempty"`
	SentHist []uint64 `json:"sent_hist,omitempty"`
}

// Table names.
func (Load) Table() string       { return "loads" }
func (LoadSecond) Table() string { return "load_seconds" }

// MeasureLoad is the coverage of a load.
const MeasureLoad = "load"

// LoadCPU is the CPU time that snag's own requests took, s.
func (r *Recording) LoadCPU() (seconds float64) {
	for _, l := range r.Loads {
		seconds += max(0, l.CPU)
	}
	return seconds
}

// LoadAsks reports whether snag's own requests were sent to an address.
func (r *Recording) LoadAsks(address string) bool {
	return slices.ContainsFunc(r.Loads, func(l Load) bool { return l.Remote == address })
}
