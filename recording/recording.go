package recording

import "time"

// Version is the layout's version, in manifest.json.
const Version = 1

// Manifest says what a recording is.
type Manifest struct {
	Version  int      `json:"version"`
	Snag     string   `json:"snag"` // the version that wrote it
	Host     string   `json:"host"`
	Kernel   string   `json:"kernel"`
	Arch     string   `json:"arch"`
	CPUs     int      `json:"cpus"`
	PageSize int      `json:"page_size"`
	BootID   string   `json:"boot_id,omitempty"`
	Anchor   Anchor   `json:"anchor"`
	Start    Time     `json:"start"`
	End      Time     `json:"end,omitempty"` // 0: it was cut off; the reader takes the last time seen
	Target   Target   `json:"target"`
	Symptoms []string `json:"symptoms,omitempty"` // what the user said he saw (--symptom)
	Since    Time     `json:"since,omitempty"`    // when the user said it began (--since); 0: not said
	// UTCOffset is the host's zone, seconds east of UTC: in which the user's
	// times of day are.
	UTCOffset int    `json:"utc_offset_seconds,omitempty"`
	SelfPID   int    `json:"self_pid"`
	Netns     uint64 `json:"netns"` // the namespace snag was started in
	// Written says how much the writer put down, and is there only when it ended
	// well: what the files hold less than this was lost afterwards.
	Written *Written `json:"written,omitempty"`
	// Broken is the error that ended the recording before its time (a full disk),
	// where the writer could still note it.
	Broken string `json:"broken,omitempty"`
	// Files are what it was made of where it is not of a live host (snag read).
	Files []File `json:"files,omitempty"`
	// Parts tell apart what is of several hosts, or of times that do not overlap.
	Parts []Part `json:"parts,omitempty"`
	// Clock is how the host's times compare with those of the recording's other hosts
	// (snag read); nil: nothing tells.
	Clock *HostClock `json:"clock,omitempty"`
	// Step is how far apart the values of a series and the rows of a process lie, s, where
	// they were made fewer (snag record: what is old); 0: as they were measured.
	Step float64 `json:"step_seconds,omitempty"`
	// Notes are what to know before the rest is trusted, a sentence each: how files
	// were joined, and what could not be told of them.
	Notes []string `json:"notes,omitempty"`
}

// Written counts what a recording holds.
type Written struct {
	Series  int            `json:"series"`
	Samples uint64         `json:"samples"`
	Rows    map[string]int `json:"rows"` // by table
}

// Recording is all that a host said in a window of time: the one thing that the
// steps of snag hand to each other. Tables are in order of time.
type Recording struct {
	Dir            string
	Manifest       Manifest
	Series         []Series
	Events         []Event
	Coverage       []Coverage
	Processes      []Process
	Exits          []Exit
	Threads        []Thread
	Sockets        []Socket
	Drops          []Drop
	Stacks         []Stack
	Connections    []Connections
	Resets         []Reset
	Retransmits    []Retransmit
	Holds          []Hold
	Turns          []Turns
	Flows          []Flow
	Handshakes     []Handshakes
	Segments       []Segment
	SIPCalls       []SIPCall
	Ports          []Ports
	HalfOpen       []HalfOpen
	CallErrors     []CallError
	Queries        []Queries
	Libraries      []Library
	Profile        []ProfileRow
	LogFiles       []LogFile
	OnCPU          []OnCPU
	Loops          []Loop
	ThreadStates   []ThreadStates
	OffCPU         []OffCPU
	LockWaits      []LockWait
	Calls          []Call
	FDs            []FD
	Qdiscs         []Qdisc
	Links          []Link
	NICs           []NIC
	Queues         []Queue
	IRQs           []IRQ
	Netns          []Netns
	Routes         []Route
	Neighbours     []Neighbour
	Rules          []Rule
	Cgroups        []Cgroup
	Streams        []Stream
	StreamHops     []StreamHop
	StreamFiles    []StreamFile
	Facts          []Fact
	Requests       []Request
	RequestSeconds []RequestSecond
	Loads          []Load
	LoadSeconds    []LoadSecond
	Experiments    []Experiment
	// Damage lists what could not be read, a sentence each; the rest is judged.
	Damage []string
	// Baseline is a recording of a good time or a good host that this one is to be
	// compared with (--baseline); nil for none. It is not part of the recording.
	Baseline *Recording
	// Earlier are times of the same host before this one, as a recorder has them. Unlike those of
	// Baseline nobody says that they were good. They are no part of the recording.
	Earlier []*Recording
	// Parts are the recording's parts where there are two or more
	// (Manifest.Parts), each a recording of one host at one time, to be judged by
	// itself. The tables and series above then show all parts together, series with
	// the label host.
	Parts []*Recording
}

// Window is the span that was recorded.
func (r *Recording) Window() Interval { return Interval{r.Manifest.Start, r.Manifest.End} }

// Length of the window.
func (r *Recording) Length() time.Duration { return r.Manifest.End.Sub(r.Manifest.Start) }

// FactOf returns a fact's last value in that namespace (0: the host's), and
// whether it was read at all.
func (r *Recording) FactOf(name string, netns uint64) (string, bool) {
	for i := len(r.Facts) - 1; i >= 0; i-- {
		if r.Facts[i].Name == name && r.Facts[i].Netns == netns {
			return r.Facts[i].Value, true
		}
	}
	return "", false
}

// Add puts a row into its table; the writer's counterpart in memory. A coverage
// row takes the place of its probe's earlier one.
func (r *Recording) Add(row Row) {
	if c, ok := row.(Coverage); ok {
		for i := range r.Coverage {
			if r.Coverage[i].Probe == c.Probe {
				r.Coverage[i] = c
				return
			}
		}
	}
	for _, t := range tables {
		if t.add(r, row) {
			return
		}
	}
}

// Sink takes what probes measure. Its methods never block on the disk for long
// and never fail towards the probe: a writer keeps its first error and tells
// whoever drives the recording (Writer.Err). Safe for concurrent use.
type Sink interface {
	// Sample adds one value of a counter or gauge, read at t.
	Sample(t Time, name string, labels Labels, v float64)
	// Append adds a row to its table, an event or a coverage row (the last
	// coverage row of a probe counts).
	Append(row Row)
}
