// Package ledger reports who waited, on what, and for how long. Every second that a request
// was open is booked once, to exactly one account: blocked-time analysis (Ousterhout et
// al., NSDI 2015) and the wait-for graph of wPerf (Zhou et al., OSDI 2018), applied to all
// services of a host. It decides nothing and does no I/O.
//
// The unit is the request-second: one request that is open for a second, or two for half
// a second each. By Little's law request-seconds per second are how many requests are open
// on average.
package ledger

import "snag/recording"

// Account is where a request's time goes.
type Account string

// The accounts. Path, work, sleep, call and parked are what a service consists of: long is not
// wrong there. All others are delay: avoidable by nature.
const (
	Path    Account = "path"    // the shortest round trip that was seen
	Queue   Account = "queue"   // the round trip's part above that
	Loss    Account = "loss"    // until what was lost was sent again
	Nagle   Account = "nagle"   // a small write waited for the acknowledgement of the one before
	Window  Account = "window"  // the peer's receive window was closed
	Unread  Account = "unread"  // its data lay in the socket, and nobody had read it
	Work    Account = "work"    // a thread ran for it
	CPU     Account = "cpu"     // a thread was ready to run and had no CPU
	Quota   Account = "quota"   // its control group had used up its quota
	Stopped Account = "stopped" // by a signal, a debugger or the freezer
	Pause   Account = "pause"   // the runtime stood still: a collector, a safepoint
	Memory  Account = "memory"  // a thread freed or moved memory itself before it got some, or read pages back
	Lock    Account = "lock"    // of the program
	Disk    Account = "disk"    // a device, or the file system
	Kernel  Account = "kernel"  // locks and memory of the kernel
	Pipe    Account = "pipe"    // another process' bytes, or room for its own
	Sleep   Account = "sleep"   // a timer
	Call    Account = "call"    // another service's answer
	Write   Account = "write"   // room in a peer's buffer
	Child   Account = "child"   // a process that it started
	Parked  Account = "parked"  // nobody works, calls or sleeps for it: a long poll, a subscription
	Unseen  Account = "unseen"  // no probe saw it; never spread over the others
)

// Delay reports whether time in an account is avoidable by nature, and felt from the first
// second on.
func (a Account) Delay() bool {
	switch a {
	case Path, Work, Sleep, Call, Parked, Child, Unseen:
		return false
	}
	return true
}

var words = map[Account]string{
	Path:    "on the way",
	Queue:   "in queues on the way",
	Loss:    "until what was lost was sent again",
	Nagle:   "delayed by Nagle's algorithm",
	Window:  "before a closed window",
	Unread:  "unread in the socket",
	Work:    "computing",
	CPU:     "waiting for a CPU",
	Quota:   "throttled by its quota",
	Stopped: "stopped",
	Pause:   "in pauses of its runtime",
	Memory:  "waiting for memory",
	Lock:    "waiting for a lock",
	Disk:    "waiting for a disk",
	Kernel:  "waiting in the kernel",
	Pipe:    "waiting for a pipe",
	Sleep:   "sleeping",
	Call:    "waiting for an answer",
	Write:   "waiting for a peer to read",
	Child:   "waiting for a child process",
	Parked:  "open, and no thread of it works on them",
	Unseen:  "not seen",
}

// Words are what an account is called after a share of the time: "83 % waiting for a lock".
func (a Account) Words() string { return words[a] }

// Role is what a party's requests are to it.
type Role string

// The roles.
const (
	Serves Role = "serve" // a listener, which is asked
	Calls  Role = "call"  // whoever asks a destination
)

// Entry is what was booked to one account.
type Entry struct {
	Account Account
	// Where the time continues: the address called, the lock, the descriptor's file; "" is
	// the party itself.
	Where string
	// Seconds are request-seconds of the window; InLine of them had no thread of their own:
	// all that work were busy with others.
	Seconds, InLine float64
	// Looks that it rests on; 0: exact counters.
	Looks uint64

	// pool is how many connections there are at most, for one of which all that waits in line
	// waits; 0: it waits for something else.
	pool int
}

// Party is who can be hurt: a service, or who calls one.
type Party struct {
	Role    Role
	Subject recording.Subject
	PIDs    []int
	Address string // that is asked, of a caller
	// Answered requests, and what their time was, seconds.
	Answered            uint64
	Rate                float64 // per second
	Mean, P50, P99, Max float64
	waiting             uint64 // requests that had no answer at the end
	// Oldest is the age of the oldest request that was seen open, s.
	Oldest float64
	// Failed answers, and what they were; those that nobody asked for are none of Answered.
	Failed   uint64
	FailedAs string
	// Free is how many of the threads that take its requests waited for work at a moment, on
	// average: of a pool, by what they were found in at other times.
	Free float64
	// Usual is what its answers took in the recording of a better time, or may take; nil where
	// nobody said.
	Usual *Usual
	// Demand is all request-seconds of the window, and Open how many requests were open on
	// average. Entries add up to Demand, the greatest first.
	Demand, Open float64
	Entries      []Entry
	// Strangers have connections of it, and nobody looked at their threads.
	Strangers Strangers

	local    string          // where it is asked, of a service
	netns    string          // the name of its network namespace
	from     uint64          // the network namespace of who calls
	answers  map[int]uint64  // by the second in which they ended
	failures map[int]uint64  // of them
	open     map[int]float64 // request-seconds of each second
	hist     []uint64        // and by how long they took
	at       int             // the second that is being booked
	delayed  map[int]float64 // by second; nil where time was booked for the whole window
}

// Ledger is all parties of a recording, those with the most open requests first.
type Ledger struct {
	Window  recording.Interval
	Parties []*Party
	// Unknown are those of whose requests too many were not seen: they have no figures.
	Unknown []*Party
	// Felt are the delays that whoever waits for a party would notice, those that hold up
	// most first.
	Felt []Delay
	// Faint are delays that people would notice too. A busy machine causes the like, so they count
	// only where a cause is proved by other evidence.
	Faint []Delay

	// Loads are snag's own, which asked services while the host was recorded.
	Loads []Load

	// Pools of connections to others for which requests waited.
	Pools []Pool
	// Helpers are those that took time of requests.
	Helpers []*Helpers
	// Alone are the threads that make calls, and never two at once; Taken those that are all in one.
	Alone, Taken []Callers

	called map[string]*Party // services of this host, by the addresses at which they are called
}

// Of returns what was booked to an account, request-seconds.
func (p *Party) Of(a Account) (seconds float64) {
	for _, e := range p.Entries {
		if e.Account == a {
			seconds += e.Seconds
		}
	}
	return seconds
}

// Share is the part of the party's demand that an account has, 0 to 1.
func (p *Party) Share(a Account) float64 {
	if p.Demand == 0 {
		return 0
	}
	return p.Of(a) / p.Demand
}

// Delayed are the request-seconds that were delay.
func (p *Party) Delayed() (seconds float64) {
	for _, e := range p.Entries {
		if e.Account.Delay() {
			seconds += e.Seconds
		}
	}
	return seconds
}
