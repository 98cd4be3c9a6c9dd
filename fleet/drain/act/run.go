// Package act carries out the actions of a drain and asks what it waits for: commands, requests over HTTP, numbers of
// connections. It decides nothing.
package act

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"snag/internal/shown"
)

const (
	// grace is what a command has to end after SIGTERM until it is killed.
	grace = 5 * time.Second
	// mostSaid of what a command wrote is in an error, bytes, from its end.
	mostSaid = 300
)

// ErrLate is of an action that did not end in time.
var ErrLate = errors.New("it did not end in time")

// Run runs a command without a shell, and says what it wrote last if it fails. It is not killed by the Ctrl-C of the
// terminal, nor with snag: what has begun is to end.
func Run(ctx context.Context, command []string) error {
	said, err := os.CreateTemp("", "snag-drain-")
	if err != nil {
		return fmt.Errorf("keep what the command writes: %w", err)
	}
	defer func() { _ = said.Close() }()
	if err := os.Remove(said.Name()); err != nil {
		return fmt.Errorf("keep what the command writes: %w", err)
	}
	cmd := exec.Command(command[0], command[1:]...)
	// A file and not a pipe: a program that stays (nginx) must not hold snag up, nor get SIGPIPE.
	cmd.Stdout, cmd.Stderr = said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", shown.Text(command[0]), plain(err))
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = end(cmd.Process.Pid, ended)
	}
	if err == nil {
		return nil
	}
	if text := lastSaid(said); text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	return err
}

// end ends a command that takes too long, with all that it started in its process group.
func end(pid int, ended <-chan error) error {
	_ = syscall.Kill(-pid, syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(grace):
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		select {
		case <-ended:
		case <-time.After(grace): // it is in an uninterruptible sleep, as on a disk that is gone
			return fmt.Errorf("%w, and SIGKILL did not end it", ErrLate)
		}
	}
	return fmt.Errorf("%w, and was killed", ErrLate)
}

func lastSaid(f *os.File) string {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	from := max(0, size-mostSaid)
	b, err := io.ReadAll(io.NewSectionReader(f, from, mostSaid))
	if err != nil {
		return ""
	}
	return shown.Text(strings.Join(strings.Fields(string(b)), " "))
}

// plain is the cause of an error of os and os/exec.
func plain(err error) error {
	if e := errors.Unwrap(err); e != nil {
		return e
	}
	return err
}
