package churntest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// process runs a program that ends at once.
func process(ctx context.Context) error { return exec.CommandContext(ctx, "true").Run() }

// programs are built, run once and removed, as tests are: each is a file of its own, with its own table of
// functions.
type programs struct {
	dir string
	n   atomic.Int64
}

func (p *programs) once(ctx context.Context) error {
	name := filepath.Join(p.dir, fmt.Sprintf("churn%d", p.n.Add(1)))
	if err := copyProgram("/proc/self/exe", name); err != nil {
		return fmt.Errorf("make a program: %w", err)
	}
	defer os.Remove(name)
	for {
		cmd := exec.CommandContext(ctx, name)
		cmd.Env = append(os.Environ(), roleEnv+"=burn")
		if err := cmd.Run(); !errors.Is(err, unix.ETXTBSY) || !pause(ctx, 10*time.Millisecond) {
			return err // a child that was forked just now had it open for writing, until its exec
		}
	}
}

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// burn uses a CPU, so that its functions are sampled.
func burn(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		_ = fmt.Sprint(end)
	}
}
