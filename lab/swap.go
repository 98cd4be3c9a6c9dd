package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Swap gives the machine swap space of that size, MiB, in a file of the stage.
func (s *Stage) Swap(mebibytes int) {
	file := filepath.Join(s.dir, "swap")
	if s.Err() != nil {
		return
	}
	if err := errors.Join(allocate(file, mebibytes), os.Chmod(file, 0o600)); err != nil {
		s.fail(fmt.Errorf("lab: make a swap file: %w", err))
		return
	}
	s.Command("", "mkswap", file)
	s.remember(item{Kind: kindSwap, Path: file})
	s.Command("", "swapon", file)
}

// SwapOnZram gives the machine swap space of that size, MiB, in compressed memory:
// for machines without a disk.
func (s *Stage) SwapOnZram(mebibytes int) {
	if s.Err() != nil {
		return
	}
	s.remember(item{Kind: kindZram, Path: zram})
	if err := os.WriteFile(zram+"/disksize", []byte(fmt.Sprint(mebibytes<<20)), 0); err != nil {
		s.fail(fmt.Errorf("lab: make a disk of compressed memory (module zram): %w", err))
		return
	}
	s.Command("", "mkswap", "/dev/zram0")
	s.remember(item{Kind: kindSwap, Path: "/dev/zram0"})
	s.Command("", "swapon", "/dev/zram0")
}

const zram = "/sys/block/zram0"

// LittleMemory is a control group whose processes may hold that much memory, MiB;
// the rest of theirs is swapped out.
func (s *Stage) LittleMemory(short string, mebibytes int) *Cgroup {
	c := &Cgroup{Version: 1, Path: filepath.Join(memoryV1, s.id+"-"+short)}
	file := "memory.limit_in_bytes"
	if _, err := os.Stat(filepath.Join(memoryV1, "cgroup.procs")); err != nil {
		c, file = &Cgroup{Version: 2, Path: filepath.Join(cgroupV2, s.id+"-"+short)}, "memory.max"
	}
	if s.Err() != nil {
		return c
	}
	s.remember(item{Kind: kindCgroup, Path: c.Path})
	if c.Version == 2 { // it may be on already
		_ = os.WriteFile(filepath.Join(cgroupV2, "cgroup.subtree_control"), []byte("+memory"), 0)
	}
	if err := os.Mkdir(c.Path, 0o755); err != nil {
		s.fail(fmt.Errorf("lab: make cgroup %s: %w", c.Path, err))
		return c
	}
	if mebibytes > 0 {
		if err := os.WriteFile(filepath.Join(c.Path, file), []byte(fmt.Sprint(mebibytes<<20)), 0); err != nil {
			s.fail(fmt.Errorf("lab: limit the memory of cgroup %s: %w", c.Path, err))
		}
	}
	return c
}

// LimitMemory changes how much memory, MiB, the processes of a group of LittleMemory may
// hold: what is more is swapped out before it returns.
func (s *Stage) LimitMemory(c *Cgroup, mebibytes int) {
	if s.Err() != nil {
		return
	}
	file := map[int]string{1: "memory.limit_in_bytes", 2: "memory.max"}[c.Version]
	if err := os.WriteFile(filepath.Join(c.Path, file), []byte(fmt.Sprint(mebibytes<<20)), 0); err != nil {
		s.fail(fmt.Errorf("lab: limit the memory of cgroup %s: %w", c.Path, err))
	}
}

const memoryV1 = "/sys/fs/cgroup/memory"

// swapoff takes swap space away; what lies in it comes back into memory.
func swapoff(file string) error {
	path, err := unix.BytePtrFromString(file)
	if err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_SWAPOFF, uintptr(unsafe.Pointer(path)), 0, 0)
	if errno == 0 || errno == unix.EINVAL || errno == unix.ENOENT { // it is none
		return nil
	}
	return errno
}
