package recorder

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/churntest"
	"snag/recording"
)

// The test's own program runs again as a recorder that is to be killed, or in a mount namespace of
// its own with a small disk.
const (
	roleEnv = "SNAG_TEST_ROLE"
	dirEnv  = "SNAG_TEST_DIR"
)

func TestMain(m *testing.M) {
	churntest.Main()
	dir := os.Getenv(dirEnv)
	var err error
	switch os.Getenv(roleEnv) {
	case "":
		os.Exit(m.Run())
	case "recorder":
		err = Run(context.Background(), Plan{Dir: dir, Limits: Limits{Keep: time.Hour, Size: 1 << 30}, Note: func(text string) { fmt.Fprintln(os.Stderr, text) }})
	case "churned":
		err = onABusyHost(dir)
	case "frozen-film":
		err = ofAFrozenFilm(dir)
	case "small-disk":
		err = onSmallDisk(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func asRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("not root: the probes see little, and disks can't be made")
	}
}

// notes are what a recorder said.
type notes struct {
	mu   sync.Mutex
	said []string
}

func (n *notes) note(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.said = append(n.said, text)
}

func (n *notes) has(words string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Contains(strings.Join(n.said, "\n"), words)
}

// times is how often something was said.
func (n *notes) times(words string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Count(strings.Join(n.said, "\n"), words)
}

func until(t *testing.T, what string, limit time.Duration, is func() bool) {
	t.Helper()
	if !within(limit, is) {
		t.Fatalf("%s: not within %s", what, limit)
	}
}

func within(limit time.Duration, is func() bool) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return false
}

// A recorder's ring answers for a time that has passed as a find that ran then would.
func TestLookBack(t *testing.T) {
	t.Parallel()
	asRoot(t)
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var n notes
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Plan{Dir: dir, Limits: Limits{Keep: time.Hour, Size: 1 << 30}, Note: n.note, piece: 3 * time.Second, again: time.Second})
	}()
	until(t, "three pieces", time.Minute, func() bool {
		all, err := Ring{dir}.Pieces()
		return err == nil && len(all) >= 4
	})
	// While it is written.
	now := recording.Time(time.Now().UnixNano())
	r, err := Ring{dir}.Read(now.Add(-4*time.Second), now)
	if err != nil {
		t.Fatal(err)
	}
	check := func(r *recording.Recording) {
		t.Helper()
		serves := false
		for _, s := range r.Sockets {
			serves = serves || s.State == "LISTEN" && s.Local == l.Addr().String()
		}
		if !serves || len(r.Processes) == 0 || len(r.Select("node_load1")) == 0 || len(r.Facts) == 0 {
			t.Errorf("%d sockets (the listener: %v), %d processes, %d series, %d facts; damage %q; %s to %s", len(r.Sockets), serves, len(r.Processes), len(r.Series), len(r.Facts), r.Damage, r.Manifest.Start.Wall().Format("05.000"), r.Manifest.End.Wall().Format("05.000"))
		}
		for _, m := range []string{"host.netstat", "sockets.diag", "drops.kfree_skb"} {
			if c, ok := r.Measured(m); !ok {
				t.Errorf("%s: %+v", m, c)
			}
		}
	}
	check(r)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	all, err := Ring{dir}.Pieces()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.Open {
			t.Errorf("%s was left open", p.Name)
		}
	}
	last := all[len(all)-2] // whole, and by itself
	if r, err = recording.Open(filepath.Join(dir, last.Name)); err != nil {
		t.Fatal(err)
	}
	check(r)
	if len(n.said) > 0 {
		t.Errorf("it said %q", n.said)
	}
}

// When the clock is set, the probes begin again with it: what comes later has the new time.
func TestTheClockIsSet(t *testing.T) {
	t.Parallel()
	asRoot(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var n notes
	var anchors []recording.Anchor
	var mu sync.Mutex
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Plan{
			Dir: dir, Limits: Limits{Keep: time.Hour, Size: 1 << 30}, Note: n.note, piece: 3 * time.Second, again: time.Second,
			clock: func(a recording.Anchor) moved {
				mu.Lock()
				defer mu.Unlock()
				if len(anchors) == 0 || anchors[len(anchors)-1] != a {
					anchors = append(anchors, a)
				}
				if len(anchors) == 1 && time.Since(time.Unix(0, a.Wall)) > 2*time.Second {
					return moved{set: time.Hour}
				}
				return moved{}
			},
		})
	}()
	sessions := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(anchors)
	}
	until(t, "it begins again", time.Minute, func() bool { return sessions() == 2 && n.has("recording continues with the new time") })
	until(t, "pieces of the new time", time.Minute, func() bool {
		all, err := Ring{dir}.Pieces()
		return err == nil && len(all) >= 3
	})
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	now := recording.Time(time.Now().UnixNano())
	r, err := Ring{dir}.Read(now.Add(-time.Minute), now)
	if err != nil || len(r.Processes) == 0 || len(r.Damage) > 0 {
		t.Errorf("%v, %v", r.Damage, err)
	}
}

// kill -9 costs a second at the most, and the next recorder goes on.
func TestKilledRecorder(t *testing.T) {
	t.Parallel()
	asRoot(t)
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=recorder", dirEnv+"="+dir)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for in := bufio.NewScanner(out); in.Scan(); {
			t.Log(in.Text())
		}
	}()
	until(t, "some seconds with rows", time.Minute, func() bool {
		all, err := Ring{dir}.Pieces()
		if err != nil || len(all) != 1 || time.Since(all[0].Start.Wall()) < 4*time.Second {
			return false
		}
		r, err := Ring{dir}.Read(all[0].Start, all[0].End)
		return err == nil && len(r.Processes) > 0 && len(r.Series) > 0
	})
	killed := time.Now()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if err := salvage(dir, ""); err != nil {
		t.Fatal(err)
	}
	all, err := Ring{dir}.Pieces()
	if err != nil || len(all) != 1 || all[0].Open {
		t.Fatalf("%v, %v", all, err)
	}
	if lost := killed.Sub(all[0].End.Wall()); lost > 2500*time.Millisecond { // it writes once a second, and is late on a busy machine
		t.Errorf("%s are lost", lost)
	}
	if r, err := (Ring{dir}).Read(all[0].Start, all[0].End); err != nil || len(r.Processes) == 0 || len(r.Series) == 0 {
		t.Errorf("%v", err)
	}
}

// Above its bound of memory it ends with a message, and what it has recorded is whole.
func TestTheBoundOfMemory(t *testing.T) {
	t.Parallel()
	asRoot(t)
	dir := t.TempDir()
	err := Run(t.Context(), Plan{Dir: dir, Limits: Limits{Keep: time.Hour, Size: 1 << 30}, Note: mustNot(t), Memory: 1 << 20})
	if err == nil || !strings.HasPrefix(err.Error(), "snag record needs ") || !strings.HasSuffix(err.Error(), " MB of memory, more than --memory allows; it exits, recordings are kept") {
		t.Fatal(err)
	}
	all, err := Ring{dir}.Pieces()
	if err != nil || len(all) > 1 {
		t.Fatalf("%v, %v", all, err)
	}
	for _, p := range all {
		r, err := recording.Open(filepath.Join(dir, p.Name))
		if p.Open || err != nil || len(r.Damage) > 0 {
			t.Errorf("%s: open %t, %v", p.Name, p.Open, err)
		}
	}
	// Its lock is free: the service starts it again.
	lock, err := hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	lock.Close()
}

// On a disk that is full, or read-only, it pauses, says so, and goes on when there is room. The disk is mounted in a
// mount namespace of a child: nothing is left of it, even when the test is killed.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	asRoot(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=small-disk", dirEnv+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "mount tmpfs:") {
		t.Skipf("no small disk can be mounted: %s", out)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func onSmallDisk(disk string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount tmpfs: %w", err)
	}
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=24m"); err != nil {
		return fmt.Errorf("mount tmpfs: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var n notes
	done := make(chan error, 1)
	ring := Ring{filepath.Join(disk, "ring")}
	go func() {
		done <- Run(ctx, Plan{Dir: ring.Dir, Limits: Limits{Keep: time.Hour, Size: 1 << 30}, Note: n.note, piece: 3 * time.Second, again: time.Second})
	}()
	pieces := func() int {
		all, _ := ring.Pieces()
		return len(all)
	}
	fill := filepath.Join(disk, "fill")
	before := 0
	for _, step := range []struct {
		what string
		do   func() error
		is   func() bool
	}{
		{"a first piece", func() error { return nil }, func() bool { return pieces() >= 2 }},
		{"it says that the disk is full", func() error { return fillUp(fill) }, func() bool {
			return n.has("until there is space") && n.has("no space left on device") && !n.has("--out")
		}},
		{"it goes on", func() error { before = pieces(); return os.Remove(fill) }, func() bool { return n.times("recording continues") == 1 && pieces() > before }},
		{"it says that the disk is read-only", func() error { return readOnly(ring.Dir) }, func() bool {
			return n.has("recording is paused until the disk can be written: ") && n.has("read-only file system")
		}},
		{"it goes on again", func() error { before = pieces(); return unix.Unmount(ring.Dir, unix.MNT_DETACH) }, func() bool { return n.times("recording continues") == 2 && pieces() > before }},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		if !within(time.Minute, step.is) {
			return fmt.Errorf("%s: not within a minute; it said %q", step.what, n.said)
		}
	}
	cancel()
	if err := <-done; err != nil {
		return err
	}
	all, err := ring.Pieces()
	for _, p := range all {
		if p.Open {
			err = errors.Join(err, fmt.Errorf("%s was left open", p.Name))
		}
	}
	return err
}

// readOnly makes a folder read-only for whoever opens something in it from now on. A disk whose file system the kernel
// gave up refuses the open files too, which no test can have without breaking a disk.
func readOnly(dir string) error {
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	return unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
}

func fillUp(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for block := make([]byte, 4<<10); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, unix.ENOSPC) {
		return err
	}
	return nil
}
