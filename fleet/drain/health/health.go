// Package health is whether a step of a drain hurts: what hosts' recorders, watched streams and checks say now, beside
// what they said before the step. Compare is pure; asking is in look.go.
package health

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

// Host is one of the store's hosts as its recorder sees it.
type Host struct {
	Affected bool      `json:"affected,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	Symptoms []string  `json:"symptoms,omitempty"` // "name of subject"
	Culprit  string    `json:"-"`
	Unseen   string    `json:"unseen,omitempty"` // why nothing is known of it now
}

// Baseline are the hosts as they were before a step, by their names.
type Baseline map[string]Host

// Unseen counts the hosts that nothing is known of now.
func (b Baseline) Unseen() (n int) {
	for _, h := range b {
		if h.Unseen != "" {
			n++
		}
	}
	return n
}

// Stream is a watched stream.
type Stream struct {
	Name, Server string // Server is the address that it is read from, HOST:PORT as the URL has it
	Comes        bool
	Starting     bool // nothing is known of it yet
	State        string
	Why          string
	// Broke is when it last froze or ended; zero: not since it is watched.
	Broke time.Time
}

// Check is an outcome of a check.
type Check struct {
	Name   string
	Failed string // why; "": it succeeded
	Late   string // why nothing is known; "": it answered
}

// Seen is all that was seen at one look.
type Seen struct {
	At      time.Time
	Fleet   Baseline // nil: none is asked
	NoFleet string   // why the store's answer is not known; "": it is
	Streams []Stream
	Checks  []Check
}

// Outcome is what a look comes to. Neither hurt nor unknown is healthy.
type Outcome struct {
	Hurt    []string // evidence that the step hurts
	Unknown []string // what is not known, and so not healthy
}

// Healthy reports whether all was seen and nothing hurts.
func (o Outcome) Healthy() bool { return len(o.Hurt) == 0 && len(o.Unknown) == 0 }

// Out are the peers that are out of service, or have just come back.
type Out struct {
	Hosts, Addresses map[string]bool // out of service: left out
	Back             map[string]bool // hosts that came back in this batch: their incidents have to end
	BackAddresses    map[string]bool
}

// Compare says what hurts since a step began. What was so before it began is no harm of its.
func Compare(before Baseline, begun time.Time, now Seen, out Out) (o Outcome) {
	if now.NoFleet != "" {
		o.Unknown = append(o.Unknown, now.NoFleet)
	}
	for _, name := range sorted(now.Fleet) {
		if !out.Hosts[name] {
			o.host(name, before, now.Fleet[name], out.Back[name])
		}
	}
	for _, name := range sorted(before) {
		if _, there := now.Fleet[name]; !there && now.Fleet != nil && !out.Hosts[name] {
			o.Unknown = append(o.Unknown, fmt.Sprintf("host %s is no longer in the store", name))
		}
	}
	for _, s := range now.Streams {
		if !out.Addresses[s.Server] {
			o.stream(s, begun, out.BackAddresses[s.Server])
		}
	}
	for _, c := range now.Checks {
		switch {
		case c.Late != "":
			o.Unknown = append(o.Unknown, fmt.Sprintf("check %s: %s", c.Name, c.Late))
		case c.Failed != "":
			o.Hurt = append(o.Hurt, fmt.Sprintf("check %s fails: %s", c.Name, c.Failed))
		}
	}
	return o
}

func (o *Outcome) host(name string, before Baseline, h Host, back bool) {
	was, known := before[name]
	switch {
	case h.Unseen != "" && known && was.Unseen != "":
		return // so it was before: the first look says it
	case h.Unseen != "":
		o.Unknown = append(o.Unknown, fmt.Sprintf("host %s: %s", name, h.Unseen))
		return
	case !h.Affected:
		return
	}
	var evidence string
	switch {
	case !was.Affected:
		evidence = fmt.Sprintf("host %s is affected%s", name, because(h))
	case h.Since.After(was.Since):
		evidence = fmt.Sprintf("host %s is affected again%s", name, because(h))
	default:
		for _, s := range h.Symptoms {
			if !slices.Contains(was.Symptoms, s) {
				evidence = fmt.Sprintf("host %s is worse: %s is new", name, s)
				break
			}
		}
	}
	switch {
	case evidence == "":
	case back: // its incident began while it was restarted, and ends some time after
		o.Unknown = append(o.Unknown, evidence+", after its restart")
	default:
		o.Hurt = append(o.Hurt, evidence)
	}
}

func because(h Host) (text string) {
	if !h.Since.IsZero() {
		text = " since " + h.Since.UTC().Format("15:04:05 UTC")
	}
	if len(h.Symptoms) > 0 {
		text += ": " + h.Symptoms[0]
	}
	if h.Culprit != "" {
		text += " (" + h.Culprit + ")"
	}
	return text
}

func (o *Outcome) stream(s Stream, begun time.Time, back bool) {
	why := s.State
	if s.Why != "" {
		why += ": " + s.Why
	}
	switch {
	case s.Starting, back && !s.Comes:
		o.Unknown = append(o.Unknown, fmt.Sprintf("stream %s does not come yet (%s)", s.Name, why))
	case !s.Comes:
		o.Hurt = append(o.Hurt, fmt.Sprintf("stream %s is %s", s.Name, why))
	case s.Broke.After(begun) && !back:
		o.Hurt = append(o.Hurt, fmt.Sprintf("stream %s froze or ended at %s, and comes again", s.Name, s.Broke.UTC().Format("15:04:05 UTC")))
	}
}

func sorted(all Baseline) []string {
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// First is what is wrong before anything was done: a drain must not begin with what it could not see getting worse.
// out are peers that an interrupted drain left out of service.
func First(now Seen, out Out) (o Outcome, notes []string) {
	o = Compare(now.Fleet, now.At, now, out)
	if n := now.Fleet.Unseen(); n > 0 && n == len(now.Fleet) {
		o.Unknown = append(o.Unknown, "no host of the store is seen: their recorders are paused or send nothing")
	}
	for _, name := range sorted(now.Fleet) {
		switch h := now.Fleet[name]; {
		case h.Unseen != "":
			notes = append(notes, fmt.Sprintf("host %s is not seen: %s", name, h.Unseen))
		case h.Affected:
			notes = append(notes, fmt.Sprintf("host %s is affected already%s", name, because(h)))
		}
	}
	return o, notes
}
