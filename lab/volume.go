package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Tools that volumes and swap need.
var (
	Losetup = Tool{"losetup", "mount"}
	Mkfs    = Tool{"mkfs.ext4", "e2fsprogs"}
	Mkswap  = Tool{"mkswap", "util-linux"}
)

// Volume is a disk of the stage: a file behind a loop device, with a file system.
type Volume struct {
	Device string // /dev/loop0
	Mount  string // where its file system is
}

// Volume makes a disk of that size, MiB. It goes past the page cache of the disk
// below, so that what limits writes there is felt as this disk's slowness.
func (s *Stage) Volume(short string, mebibytes int) Volume {
	file := filepath.Join(s.dir, short+".img")
	v := Volume{Mount: filepath.Join(s.dir, short)}
	if s.Err() != nil {
		return v
	}
	if err := errors.Join(allocate(file, mebibytes), os.Mkdir(v.Mount, 0o755)); err != nil {
		s.fail(fmt.Errorf("lab: make the volume %s: %w", short, err))
		return v
	}
	// Known by its file: which loop device is free is not known before.
	s.remember(item{Kind: kindLoop, Path: file})
	out, err := s.Output("", "losetup", "--find", "--show", "--direct-io=on", file)
	if err != nil {
		s.fail(err)
		return v
	}
	v.Device = strings.TrimSpace(out)
	s.Command("", "mkfs.ext4", "-q", "-E", "nodiscard,lazy_itable_init=0", v.Device)
	s.remember(item{Kind: kindMount, Path: v.Mount})
	s.Command("", "mount", v.Device, v.Mount)
	return v
}

// Memory mounts a file system of memory of that size, MiB, on a folder of the stage.
func (s *Stage) Memory(dir string, mebibytes int) {
	if s.Err() != nil || s.fail(os.MkdirAll(dir, 0o755)) {
		return
	}
	s.remember(item{Kind: kindMount, Path: dir})
	s.Command("", "mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", mebibytes), "tmpfs", dir)
}

func allocate(file string, mebibytes int) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Fallocate(int(f.Fd()), 0, 0, int64(mebibytes)<<20)
}

// SlowDisk is a control group whose processes write so many bytes per second at most
// to the disk that holds the stage's files, and so to the volumes on it; 0 is no limit.
func (s *Stage) SlowDisk(short string, bytes int) *Cgroup {
	c := &Cgroup{Version: 1, Path: filepath.Join(blkioV1, s.id+"-"+short)}
	if _, err := os.Stat(filepath.Join(blkioV1, "cgroup.procs")); err != nil {
		c = &Cgroup{Version: 2, Path: filepath.Join(cgroupV2, s.id+"-"+short)}
	}
	if s.Err() != nil {
		return c
	}
	disk, err := diskOf(s.dir)
	if err != nil {
		s.fail(err)
		return c
	}
	c.disk = disk
	s.remember(item{Kind: kindCgroup, Path: c.Path})
	if err := os.Mkdir(c.Path, 0o755); err != nil {
		s.fail(fmt.Errorf("lab: make cgroup %s: %w", c.Path, err))
		return c
	}
	if c.Version == 2 { // it may be on already
		_ = os.WriteFile(filepath.Join(cgroupV2, "cgroup.subtree_control"), []byte("+io"), 0)
	}
	if bytes > 0 {
		s.fail(c.LimitWrites(bytes))
	}
	return c
}

// LimitWrites sets how many bytes per second a group of SlowDisk may write, or takes the
// limit away by 0. LimitReads does the same for what it reads.
func (c *Cgroup) LimitWrites(bytes int) error { return c.limitDisk("write", bytes) }

// LimitReads is described at LimitWrites.
func (c *Cgroup) LimitReads(bytes int) error { return c.limitDisk("read", bytes) }

func (c *Cgroup) limitDisk(way string, bytes int) error {
	file, text := "blkio.throttle."+way+"_bps_device", fmt.Sprintf("%s %d", c.disk, bytes)
	if c.Version == 2 {
		file, text = "io.max", fmt.Sprintf("%s %cbps=%d", c.disk, way[0], bytes)
		if bytes == 0 {
			text = fmt.Sprintf("%s %cbps=max", c.disk, way[0])
		}
	}
	if err := os.WriteFile(filepath.Join(c.Path, file), []byte(text), 0); err != nil {
		return fmt.Errorf("lab: limit the disk of cgroup %s: %w", c.Path, err)
	}
	return nil
}

const blkioV1 = "/sys/fs/cgroup/blkio"

// diskOf is the number, "8:0", of the whole disk that a path lies on: limits are
// not for partitions.
func diskOf(path string) (string, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return "", fmt.Errorf("lab: look at %s: %w", path, err)
	}
	number := fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))
	dir, err := filepath.EvalSymlinks("/sys/dev/block/" + number)
	if err != nil {
		return "", fmt.Errorf("lab: %s is on no disk (set TMPDIR to a folder that is): %w", path, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "partition")); err != nil {
		return number, nil
	}
	raw, err := os.ReadFile(filepath.Join(dir, "..", "dev"))
	return strings.TrimSpace(string(raw)), err
}

// unmount takes a file system away, from under whom it may be.
func unmount(path string) error {
	for range 50 {
		err := unix.Unmount(path, 0)
		if err == nil || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
			return nil // it is not mounted
		}
		time.Sleep(20 * time.Millisecond)
	}
	return unix.Unmount(path, unix.MNT_DETACH)
}

// detach frees the loop devices that have this file.
func detach(file string) error {
	all, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return err
	}
	for _, name := range all {
		raw, err := os.ReadFile(name)
		if err != nil || strings.TrimSpace(string(raw)) != file {
			continue
		}
		device := "/dev/" + filepath.Base(filepath.Dir(filepath.Dir(name)))
		fd, err := unix.Open(device, unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open %s: %w", device, err)
		}
		err = unix.IoctlSetInt(fd, unix.LOOP_CLR_FD, 0)
		unix.Close(fd)
		if err != nil && !errors.Is(err, unix.ENXIO) {
			return fmt.Errorf("detach %s: %w", device, err)
		}
	}
	return nil
}
