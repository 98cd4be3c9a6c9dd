package scene

import (
	"sort"

	"snag/recording"
)

// Refusal is what one process was given of one address that it asked for connections.
type Refusal struct {
	Netns          uint64
	Remote         string
	PID            int
	Comm           string
	Failed, Opened uint64
	Rows           []recording.Connections // those with failures
	// Elsewhere is another address at which the process reached the same port about as often
	// as it failed here: it tries one after the other (::1 before 127.0.0.1). nil: none.
	Elsewhere *Refusal
	// Addresses at which the process failed.
	Addresses int
	// Rate of failures a second; Serves reports that the process is asked for something itself.
	Rate   float64
	Serves bool
}

// pollRate is the most that a program asks for something that it can do without: an agent
// that looks again and again whether a service has come.
const pollRate = 1 // per second

// manyAddresses at which one process fails are a search for what listens.
const manyAddresses = 20

// Caller is the process that asked.
func (c *Refusal) Caller(s *Scene) recording.Subject {
	if p := s.Process(c.PID); p != nil {
		return p.Subject
	}
	return recording.Subject{Kind: recording.KindProcess, PID: c.PID, Comm: c.Comm, Netns: c.Netns}
}

// Searches reports whether the process looks for what listens: many addresses refuse it.
func (c *Refusal) Searches() bool { return c.Addresses > manyAddresses }

// Missed reports whether somebody misses these connections.
func (c *Refusal) Missed() bool {
	return c.Elsewhere == nil && !c.Searches() && (c.Serves || c.Rate > pollRate)
}

// Refusals are the addresses at which connections failed, by process, those with most
// failures first. Why they failed the table does not say.
func Refusals(r *recording.Recording) (out []*Refusal) {
	type key struct {
		netns  uint64
		remote string
		pid    int
	}
	by := map[key]*Refusal{}
	var all []*Refusal
	for _, row := range r.Connections {
		if row.Role != "connect" || row.Remote == "others" || row.PID != 0 && row.PID == r.Manifest.SelfPID {
			continue
		}
		k := key{row.Netns, row.Remote, row.PID}
		if by[k] == nil {
			by[k] = &Refusal{Netns: row.Netns, Remote: row.Remote, PID: row.PID, Comm: row.Comm}
			all = append(all, by[k])
		}
		c := by[k]
		c.Failed += row.Failed
		c.Opened += row.Opened
		if row.Failed > 0 {
			c.Rows = append(c.Rows, row)
		}
	}
	failedAt, byPort := map[int]int{}, map[key][]*Refusal{}
	for _, c := range all {
		port := key{c.Netns, recording.Port(c.Remote), c.PID}
		byPort[port] = append(byPort[port], c)
		if c.Failed > 0 {
			failedAt[c.PID]++
			out = append(out, c)
		}
	}
	serves := map[int]bool{}
	for _, row := range r.Turns {
		serves[row.PID] = serves[row.PID] || row.Role == "serve"
	}
	for _, c := range out {
		c.Addresses, c.Serves = failedAt[c.PID], serves[c.PID]
		if d := r.Length().Seconds(); d > 0 {
			c.Rate = float64(c.Failed) / d
		}
		for _, o := range byPort[key{c.Netns, recording.Port(c.Remote), c.PID}] {
			if o != c && 5*o.Opened >= 4*c.Failed {
				c.Elsewhere = o
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Failed > out[j].Failed })
	return out
}
