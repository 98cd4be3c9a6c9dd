package pyclient

import (
	"fmt"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Sessions are connections of another program, which does something that the service's
// clients must put up with.
type Sessions struct {
	Protocol, To string
	Conns        int           // 0 is one
	Every        time.Duration // the last statement again and again; 0: once
	Do           []string      // statements, in the words of the protocol
}

// Hold starts the program. It keeps no log: nobody asks for its figures.
func Hold(b *drawn.Bench, ns, name string, s Sessions) *lab.Process {
	dir, err := unpack(b.Dir())
	if err != nil {
		return b.Fail(name, err)
	}
	argv := []string{Python, filepath.Join(dir, "session.py"), s.Protocol, "--comm", name, "--to", s.To,
		"--conns", fmt.Sprint(max(1, s.Conns)), "--every", fmt.Sprint(s.Every.Seconds())}
	return b.Run(ns, name, append(argv, s.Do...), lab.MayEnd())
}

// SwitchSessions makes the fault of that name such sessions.
func SwitchSessions(b *drawn.Bench, fault, ns, name string, s Sessions) {
	var p *lab.Process
	b.Switch(fault, func() { p = Hold(b, ns, name, s) }, func() { b.Stop(p) })
}
