package drawn

import (
	"regexp"
	"slices"
	"strings"

	"snag/lab"
)

// Blamed is what one answer on a stream's fault is worth.
type Blamed string

// The values. A viewer alone is right as long as it says nothing that is wrong.
const (
	Right  Blamed = "right"
	Silent Blamed = "silent" // nobody was named
	Wrong  Blamed = "wrong"
)

// Blame is what was said of one run: by snag find, by snag watch --host, and by snag watch
// as a viewer alone.
type Blame struct {
	Key   string `json:"key"`
	Fault string `json:"fault"` // family/fault
	// Seen: the viewer saw the stream freeze, end, be refused, late, slow or incomplete.
	// What is not seen needs no blame.
	Seen   bool   `json:"seen"`
	Find   Blamed `json:"find"`
	Host   Blamed `json:"host"`
	Viewer Blamed `json:"viewer"`
	// FindSaid and HostSaid are whom they named; ViewerSaid is what it said wrongly.
	FindSaid   string `json:"find_said,omitempty"`
	HostSaid   string `json:"host_said,omitempty"`
	ViewerSaid string `json:"viewer_said,omitempty"`
	// More culprits of snag find that are neither this fault nor what it brings with it.
	More []string `json:"more,omitempty"`
}

// hurts are the events that make a stream one that needs a culprit.
var hurts = []string{"freeze", "ended", "refused", "late", "slow", "skipped"}

// BlameOf compares what was said of a run with its truth.
func BlameOf(k Kept, find lab.Answer) (Blame, error) {
	t, err := k.Parts[0].Truth.compile(k.Key, k.Parts[0].Family)
	if err != nil {
		return Blame{}, err
	}
	b := Blame{Key: k.Key, Fault: k.Parts[0].Family + "/" + t.Fault, Find: Silent, Host: Silent, Viewer: Right}
	for _, kind := range k.Heard.Saw {
		b.Seen = b.Seen || slices.Contains(hurts, kind)
	}
	for _, e := range find.Culprits() {
		name := e.Suspect + " on " + e.Subject.Short()
		if b.Find == Silent && ofStream(e) { // the first of them
			b.FindSaid, b.Find = name, Wrong
			if t.is(e) {
				b.Find = Right
			}
		}
		if !e.Elsewhere && !t.accepts(e) {
			b.More = append(b.More, name)
		}
	}
	for _, v := range k.Heard.Host {
		if v.Culprit == "" || b.Host == Wrong {
			continue
		}
		b.HostSaid, b.Host = v.Culprit+" on "+v.Subject.Short(), Wrong
		if t.is(lab.AnswerEntry{Suspect: v.Culprit, Subject: v.Subject}) {
			b.Host = Right
		}
	}
	for _, said := range k.Heard.Said {
		if slices.ContainsFunc(claims, func(c claim) bool { return c.wrong(said, t) }) {
			b.Viewer, b.ViewerSaid = Wrong, said
		}
	}
	return b, nil
}

// ofStream: it is named for what the stream that was asked for suffers.
func ofStream(e lab.AnswerEntry) bool {
	return !e.Elsewhere && slices.ContainsFunc(e.LeadsTo, func(name string) bool { return strings.HasPrefix(name, "stream-") || name == "frames-skipped" })
}

// claim is what a viewer may say of a place, and where the fault must not be if it does.
type claim struct {
	says  *regexp.Regexp
	never []Place
	// restarts: it is true only of faults after which another publisher came.
	restarts bool
}

var claims = []claim{
	{says: regexp.MustCompile("not one encoder"), never: []Place{AtEncoder}},
	{says: regexp.MustCompile("the way to snag, or snag's own host"), never: []Place{AtEncoder, OnUplink, AtServer}},
	{says: regexp.MustCompile("what it does not share with the others"), never: []Place{AtServer}},
	{says: regexp.MustCompile("an encoder by its capture clock stopped, or it skipped"), never: []Place{AtReader}},
	{says: regexp.MustCompile("a slow encoder, or a link that is too narrow"), never: []Place{AtServer, AtReader}},
	{says: regexp.MustCompile("an encoder that (paused|can't keep up)|most likely its encoder"), never: []Place{OnUplink, AtServer, AtReader}},
	{says: regexp.MustCompile("the sender was restarted, or another took its place"), restarts: true},
}

func (c claim) wrong(said string, t truth) bool {
	if !c.says.MatchString(said) {
		return false
	}
	if c.restarts {
		return t.Account != "errors" && t.Account != "loss"
	}
	return slices.Contains(c.never, t.Place)
}
