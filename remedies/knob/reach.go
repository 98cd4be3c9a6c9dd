package knob

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"

	"snag/internal/netns"
	"snag/remedies/plan"
)

// NetnsID identifies the network namespace that a target names, as long as the kernel
// runs: its cookie, which is never given twice (SO_NETNS_COOKIE, Linux 5.14). Its name
// and its inode may be another's after it has ended. 0: the target names none, or the
// kernel does not tell.
func (h Host) NetnsID(t plan.Target) (id uint64, err error) {
	if t.Netns == "" {
		return 0, nil
	}
	err = h.inside(t, func() error {
		id, err = cookie()
		return err
	})
	return id, err
}

// cookie is that of the thread's network namespace.
func cookie() (uint64, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("identify the network namespace: %w", err)
	}
	defer unix.Close(fd)
	id, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
	if errors.Is(err, unix.ENOPROTOOPT) {
		return 0, nil
	}
	return id, err
}

// Reach is a target as it is named now, if its network namespace was identified before:
// where another has got its name, or nobody has it, by a process that is in it still. With
// ErrEnded it is gone, and all its settings with it.
func (h Host) Reach(t plan.Target, id uint64) (plan.Target, error) {
	if t.Netns == "" {
		return t, nil
	}
	now, err := h.NetnsID(t)
	switch {
	case err == nil && (now == id || id == 0 || now == 0):
		return t, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrAbsent):
		return t, err
	case id == 0 && strings.HasPrefix(t.Netns, ofProcess): // others may be in it
		return t, err
	case id == 0:
		return t, gone(t)
	}
	return h.elsewhere(t, id)
}

// elsewhere looks for a namespace by its cookie in all that can be found.
func (h Host) elsewhere(t plan.Target, id uint64) (plan.Target, error) {
	own, err := netns.IDOf("/proc/self/ns/net")
	if err != nil {
		return t, err
	}
	found, err := netns.List("/proc", netns.NameDirs, own)
	if err != nil {
		return t, err
	}
	for _, n := range found.All {
		other := t
		other.Netns, other.Started = nameOf(n)
		if other.Netns == "" {
			continue
		}
		if now, err := h.NetnsID(other); err == nil && now == id {
			return other, nil
		}
	}
	if found.Hidden > 0 {
		return t, fmt.Errorf("network namespace %s has not its name any more, and %d processes do not show in which they are: it may live", t.Netns, found.Hidden)
	}
	return t, gone(t)
}

// nameOf names a namespace that was found as plans do.
func nameOf(n netns.Namespace) (name string, started uint64) {
	if base, ok := strings.CutPrefix(n.Path, netns.NamedDir+"/"); ok {
		return base, 0
	}
	if n.PID == 0 {
		return "", 0
	}
	started, err := Started("/proc", n.PID)
	if err != nil {
		return "", 0
	}
	return fmt.Sprintf("%s%d", ofProcess, n.PID), started
}

func gone(t plan.Target) error {
	return fmt.Errorf("network namespace %s is gone (no name, no process in it), and its settings with it: nothing is left to undo (%w)", t.Netns, ErrEnded)
}
