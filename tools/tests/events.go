package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os/exec"
	"sync"
)

// An event is one of `go test -json`.
type event struct {
	Action  string
	Package string
	Test    string  `json:",omitempty"`
	Output  string  `json:",omitempty"`
	Elapsed float64 `json:",omitempty"`
}

// events prints whole lines, of several programs at a time.
type events struct {
	sync.Mutex
	out io.Writer
}

func (e *events) line(b []byte) {
	e.Lock()
	defer e.Unlock()
	_, _ = e.out.Write(append(b, '\n'))
}

func (e *events) send(all ...event) {
	for _, v := range all {
		if b, err := json.Marshal(v); err == nil {
			e.line(b)
		}
	}
}

// copy prints the lines that a program prints, but those that keep wants for itself.
func (e *events) copy(cmd *exec.Cmd, keep func(event) bool) error {
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	done := make(chan struct{})
	go func() {
		defer close(done)
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadBytes('\n')
			if n := len(line); n > 0 {
				if line[n-1] == '\n' {
					line = line[:n-1]
				}
				var v event
				if keep == nil || json.Unmarshal(line, &v) != nil || !keep(v) {
					e.line(line)
				}
			}
			if err != nil {
				return
			}
		}
	}()
	err := cmd.Run()
	_ = w.Close()
	<-done
	return err
}
