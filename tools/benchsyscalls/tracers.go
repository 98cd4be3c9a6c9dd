package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"snag/tools/workload"
)

// tracer is one way to count calls. Without a command it is none.
type tracer struct {
	name    string
	command func(pid int) []string
	other   bool // it traces another process than the load
}

// A tracer has attached when it has used no CPU for a while after its start.
const (
	settleLeast = time.Second
	settleMost  = 15 * time.Second
	settleQuiet = 6 // looks
	settleEvery = 100 * time.Millisecond
)

// hasLinks reports whether a process holds BPF links: it has attached its programs.
func hasLinks(pid int) bool {
	infos, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/fdinfo/*")
	links := 0
	for _, path := range infos {
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte("link_type:")) {
			links++
		}
	}
	return links >= 4
}

// settled returns when the process has, or has ended; where it is to hold BPF links,
// not before it does.
func settled(pid int, links bool) {
	began, last, quiet := time.Now(), "", 0
	for time.Since(began) < settleMost {
		time.Sleep(settleEvery)
		if links && !hasLinks(pid) {
			continue
		}
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return
		}
		f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]) // from field 3 on: proc_pid_stat(5)
		if len(f) < 13 {
			return
		}
		now := string(f[11]) + " " + string(f[12])
		if now != last {
			last, quiet = now, 0
			continue
		}
		if quiet++; quiet >= settleQuiet && time.Since(began) > settleLeast {
			return
		}
	}
}

func tracers(snag string) []tracer {
	all := []tracer{
		{"snag, of another process", func(pid int) []string {
			return []string{snag, "syscalls", "-q", "--for", "1h", "--pid", strconv.Itoa(pid)}
		}, true},
		{"snag", func(pid int) []string {
			return []string{snag, "syscalls", "-q", "--for", "1h", "--pid", strconv.Itoa(pid)}
		}, false},
		{"bpftrace, histogram", func(pid int) []string {
			return withTracefs("bpftrace", "-e", fmt.Sprintf(
				`tracepoint:raw_syscalls:sys_enter /pid==%d/ { @s[tid] = nsecs; } tracepoint:raw_syscalls:sys_exit /@s[tid]/ { @[args->id] = hist(nsecs - @s[tid]); delete(@s[tid]); }`, pid))
		}, false},
		{"strace -f -c", func(pid int) []string { return []string{"strace", "-f", "-c", "-p", strconv.Itoa(pid)} }, false},
		{"perf trace -s", func(pid int) []string { return withTracefs("perf", "trace", "-s", "-p", strconv.Itoa(pid)) }, false},
	}
	return slices.DeleteFunc(all, func(t tracer) bool {
		args := t.command(1)
		if args[0] == "unshare" {
			args = args[tracefs:]
		}
		_, err := exec.LookPath(args[0])
		return err != nil
	})
}

func quietAfter(pid int, links bool) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		settled(pid, links)
		close(done)
	}()
	return done
}

// withTracefs runs a command that wants tracefs mounted, in a mount namespace of its
// own: some hosts have it not.
func withTracefs(args ...string) []string {
	before := []string{"unshare", "-m", "sh", "-c", "mount -t tracefs nodev /sys/kernel/tracing; mount -t debugfs nodev /sys/kernel/debug; exec \"$@\"", "sh"}
	return append(before, args...)
}

// tracefs is how many words of a command that is.
const tracefs = 6

// attach starts the tracer on a process; stop ends it.
func (t tracer) attach(pid int) (stop func(), err error) {
	if t.command == nil {
		return func() {}, nil
	}
	var idle *workload.Program
	if t.other {
		if idle, err = workload.Start(workload.Socket); err != nil {
			return nil, err
		}
		pid = idle.PID()
	}
	cmd := exec.Command(t.command(pid)[0], t.command(pid)[1:]...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		return nil, fmt.Errorf("%s ended (%w): %s", t.name, err, said.String())
	case <-quietAfter(cmd.Process.Pid, strings.HasPrefix(t.name, "snag")):
	}
	return func() {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			<-done
		}
		if idle != nil {
			idle.End()
		}
	}, nil
}
