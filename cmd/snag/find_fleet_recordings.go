package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"snag/fleet/fetch"
	"snag/fleet/hosts"
	"snag/internal/cli"
	"snag/internal/private"
	"snag/internal/shown"
)

// recordedFor is how long the recordings are that the hosts are asked for. The latest seconds of a ring are not written
// yet.
const (
	recordedFor = time.Minute
	notYet      = 5 * time.Second
)

// source is where the recordings are; nil: none are fetched.
func (f *fleetFlags) source() (*fetch.Source, error) {
	if f.recordings == "" {
		if f.recordingsToken != "" || f.recordingsCA != "" {
			return nil, cli.Usage("--recordings-token-file, --recordings-ca: with --recordings")
		}
		return nil, nil
	}
	headers := http.Header{}
	if f.recordingsToken != "" {
		b, err := os.ReadFile(f.recordingsToken)
		if err != nil {
			return nil, fmt.Errorf("read the token of --recordings-token-file: %w", err)
		}
		headers.Set("Authorization", "Bearer "+strings.TrimSpace(string(b)))
	}
	s, err := fetch.New(f.recordings, headers, f.recordingsCA)
	if err != nil {
		return nil, cli.Usage("--recordings: %v", err)
	}
	return s, nil
}

// together is the verdict on what the hosts that matter recorded.
type together struct {
	names  []string
	failed []string // sentences on hosts whose recording is missing
	text   []byte   // as snag read writes it
	code   int
}

// joined fetches the recordings of the hosts that matter and judges them together, in a process of its own: they are
// other hosts' files.
func joined(ctx context.Context, f *findFlags, store hosts.Querier, from *fetch.Source, all *hosts.Fleet, causes []hosts.Cause) (*together, error) {
	matter := all.Matter(causes)
	if len(matter) == 0 {
		return nil, nil
	}
	if err := all.Locate(ctx, store, matter); err != nil {
		return nil, err
	}
	dir, err := private.New(time.Now())
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // made for this verdict
	out := &together{}
	var files []string
	for i, h := range matter {
		file := filepath.Join(dir, fmt.Sprintf("%d.snag", i))
		to := h.ByItsClock(all.At.Add(-notYet))
		if err := from.Get(ctx, h.Name, all.Addresses(h), to.Add(-recordedFor), to, file); err != nil {
			out.failed = append(out.failed, fmt.Sprintf("%s: its recording could not be fetched: %s", h.Name, shown.Text(oneLine(err))))
			continue
		}
		files = append(files, "--host="+file+"="+h.Name, file)
		out.names = append(out.names, h.Name)
	}
	if len(out.names) == 0 {
		return out, nil
	}
	keep := f.out
	if keep == "" {
		keep = filepath.Join(dir, "joined")
	}
	args := append([]string{"read", "--quiet", "--out=" + keep}, files...)
	if f.show.json {
		args = append(args, "--json")
	}
	out.text, out.code, err = readInChild(ctx, args)
	return out, err
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

func readInChild(ctx context.Context, args []string) (text []byte, code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, 0, err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	var said, wrong bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &wrong
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && (ended.ExitCode() == cli.ExitCulprit || ended.ExitCode() == cli.ExitCantTell) {
		return said.Bytes(), ended.ExitCode(), nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("judge the recordings together: %w: %s", err, shown.Cut(shown.Text(strings.TrimSpace(wrong.String())), 500))
	}
	return said.Bytes(), cli.ExitNothing, nil
}

// showJoined writes what the recordings say below what the store does.
func (t *together) write(w *os.File) error {
	var out strings.Builder
	for _, line := range t.failed {
		fmt.Fprintf(&out, "not seen   %s\n", line)
	}
	if len(t.names) > 0 {
		fmt.Fprintf(&out, "\nTHE RECORDINGS of %s, judged together:\n", strings.Join(t.names, ", "))
		out.Write(t.text)
	}
	_, err := shown.To(w).Write([]byte(out.String()))
	return err
}

// document is the same as JSON has it.
func (t *together) document(d *hosts.Document) {
	d.Joined = &hosts.Joined{Hosts: append([]string{}, t.names...), Failed: append([]string{}, t.failed...)}
	if len(t.text) > 0 {
		d.Joined.Verdict = json.RawMessage(t.text)
	}
}
