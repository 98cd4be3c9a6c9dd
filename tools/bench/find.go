package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"snag/recording"
)

// finding is a snag find that runs.
type finding struct {
	cmd  *exec.Cmd
	dir  string
	said bytes.Buffer
}

// attached is how long they are given for it.
const attached = time.Second

// startFind starts a find and returns when its probes measure, window before it ends:
// start and verdict are no part of what is compared (see own). It looks at a process
// closer when there is one, else at whom it suspects.
func startFind(snag string, window time.Duration, pid int) (*finding, error) {
	dir, err := os.MkdirTemp("", "snag-bench")
	if err != nil {
		return nil, err
	}
	args := []string{"find", "--quiet", "--json", "--for", (window + attached).String(), "--out", filepath.Join(dir, "r")}
	if pid > 0 {
		args = append(args, "--pid", strconv.Itoa(pid))
	}
	f := &finding{cmd: exec.Command(snag, args...), dir: dir}
	f.cmd.Stderr = &f.said
	f.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := f.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start snag find: %w", err)
	}
	time.Sleep(attached)
	return f, nil
}

// end lets it end, and returns at how many processes it looked closer.
func (f *finding) end() (closer int, err error) {
	defer os.RemoveAll(f.dir)
	if err := f.cmd.Wait(); !judged(err) {
		return 0, fmt.Errorf("snag find: %w: %s", err, bytes.TrimSpace(f.said.Bytes()))
	}
	r, err := recording.Open(filepath.Join(f.dir, "r"))
	if err != nil {
		return 0, err
	}
	for _, fact := range r.Facts {
		if strings.HasPrefix(fact.Name, "snag.closer.") && fact.Name != "snag.closer.left" {
			closer++
		}
	}
	return closer, nil
}

// judged reports whether it ended as it should: a culprit found is a success here.
func judged(err error) bool {
	var e *exec.ExitError
	return err == nil || errors.As(err, &e) && e.ExitCode() >= 10
}
