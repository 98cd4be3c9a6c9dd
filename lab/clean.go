package lab

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// item is one thing that a stage made and that must go.
type item struct {
	Kind  string `json:"kind"`
	Path  string `json:"path,omitempty"`  // folder, cgroup, name of a namespace, file of a setting
	Value string `json:"value,omitempty"` // of a setting: what it was
	PID   int    `json:"pid,omitempty"`   // of a process, which leads its group
	Start uint64 `json:"start,omitempty"` // its start time, clock ticks since boot: a reused pid has another
	// Session of the lab: a group number that was reused is of another session.
	Session int `json:"session,omitempty"`
}

const (
	kindProcess = "process"
	kindNetns   = "netns"
	kindCgroup  = "cgroup"
	kindDir     = "dir"
	kindMount   = "mount" // Path: where
	kindLoop    = "loop"  // Path: the file behind the device
	kindSwap    = "swap"  // Path: the file
	kindZram    = "zram"  // Path: below /sys/block
	kindSetting = "setting"
)

func (i item) String() string {
	if i.Kind == kindProcess {
		return fmt.Sprintf("process %d", i.PID)
	}
	return i.Kind + " " + i.Path
}

// clean removes what a stage made: processes first, since a namespace or a
// cgroup in use stays, then the rest, last made first. It may be called twice.
func clean(token string, made []item) error {
	errs := []error{endProcesses(token, made)}
	for n := len(made) - 1; n >= 0; n-- {
		it := made[n]
		var err error
		switch it.Kind {
		case kindNetns:
			err = netns.DeleteNamed(it.Path)
		case kindCgroup:
			err = removeCgroup(it.Path)
		case kindMount:
			err = unmount(it.Path)
		case kindLoop:
			err = detach(it.Path)
		case kindSwap:
			err = swapoff(it.Path)
		case kindZram:
			err = os.WriteFile(it.Path+"/reset", []byte("1"), 0)
		case kindDir:
			err = os.RemoveAll(it.Path)
		case kindSetting:
			err = os.WriteFile(it.Path, []byte(it.Value), 0)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, fmt.Errorf("lab: remove %s: %w", it, err))
		}
	}
	return errors.Join(errs...)
}

// endProcesses kills until none is left: a process may fork while it is looked for.
func endProcesses(token string, made []item) error {
	deadline := time.Now().Add(20 * time.Second) // twelve recorders that end at once take the kernel seconds
	for {
		left := ours(token, made)
		if len(left) == 0 {
			return nil
		}
		for _, pid := range left {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("lab: processes %v were killed and have not ended", left)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// ours lists the live processes of a stage: the recorded ones with the recorded
// start time, those born later into a group that a recorded one leads, and those
// that carry the stage's token in their environment (a daemon that left its
// group). Zombies are left out: they are their parent's to collect.
func ours(token string, made []item) []int {
	leaders := map[int]item{}
	for _, it := range made {
		if it.Kind == kindProcess {
			leaders[it.PID] = it
		}
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var out []int
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		st, err := readStat(dir)
		if err != nil || st.state == 'Z' || st.state == 'X' {
			continue
		}
		leader, inGroup := leaders[st.group]
		self, recorded := leaders[pid]
		switch {
		case recorded && self.Start == st.start,
			inGroup && st.start >= leader.Start && st.session == leader.Session,
			token != "" && carries(dir, token):
			out = append(out, pid)
		}
	}
	return out
}

func carries(dir, token string) bool {
	env, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil {
		return false
	}
	for _, v := range bytes.Split(env, []byte{0}) {
		if string(v) == token {
			return true
		}
	}
	return false
}

type stat struct {
	state   byte
	group   int
	session int
	start   uint64
}

// readStat reads /proc/PID/stat. The name in brackets may hold anything, so the
// fields are counted from the last bracket (proc(5)).
func readStat(dir string) (stat, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return stat{}, err
	}
	return parseStat(string(raw))
}

func parseStat(raw string) (stat, error) {
	f := strings.Fields(raw[strings.LastIndexByte(raw, ')')+1:])
	if len(f) < 20 || len(f[0]) != 1 {
		return stat{}, fmt.Errorf("lab: /proc/PID/stat %q: too few fields", raw)
	}
	group, err := strconv.Atoi(f[2])
	if err != nil {
		return stat{}, fmt.Errorf("lab: /proc/PID/stat process group: %w", err)
	}
	session, err := strconv.Atoi(f[3])
	if err != nil {
		return stat{}, fmt.Errorf("lab: /proc/PID/stat session: %w", err)
	}
	start, err := strconv.ParseUint(f[19], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("lab: /proc/PID/stat start time: %w", err)
	}
	return stat{f[0][0], group, session, start}, nil
}
