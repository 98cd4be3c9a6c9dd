package knob

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"snag/remedies/plan"
)

// openFiles is how many descriptors a running process may have, "SOFT:HARD"
// (prlimit(2)): what its unit's LimitNOFILE will be after a restart, now.
type openFiles struct{}

func (openFiles) Valid(t plan.Target, value string) error {
	if t.PID <= 1 || t.Started == 0 {
		return fmt.Errorf("nofile needs the pid of a process and when it started")
	}
	_, err := parseLimit(value)
	return err
}

func parseLimit(value string) (l unix.Rlimit, err error) {
	soft, hard, ok := strings.Cut(value, ":")
	if !ok {
		return l, fmt.Errorf("a limit of open files is SOFT:HARD, not %q", value)
	}
	for _, v := range []string{soft, hard} {
		if err := whole("a limit of open files", v, 3, 1<<30); err != nil { // fs.nr_open's own bound
			return l, err
		}
	}
	l.Cur, _ = strconv.ParseUint(soft, 10, 64)
	l.Max, _ = strconv.ParseUint(hard, 10, 64)
	if l.Cur > l.Max {
		return l, fmt.Errorf("the soft limit %d is above the hard one, %d", l.Cur, l.Max)
	}
	return l, nil
}

func (openFiles) Read(h Host, t plan.Target) (string, error) {
	if err := h.sameProcess(t); err != nil {
		return "", err
	}
	var l unix.Rlimit
	if err := unix.Prlimit(t.PID, unix.RLIMIT_NOFILE, nil, &l); err != nil {
		return "", fmt.Errorf("read the limits of process %d: %w", t.PID, err)
	}
	return fmt.Sprintf("%d:%d", l.Cur, l.Max), nil
}

func (openFiles) Write(h Host, t plan.Target, value string) error {
	l, err := parseLimit(value)
	if err != nil {
		return err
	}
	if err := h.sameProcess(t); err != nil {
		return err
	}
	if err := unix.Prlimit(t.PID, unix.RLIMIT_NOFILE, &l, nil); err != nil {
		return fmt.Errorf("set the limits of process %d to %s: %w", t.PID, value, err)
	}
	return nil
}

func (openFiles) Same(_ plan.Target, a, b string) bool { return a == b }

// sameProcess reports whether a target's process is still that one.
func (h Host) sameProcess(t plan.Target) error {
	started, err := Started(h.Proc, t.PID)
	if err != nil || started != t.Started {
		return fmt.Errorf("process %d: it ended (%w)", t.PID, ErrEnded)
	}
	return nil
}

// Started is when a process began, clock ticks since the boot: proc(5), field 22 of
// /proc/PID/stat.
func Started(proc string, pid int) (uint64, error) {
	b, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, fmt.Errorf("read when process %d began: %w", pid, err)
	}
	text := string(b)
	f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // its name may hold anything
	if len(f) < 20 {
		return 0, fmt.Errorf("read when process %d began: %s/%d/stat is too short", pid, proc, pid)
	}
	return strconv.ParseUint(f[19], 10, 64)
}
