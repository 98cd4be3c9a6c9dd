package agent

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"snag/internal/cli"
	"snag/internal/shown"
)

// Bounds of what a command writes.
const (
	mostOutput = 64 << 20
	mostSaid   = 2000 // bytes of an error
)

// What a cancelled command has: after the second signal find ends at once, and what then still runs is killed.
const (
	untilSecond = 500 * time.Millisecond
	untilKilled = 5 * time.Second
)

// Child runs commands as processes of a program, which is snag's own. A process gives up its privileges before it reads
// a recording that somebody else may have made, it is ended when that takes too much memory or time, and nothing of
// that concerns the server.
func Child(program string) Run {
	return func(ctx context.Context, c Command) (Output, error) {
		argv, err := c.Argv()
		if err != nil {
			return Output{}, err
		}
		cmd := exec.CommandContext(ctx, program, argv...)
		cmd.Env = append(os.Environ(), "NO_COLOR=1")
		// Without a server nobody wants the answer. A group of its own keeps a terminal's Ctrl-C from coming twice.
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
		cmd.Cancel = func() error {
			time.AfterFunc(untilSecond, func() { _ = cmd.Process.Signal(os.Interrupt) }) // it has ended, or ends now
			return cmd.Process.Signal(os.Interrupt)
		}
		cmd.WaitDelay = untilKilled
		out := &bounded{most: mostOutput}
		said := &lines{each: c.Said}
		cmd.Stdout, cmd.Stderr = out, said
		if c.Line != nil {
			cmd.Stdout = &rowsTo{each: c.Line}
		}
		err = cmd.Run()
		if ctx.Err() != nil {
			return Output{}, errors.New("cancelled")
		}
		return ended(out, said.last(), err)
	}
}

func ended(out *bounded, said string, err error) (Output, error) {
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && (exit.ExitCode() == cli.ExitCulprit || exit.ExitCode() == cli.ExitCantTell):
		return out.done(exit.ExitCode())
	case errors.As(err, &exit) && said != "":
		return Output{}, errors.New(said)
	case err != nil:
		return Output{}, fmt.Errorf("run snag: %w", err)
	}
	return out.done(cli.ExitNothing)
}

// bounded keeps what is written up to a bound.
type bounded struct {
	kept bytes.Buffer
	most int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.kept.Len()+len(p) > b.most {
		b.over = true
		return len(p), nil
	}
	return b.kept.Write(p)
}

func (b *bounded) done(code int) (Output, error) {
	if b.over {
		return Output{}, fmt.Errorf("the answer is longer than %d MB: run the command itself", b.most>>20)
	}
	return Output{b.kept.Bytes(), code}, nil
}

// mostRow bytes of a row are read at a time: a longer one counts as several, none of which fits into an answer.
const mostRow = 1 << 20

// rowsTo hands on the lines of what is written.
type rowsTo struct {
	each func([]byte)
	part []byte
}

func (r *rowsTo) Write(p []byte) (int, error) {
	r.part = append(r.part, p...)
	for {
		line, rest, whole := bytes.Cut(r.part, []byte("\n"))
		if !whole && len(r.part) < mostRow {
			r.part = append([]byte{}, r.part...) // what was handed on is free
			return len(p), nil
		}
		r.each(line)
		r.part = rest
	}
}

// lines hands on the lines that are written, and keeps the end of them.
type lines struct {
	each func(string)
	kept []byte
	part []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.kept = append(l.kept, p...)
	l.kept = l.kept[max(0, len(l.kept)-mostSaid):]
	l.part = append(l.part, p...)
	for {
		line, rest, whole := bytes.Cut(l.part, []byte("\n"))
		if !whole {
			l.part = l.part[:min(len(l.part), mostSaid)]
			return len(p), nil
		}
		if l.each != nil && len(line) > 0 {
			l.each(cut(shown.Text(string(line)), 200))
		}
		l.part = rest
	}
}

// last is the error that a command ended with: its last line and those that belong to it.
func (l *lines) last() string {
	var all []string
	s := bufio.NewScanner(bytes.NewReader(l.kept))
	for s.Scan() {
		if text, ok := strings.CutPrefix(s.Text(), "snag: "); ok {
			all = []string{text}
		} else if len(all) > 0 {
			all = append(all, s.Text())
		}
	}
	if len(all) == 0 {
		all = []string{string(l.kept)}
	}
	return strings.TrimSpace(shown.Text(strings.Join(all, " ")))
}
