package main

import (
	"bytes"
	"sync"
	"time"
)

// output is what a reader writes: when its first figures came, and snag's last summary.
type output struct {
	began time.Time

	mu   sync.Mutex
	took time.Duration
	last string
}

// Write takes it, and keeps no more.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	// snag's own words before any stream was read are no figure.
	if o.took == 0 && len(bytes.TrimSpace(b)) > 0 && (bytes.Contains(b, []byte("first frame")) || !bytes.Contains(b, []byte("snag"))) {
		o.took = time.Since(o.began)
	}
	for line := range bytes.Lines(b) {
		if bytes.Contains(line, []byte("; snag: ")) { // the line's time before it, what snag itself costs after it
			_, text, _ := bytes.Cut(line, []byte("  "))
			text, _, _ = bytes.Cut(text, []byte(";"))
			o.last = string(text)
		}
	}
	return len(b), nil
}

func (o *output) first() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.took
}

func (o *output) summary() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}
