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
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"snag/fleet/fetch"
	"snag/fleet/hosts"
	"snag/internal/cli"
	"snag/internal/private"
	"snag/internal/shown"
	"snag/internal/units"
)

// source is where the recordings are; nil: none are fetched.
func (f *fleetFlags) source() (*fetch.Source, error) {
	if f.recordings == "" {
		if f.recordingsToken+f.recordingsCA+f.recordingsCert+f.recordingsKey != "" {
			return nil, cli.Usage("--recordings-token-file, --recordings-ca, --recordings-cert, --recordings-key: with --recordings")
		}
		return nil, nil
	}
	if (f.recordingsCert == "") != (f.recordingsKey == "") {
		return nil, cli.Usage("--recordings-cert and --recordings-key: name both, the certificate and its key")
	}
	headers := http.Header{}
	if f.recordingsToken != "" {
		b, err := os.ReadFile(f.recordingsToken)
		if err != nil {
			return nil, fmt.Errorf("read the token of --recordings-token-file: %w", err)
		}
		headers.Set("Authorization", "Bearer "+strings.TrimSpace(string(b)))
	}
	s, err := fetch.New(f.recordings, fetch.Access{Headers: headers, CA: f.recordingsCA, Cert: f.recordingsCert, Key: f.recordingsKey}, cutInChild)
	if err != nil {
		return nil, cli.Usage("--recordings: %v", err)
	}
	return s, nil
}

// checkOut rejects a folder that what is joined can't go to, before anybody is asked.
func (f *findFlags) checkOut(from *fetch.Source) error {
	if f.out == "" {
		return nil
	}
	if from == nil {
		return cli.Usage("--out: with --fleet it keeps what --recordings fetches")
	}
	switch all, err := os.ReadDir(f.out); {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--out: %w", err)
	case len(all) > 0:
		return cli.Usage("--out %s: the folder is not empty: name a new one", f.out)
	}
	return nil
}

// together is the verdict on what the hosts that matter recorded.
type together struct {
	names  []string // of the hosts whose recordings were judged
	failed []string // sentences on hosts whose recording is missing, and on what else failed
	text   []byte   // as snag read writes it
	code   int
}

// joined fetches the recordings of the hosts that matter and judges them together, in processes of their own without
// privileges: they are other hosts' files. What goes wrong is said in the answer, and takes nothing from the store's.
func (f *findFlags) joined(ctx context.Context, store hosts.Querier, from *fetch.Source, all *hosts.Fleet, causes []hosts.Cause) *together {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM) // so that the folder is removed
	defer stop()
	out := &together{}
	if err := f.join(ctx, store, from, all, causes, out); err != nil {
		out.failed = append(out.failed, shown.Text(oneLine(err)))
	}
	return out
}

func (f *findFlags) join(ctx context.Context, store hosts.Querier, from *fetch.Source, all *hosts.Fleet, causes []hosts.Cause, out *together) error {
	matter := all.Matter(causes)
	if len(matter) == 0 {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, mostFleet)
	defer cancel()
	if err := all.Locate(asking, store, matter); err != nil {
		return fmt.Errorf("the hosts' addresses: %w", err)
	}
	dir, err := private.New(time.Now())
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // made for this verdict
	var args []string
	for _, one := range fetchAll(ctx, from, all, matter, dir) {
		if one.err != nil {
			out.failed = append(out.failed, fmt.Sprintf("%s: no recording: %s", one.host, shown.Text(oneLine(one.err))))
			continue
		}
		out.names = append(out.names, one.host)
		// A file is joined to its host's name at the last "=".
		args = append(args, "--host="+one.file+"="+strings.ReplaceAll(one.host, "=", "_"), one.file)
	}
	if len(out.names) == 0 {
		return nil
	}
	flags := []string{"read", "--quiet", "--fetched", "--out=" + joinedName, "--kept=" + f.out, fmt.Sprintf("--rows=%d", f.rowsLeft(all, causes, out))}
	for name, is := range map[string]bool{"--json": f.show.json, "--verbose": f.show.verbose} {
		if is {
			flags = append(flags, name)
		}
	}
	if out.text, out.code, err = inChild(ctx, dir, append(flags, args...)); err != nil {
		return fmt.Errorf("judge the recordings together: %w", err)
	}
	if f.out == "" {
		return nil
	}
	if err := keepJoined(filepath.Join(dir, joinedName), f.out); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// joinedName is the folder that the recordings are joined in, beside them.
const joinedName = "joined"

// rowsLeft is how many lines of the terminal the store's answer leaves to that of the recordings; 0 of a pipe or a
// file. It gets at least half a small terminal: the culprit comes first in both.
func (f *findFlags) rowsLeft(all *hosts.Fleet, causes []hosts.Cause, out *together) int {
	const least = 12
	height := rows()
	if height == 0 || f.show.json {
		return 0
	}
	var above strings.Builder
	if err := all.WriteText(&above, f.fleet.store, causes); err != nil {
		return 0
	}
	return max(least, height-linesOf(above.String(), columns())-linesOf(out.head()+out.foot(columns()), columns()))
}

// linesOf counts the lines that a text takes on a terminal.
func linesOf(text string, width int) (n int) {
	for line := range strings.Lines(text) {
		n += 1 + max(0, shown.Columns(strings.TrimSuffix(line, "\n"))-1)/max(width, 1)
	}
	return n
}

// keepJoined copies a folder that was made without privileges to where only this process may be able to write.
func keepJoined(from, to string) error {
	folder, err := private.Open(to)
	if err != nil {
		return err
	}
	return errors.Join(copyFolder(from, folder.Path()), folder.Close())
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// inChild runs snag's own program in a folder ("": this one), and returns what it wrote and its exit code: 0, 10 or 11.
func inChild(ctx context.Context, dir string, args []string) (text []byte, code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, 0, err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), fmt.Sprintf("COLUMNS=%d", columns()))
	var said, wrong bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &wrong
	err = cmd.Run()
	var ended *exec.ExitError
	switch {
	case err == nil:
		return said.Bytes(), cli.ExitNothing, nil
	case ctx.Err() != nil:
		return nil, 0, errors.New("interrupted")
	case errors.As(err, &ended) && (ended.ExitCode() == cli.ExitCulprit || ended.ExitCode() == cli.ExitCantTell):
		return said.Bytes(), ended.ExitCode(), nil
	case errors.As(err, &ended) && wrong.Len() > 0:
		return nil, 0, errors.New(strings.TrimPrefix(shown.Cut(shown.Text(strings.TrimSpace(wrong.String())), 500), "snag: "))
	}
	return nil, 0, err
}

// head is the line before the verdict on the recordings.
func (t *together) head() string {
	switch {
	case len(t.names) == 1:
		return fmt.Sprintf("\nTHE RECORDING of %s\n", t.names[0])
	case len(t.names) > 0:
	case len(t.failed) == 0:
		return "\nNO RECORDINGS were fetched, as no host is affected\n"
	default:
		return "\nNO RECORDINGS were judged\n"
	}
	return fmt.Sprintf("\nTHE RECORDINGS of %s, judged together\n", units.Plural(len(t.names), "host"))
}

// foot are the lines after it: which recordings are missing, and why.
func (t *together) foot(width int) string {
	if width == 0 {
		width = 100
	}
	var out strings.Builder
	const label = "not seen   "
	for _, line := range t.failed {
		out.WriteString(label + shown.Wrapped(line, width-len(label)))
	}
	return out.String()
}

// write says what the recordings say, below what the store does.
func (t *together) write(w *os.File) error {
	_, err := shown.To(w).Write([]byte(t.head() + string(t.text) + t.foot(columns())))
	return err
}

// document is the same as JSON has it.
func (t *together) document(d *hosts.Document) {
	d.Joined = &hosts.Joined{Hosts: append([]string{}, t.names...), Failed: append([]string{}, t.failed...)}
	if len(t.text) > 0 {
		d.Joined.Verdict = json.RawMessage(t.text)
	}
}
