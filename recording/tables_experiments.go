package recording

// Experiment is one experiment of snag eliminate: something that was tried on a service from this host, what
// it showed, and which suspects it struck off. It is evidence of that service from T to End, and of nothing
// else. Durations are seconds.
type Experiment struct {
	T      Time   `json:"t"`
	End    Time   `json:"end"`
	Target string `json:"target"` // the URL, without its user and query
	// The service: where it was asked, and from which network namespace.
	Proto  string `json:"proto"` // tcp or udp
	Netns  uint64 `json:"netns"`
	Remote string `json:"remote,omitempty"` // address:port; "": the name has none that is known

	Experiment string `json:"experiment"`         // request, own, connect … (docs/eliminate.md)
	What       string `json:"what"`               // the same in words
	NotDone    string `json:"not_done,omitempty"` // why it did not run to its end; "": it did
	// Number is its main figure in Unit (s, ratio, requests/s); nil: it was not measured. Of is what it is
	// of, Shows all that was measured, in words.
	Number *float64 `json:"number,omitempty"`
	Unit   string   `json:"unit,omitempty"`
	Of     string   `json:"of,omitempty"`
	Shows  string   `json:"shows,omitempty"`
	// Limit is how long an answer may take before it is called slow. Slow: the request takes longer, or
	// fails; Tried and Failed are its attempts on new connections and those without an answer. Of the
	// experiment "request" alone.
	Limit  float64 `json:"limit,omitempty"`
	Slow   bool    `json:"slow,omitempty"`
	Tried  int     `json:"tried,omitempty"`
	Failed int     `json:"failed,omitempty"`

	Suspects []ExperimentSuspect `json:"suspects,omitempty"`
}

// The states of a suspect after the experiments.
const (
	StruckOff   = "ruled out"
	LeftOpen    = "open"  // it takes some of the time, and too little to explain an answer
	FoundBy     = "found" // it explains what is slow
	NotMeasured = "not measured"
)

// ExperimentSuspect is what an experiment says of one suspect of snag eliminate.
type ExperimentSuspect struct {
	Suspect string `json:"suspect"` // as snag eliminate calls it
	About   string `json:"about"`   // what it is
	State   string `json:"state"`
	Why     string `json:"why"`
	// Cost is how much of an answer it takes, s; nil: it is no time.
	Cost *float64 `json:"cost,omitempty"`
	// Cause is what the catalogue calls it where it is found. Clears are the causes that must not be ruled out at
	// this service before this suspect is; Cause is one of them. "": the catalogue has none.
	Cause  string   `json:"cause,omitempty"`
	Clears []string `json:"clears,omitempty"`
	// Client: it is this host's own part, and not the service's.
	Client bool `json:"client,omitempty"`
	// Proves: found, it is proof of its cause: it was counted, or taking it away freed the request.
	Proves bool `json:"proves,omitempty"`
	// Next is what measures it, and on which host.
	Next string `json:"next,omitempty"`
}

// Table name.
func (Experiment) Table() string { return "experiments" }

// MeasureEliminate is the coverage of the experiments.
const MeasureEliminate = "eliminate"
