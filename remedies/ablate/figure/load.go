package figure

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"snag/internal/netns"
	"snag/internal/tail"
	"snag/remedies/ablate"
)

// Load is the command that makes the load. It is started as it is, by no shell.
type Load struct {
	Words []string
	Netns string // the network namespace that it runs in, by name; "": snag's own
	// Limit ends a run that does not end by itself: it has failed then.
	Limit time.Duration
}

// ran is what one run of a load came to.
type ran struct {
	took   time.Duration
	out    []byte // the last of what it printed
	failed error  // it ended by an error, or did not end
}

// mostOutput is what is kept of a load's output: what sums up is at its end.
const mostOutput = 256 << 10

// once runs the load to its end. An error is of a load that can't be started.
func (l Load) once(ctx context.Context) (ran, error) {
	limited, cancel := context.WithTimeout(ctx, l.Limit)
	defer cancel()
	cmd := exec.CommandContext(limited, l.Words[0], l.Words[1:]...)
	out := &tail.Buffer{Most: mostOutput}
	cmd.Stdout, cmd.Stderr = out, out
	// A group of its own: the end of a run is the end of all that it started; and a
	// kill of snag is one of it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	began := time.Now()
	start := cmd.Start
	if l.Netns != "" {
		start = func() error { return netns.DoNamed(l.Netns, cmd.Start) }
	}
	if err := start(); err != nil {
		return ran{}, fmt.Errorf("start the load %s: %w", l, err)
	}
	err := cmd.Wait()
	r := ran{took: time.Since(began), out: out.Bytes()}
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case limited.Err() != nil:
		r.failed = fmt.Errorf("%w: %s did not end within %s", ablate.ErrFailed, l, l.Limit)
	case errors.Is(err, exec.ErrWaitDelay): // it ended well, and left others behind
	case err != nil:
		r.failed = fmt.Errorf("%w: %s: %w%s", ablate.ErrFailed, l, err, lastLine(out.Bytes()))
	}
	return r, nil
}

func (l Load) String() string {
	text := strings.Join(l.Words, " ")
	if len(text) > 60 {
		text = strings.ToValidUTF8(text[:57], "") + "..."
	}
	return text
}

func lastLine(out []byte) string {
	text := strings.TrimSpace(string(out[max(0, len(out)-300):]))
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	if text == "" {
		return ""
	}
	return ": " + strings.ToValidUTF8(text, "?")
}

// again runs the load again and again while ctx lasts. It returns the error that kept
// it from going on.
func (l Load) again(ctx context.Context) error {
	for ctx.Err() == nil {
		r, err := l.once(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case r.failed != nil:
			return r.failed
		}
	}
	return nil
}
