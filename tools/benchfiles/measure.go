package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// peer is a command that reads a file. The word FILE in it is the file, OUT a path
// that it may write to.
type peer struct {
	name    string
	command []string
	once    bool  // it is slow: one round is enough
	codes   []int // besides 0, the exit codes of success
	pipe    bool  // it writes into a pipe: grep reads no further than a match where it writes to /dev/null
}

// cost is what a command took: CPU time of all its processes and of the clock, and
// the most memory that it had.
type cost struct {
	cpu, wall time.Duration
	rss       int64 // bytes
}

// measure runs a command to its end, its output thrown away.
func measure(ctx context.Context, p peer, file, dir string) (cost, error) {
	out := filepath.Join(dir, "out")
	defer os.RemoveAll(out)
	args := slices.Clone(p.command)
	for i, a := range args {
		switch a {
		case "FILE":
			args[i] = file
		case "OUT":
			args[i] = out
		}
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stderr = &tail{&said}
	if p.pipe {
		r, w, err := os.Pipe() // what grep -c says fits into it
		if err != nil {
			return cost{}, err
		}
		defer r.Close()
		defer w.Close()
		cmd.Stdout = w
	}
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return cost{}, err
	}
	peak := peakOf(cmd.Process.Pid)
	err := cmd.Wait()
	wall := time.Since(began)
	rss := <-peak
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && slices.Contains(p.codes, exit.ExitCode()) {
		err = nil
	}
	if err != nil {
		return cost{}, fmt.Errorf("%s: %w: %s", p.name, err, said.Bytes())
	}
	s := cmd.ProcessState
	return cost{s.UserTime() + s.SystemTime(), wall, rss}, nil
}

// peakOf follows a process to its end and gives the most memory that it had
// (VmHWM). Its ru_maxrss would be this program's where that has more: until its
// execve(2) the child is a part of it (fs/exec.c, exec_mmap).
func peakOf(pid int) <-chan int64 {
	peak := make(chan int64, 1)
	go func() {
		var rss int64
		for {
			b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
			_, after, ok := bytes.Cut(b, []byte("VmHWM:"))
			if err != nil || !ok { // it has ended
				peak <- rss
				return
			}
			kb, _ := number(bytes.TrimLeft(after, " \t"))
			rss = kb << 10
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return peak
}

// tail keeps the first of what a command says on its standard error.
type tail struct{ b *bytes.Buffer }

// Write is io.Writer's.
func (t *tail) Write(p []byte) (int, error) {
	if room := 500 - t.b.Len(); room > 0 {
		t.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// warm reads a file, so that all find it in the page cache.
func warm(path string) (size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return io.Copy(io.Discard, f)
}
