package fleet

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Want is the cause that is right.
type Want struct {
	Host     string   // "": none of the fleet's, but the server that Subject names
	Suspects []string // any of them
	Subject  string   // regular expression
}

// Document is what the mark needs of snag find --fleet --json (docs/fleet.md).
type Document struct {
	Standing string
	Warnings []string
	Causes   []Cause
	Hosts    []struct{ Name, State string }
}

// Cause is one of its causes.
type Cause struct {
	Host, Suspect, Subject, Server string
	Victims                        []struct{ Host string }
}

// accuses: it names somebody, and does not only say that a host is affected.
func (c Cause) accuses() bool { return c.Suspect != "" || c.Host == "" && c.Server != "" }

func (c Cause) String() string {
	text := strings.TrimSpace(c.Suspect + " " + c.Subject)
	switch {
	case c.Host == "":
		text = "server " + c.Server
	case text == "":
		text = "nothing proved"
	}
	if c.Host != "" {
		text = c.Host + ": " + text
	}
	return fmt.Sprintf("%s (%d affected)", text, len(c.Victims))
}

// Mark is how an answer compares with the truth.
type Mark struct {
	Host    bool `json:"host"`    // the first that is accused is at the right host
	Right   bool `json:"right"`   // and is what was broken
	Accused int  `json:"accused"` // how many others are accused
}

// MarkOf compares an answer; a nil want is a fleet in which nothing is broken.
func MarkOf(want *Want, d Document) Mark {
	var m Mark
	accused := slices.DeleteFunc(slices.Clone(d.Causes), func(c Cause) bool { return !c.accuses() })
	for n, c := range accused {
		switch {
		case want == nil || !want.is(c):
			m.Accused++
		case n == 0:
			m.Right = true
		}
		if want != nil && n == 0 {
			m.Host = c.Host == want.Host
		}
	}
	return m
}

// is reports whether a cause is the right one.
func (w Want) is(c Cause) bool {
	subject := c.Subject
	if c.Host == "" {
		subject = c.Server
	}
	return c.Host == w.Host && slices.Contains(w.Suspects, c.Suspect) && regexp.MustCompile(w.Subject).MatchString(subject)
}

// parseCPUTime reads utime and stime of /proc/PID/stat, seconds.
func parseCPUTime(stat string) (float64, error) {
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 13 {
		return 0, fmt.Errorf("lab: /proc/PID/stat %q: too few fields", stat)
	}
	user, err := strconv.ParseFloat(f[11], 64)
	if err != nil {
		return 0, fmt.Errorf("lab: /proc/PID/stat: %w", err)
	}
	system, err := strconv.ParseFloat(f[12], 64)
	if err != nil {
		return 0, fmt.Errorf("lab: /proc/PID/stat: %w", err)
	}
	return (user + system) / 100, nil
}
