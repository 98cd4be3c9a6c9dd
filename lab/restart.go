package lab

import (
	"fmt"
	"slices"
	"time"
)

// again is how a process was started.
type again struct {
	ns   string
	argv []string
	opts []Option
}

// Restart ends the programs of a name and starts each again where and as it was; edit
// changes the arguments, nil leaves them.
func (s *Stage) Restart(name string, edit func(argv []string) []string) {
	if s.Err() != nil {
		return
	}
	var old []*Process
	s.mu.Lock()
	for _, p := range s.procs {
		if p.Name == name && !p.ended() {
			old = append(old, p)
		}
	}
	s.mu.Unlock()
	if len(old) == 0 {
		s.fail(fmt.Errorf("lab: start %s again: there is none", name))
	}
	for _, p := range old {
		s.Stop(p)
		argv := slices.Clone(p.again.argv)
		if edit != nil {
			argv = edit(argv)
		}
		s.Run(p.again.ns, name, argv, p.again.opts...)
	}
	s.Pause(200 * time.Millisecond) // its sockets open
}

// With returns an edit for Remedy.Restart: the value after that flag.
func With(flag, value string) func([]string) []string {
	return func(argv []string) []string {
		if i := slices.Index(argv, flag); i >= 0 && i+1 < len(argv) {
			argv[i+1] = value
		}
		return argv
	}
}
