package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// result is what was found of one file.
type result struct {
	Path   string
	Format string // "" where snag knows none
	Error  string // of snag: its message; "panic" and "timeout" are faults
	// Snag and Peer are the classes that each saw; Peer is nil where no other program reads
	// the file.
	Snag, Peer map[string]bool
	Culprits   []string
	Standing   string
	// Numbers that both have: pauses and their seconds, samples.
	Compared []compared
}

// compared is one number of both.
type compared struct {
	What, With string
	Snag, Peer float64
}

// equal reports whether two numbers agree to within one in a hundred.
func (c compared) equal() bool {
	d := math.Abs(c.Snag - c.Peer)
	return d == 0 || d <= 0.01*c.Peer || c.What == "seconds" && d <= 0.0005 // snag's are rounded to 1 ms
}

// document is what is read of snag's JSON (docs/json.md).
type document struct {
	Standing string `json:"standing"`
	Files    []struct {
		Format string `json:"format"`
	} `json:"files"`
	Symptoms []struct {
		Name string `json:"name"`
		Text string `json:"text"`
	} `json:"symptoms"`
	Verdict []struct {
		Suspect string `json:"suspect"`
		State   string `json:"state"`
		Subject string `json:"subject"`
		Text    string `json:"text"`
	} `json:"verdict"`
}

// classes of harm, in the order of the table.
var classes = []string{"unanswered", "refused", "server silent", "window closed", "reset", "loss", "reordering"}

// saidBy tells the classes of captures that a document reports. Loss and reordering count where the
// table of connections has them, whether or not they hurt, and where their suspect is spoken of and
// not cleared; the others are symptoms.
func saidBy(d *document) map[string]bool {
	out := map[string]bool{}
	for _, s := range d.Symptoms {
		for class, words := range map[string]string{"unanswered": " SYNs, over up to ", "refused": " were refused", "server silent": "had no answer for", "window closed": "offered no window", "reset": "were reset by"} {
			if strings.Contains(s.Text, words) {
				out[class] = true
			}
		}
		if strings.HasSuffix(s.Text, "got no answer: a reset ended their connection") {
			out["reset"] = true
		}
	}
	for _, e := range d.Verdict {
		switch e.State {
		case "culprit", "consequence", "contributing", "risk":
			if strings.Contains(e.Text, "offered no window") {
				out["window closed"] = true
			}
			switch e.Suspect {
			case "packet-loss", "pmtu-blackhole":
				out["loss"] = true
			case "packet-reordering":
				out["reordering"] = true
			}
		}
	}
	return out
}

// counted adds loss and reordering by what the recording's table of flows counts, from as much on as
// with tshark.
func counted(recording string, out map[string]bool) {
	text, err := os.ReadFile(filepath.Join(recording, "tables", "flows.jsonl"))
	if err != nil {
		return // no capture
	}
	type way struct{ Packets, Resent, Needless, Reordered uint64 }
	var lost, late, all float64
	for line := range bytes.Lines(text) {
		var f struct {
			Proto    string
			Up, Down way
		}
		if json.Unmarshal(line, &f) != nil || f.Proto != "tcp" {
			continue
		}
		for _, w := range []way{f.Up, f.Down} {
			lost, late, all = lost+float64(w.Resent)-float64(w.Needless), late+float64(w.Reordered), all+float64(w.Packets)
		}
	}
	out["loss"] = out["loss"] || lost >= fewSegments && lost >= fewOfAll*all
	out["reordering"] = out["reordering"] || late >= fewSegments && late >= fewOfAll*all
}

// study reads one file with snag and with what else reads it.
func study(ctx context.Context, o options, path string) result {
	r := result{Path: path}
	dir, err := os.MkdirTemp("", "filestudy-")
	if err != nil {
		r.Error = err.Error()
		return r
	}
	defer os.RemoveAll(dir)
	recording := filepath.Join(dir, "recording")
	out, message, err := command(ctx, o.limit, o.snag, "read", "-q", "--json", "--out", recording, path)
	var exit *exec.ExitError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		r.Error = "timeout"
		return r
	case bytes.Contains(message, []byte("goroutine ")):
		r.Error = "panic: " + firstLine(message)
		return r
	case err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 10 && exit.ExitCode() != 11):
		r.Error = firstLine(message)
		return r
	}
	var d document
	if err := json.Unmarshal(out, &d); err != nil {
		r.Error = fmt.Sprintf("its JSON: %v", err)
		return r
	}
	r.Standing = d.Standing
	if len(d.Files) > 0 {
		r.Format = d.Files[0].Format
	}
	for _, e := range d.Verdict {
		if e.State == "culprit" {
			r.Culprits = append(r.Culprits, e.Suspect+" "+e.Subject)
		}
	}
	r.Snag = saidBy(&d)
	counted(recording, r.Snag)
	compare(ctx, o, &r, recording)
	return r
}

// compare asks the programs that are made for a file's kind.
func compare(ctx context.Context, o options, r *result, recording string) {
	switch r.Format {
	case "pcap":
		if o.peers != nil {
			r.Peer = o.peers[r.Path]
		} else if peer, ok := byTshark(ctx, o, r.Path); ok {
			r.Peer = peer
		}
	case "gclog":
		r.Compared = byGCViewer(ctx, o, r.Path, recording)
	case "perf script":
		r.Compared = byInferno(ctx, o, r.Path, recording)
	}
}

// command runs a program, and gives what it printed on both outputs.
func command(ctx context.Context, limit time.Duration, name string, args ...string) (out, message []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	c.WaitDelay = time.Second
	err = c.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return stdout.Bytes(), stderr.Bytes(), err
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return line
}
