package main

import (
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"snag/internal/cli"
	"snag/internal/tail"
	"snag/internal/words"
)

// loadRun is the command of --load, while it runs.
type loadRun struct {
	cmd   *exec.Cmd
	out   *tail.Buffer
	began time.Time
	done  chan error
}

// startLoad starts a load, never through a shell: the line is split by its quotes. It is
// a process group of its own, so that it ends with all that it started.
func startLoad(line string) (*loadRun, error) {
	argv, err := words.Command(line)
	if err != nil {
		return nil, cli.Usage("--load %s: %v", line, err)
	}
	r := &loadRun{cmd: exec.Command(argv[0], argv[1:]...), out: &tail.Buffer{Most: 400}, began: time.Now(), done: make(chan error, 1)}
	r.cmd.Stdout, r.cmd.Stderr = r.out, r.out
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.WaitDelay = time.Second // a grandchild may hold the pipe
	if err := r.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the load %s: %w", argv[0], err)
	}
	go func() { r.done <- r.cmd.Wait() }()
	return r, nil
}

// end ends the load. The note says where it had ended before: then the end of the
// window was measured without it.
func (r *loadRun) end() (note string) {
	if r == nil {
		return ""
	}
	select {
	case err := <-r.done:
		note = "the load ended before its time"
		if err != nil {
			note += fmt.Sprintf(": %v: %s", err, r.out.String())
		}
		return note
	default:
	}
	_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-r.done:
	case <-time.After(2 * time.Second):
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
		<-r.done
	}
	return ""
}
