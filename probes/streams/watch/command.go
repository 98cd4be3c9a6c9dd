package watch

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"snag/internal/tail"
)

// Bounds of a command that is run for a frozen stream.
const (
	maxOutput = 4 << 10         // bytes of its output that are kept: the last
	waitDelay = 2 * time.Second // for its pipes, once it was killed
)

// Command runs a program for frozen streams: the words are its arguments, no
// shell sees them, and no name that came from outside becomes part of them. What
// it is for is in the environment.
type Command struct {
	Argv    []string
	Timeout time.Duration
}

// Do runs the command and waits for it. An error says how it ended and shows the
// last lines that it printed.
func (c Command) Do(ctx context.Context, call Call) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Env = append(inherited(), environment(call)...)
	// A group of its own: what it started ends with it, and Ctrl-C is snag's.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = waitDelay
	out := &tail.Buffer{Most: maxOutput}
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("run %s: it had not ended after %s and was killed%s", Clean(c.Argv[0], 80), short(c.Timeout), said(out))
	}
	return fmt.Errorf("run %s: %s%s", Clean(c.Argv[0], 80), Clean(err.Error(), maxShownWhy), said(out))
}

// said is what was printed, in one line.
func said(out *tail.Buffer) string {
	text, cut := strings.Join(strings.Fields(out.String()), " "), out.Cut()
	if text == "" {
		return "; it printed nothing"
	}
	runes := []rune(text)
	if len(runes) > 300 {
		runes, cut = runes[len(runes)-300:], true
	}
	start := "; it printed: "
	if cut {
		start += "…"
	}
	return start + Clean(string(runes), 300)
}

// Check tells before anything freezes whether the command is there.
func (c Command) Check() error {
	if len(c.Argv) == 0 {
		return errors.New("the command is empty")
	}
	if _, err := exec.LookPath(c.Argv[0]); err != nil {
		return fmt.Errorf("%s: it is not there or can't be run: no shell looks for it, so write its path", Clean(c.Argv[0], 80))
	}
	return nil
}
