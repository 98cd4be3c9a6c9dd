package main

import (
	"fmt"
	"io"
	"os"
	"snag/internal/shown"
	"sync"
	"time"
)

// progress is the line that shows the seconds left, and the first of each thing
// that is seen. Off a terminal only the latter is written, a line each.
type progress struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	quiet    bool
	ends     string // what Ctrl-C does
	shown    bool
}

func newProgress(f *os.File, quiet bool) *progress {
	return &progress{w: f, terminal: isTerminal(f), quiet: quiet, ends: "judges"}
}

func (p *progress) tick(left time.Duration) {
	p.line(fmt.Sprintf("recording: %d s left (Ctrl-C %s now)", int(left.Round(time.Second).Seconds()), p.ends))
}

// line replaces the line that shows how far it is, on a terminal.
func (p *progress) line(text string) {
	if p.quiet || !p.terminal {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.w, "\r\x1b[K%s", shown.Text(text))
	p.shown = true
}

func (p *progress) notice(text string) { p.say("seen: " + text) }

// say writes a line with its time.
func (p *progress) say(text string) {
	if p.quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
	fmt.Fprintf(p.w, "%s  %s\n", time.Now().UTC().Format("15:04:05"), shown.Text(text))
}

func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
