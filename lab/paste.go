package lab

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Pasted is a command line that was run.
type Pasted struct {
	Exit    int
	Seconds float64
	Output  string // its last lines
}

// mostPaste is how long a pasted command may take.
const mostPaste = 20 * time.Second

// Paste runs a command line by bash where snag find ran beside these stages, as a person
// would who copies it from the verdict.
func Paste(all []*Stage, command string) (Pasted, error) {
	s, begin := all[0], time.Now()
	p := s.Run(stages(all).findAt(), "paste", []string{"bash", "-c", command}, MayEnd())
	if err := s.Err(); err != nil {
		return Pasted{}, err
	}
	select {
	case <-p.done:
	case <-s.ctx.Done():
		return Pasted{}, s.ctx.Err()
	case <-time.After(mostPaste):
		s.Stop(p)
		return Pasted{}, fmt.Errorf("lab: %q has not ended in %v", command, mostPaste)
	}
	return Pasted{Exit: p.state.ExitCode(), Seconds: time.Since(begin).Seconds(), Output: p.tail()}, nil
}

// Outside says what a command line would change that does not go away, or is put back, with
// these stages; "" for nothing.
func Outside(all []*Stage, command string) string {
	r := reach{at: stages(all).findAt()}
	for _, s := range all {
		s.mu.Lock()
		made := slices.Clone(s.made)
		s.mu.Unlock()
		r.pids = append(r.pids, ours(s.token(), made)...)
		for _, it := range made {
			switch it.Kind {
			case kindNetns:
				r.namespaces = append(r.namespaces, it.Path)
			case kindCgroup:
				r.groups = append(r.groups, it.Path)
			case kindSetting:
				r.settings = append(r.settings, it.Path)
			}
		}
	}
	for _, part := range outsideQuotes(command, " && ") {
		if why := r.outside(part); why != "" {
			return why
		}
	}
	return ""
}

// outsideQuotes splits a command line where the separator does not stand in single quotes.
func outsideQuotes(line, by string) (parts []string) {
	quoted, from := false, 0
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\'':
			quoted = !quoted
		case !quoted && strings.HasPrefix(line[i:], by):
			parts = append(parts, line[from:i])
			from = i + len(by)
		}
	}
	return append(parts, line[from:])
}
