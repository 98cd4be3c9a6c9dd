// Package datadir prepares the data of real servers for drawn incidents, and runs these
// servers as the user that they demand.
package datadir

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snag/lab/drawn"
)

// As is the command that runs a program as another user, "name" or "name:group", of the
// same process number.
func As(who string, argv ...string) []string {
	name, group, ok := strings.Cut(who, ":")
	if !ok {
		group = name
	}
	return append([]string{"setpriv", "--reuid", name, "--regid", group, "--clear-groups", "--"}, argv...)
}

// WithFiles is the command that runs a program with that many file descriptors at most, as
// LimitNOFILE= of a unit does.
func WithFiles(most int, argv ...string) []string {
	return append([]string{"prlimit", fmt.Sprintf("--nofile=%d", most), "--"}, argv...)
}

// For makes a folder of the stage that belongs to a user, who may reach it.
func For(b *drawn.Bench, dir, name string) {
	own := func() error {
		if err := os.Chmod(b.Dir(), 0o711); err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		u, err := user.Lookup(name)
		if err != nil {
			return err
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			return err
		}
		gid, err := strconv.Atoi(u.Gid)
		if err != nil {
			return err
		}
		return os.Chown(dir, uid, gid)
	}
	if err := own(); err != nil {
		b.Fail("the owner of "+dir, err)
	}
}

// Copy copies a folder's content into dir, with owners. The content was made by
// initialise once on this machine and kept in the cache under that name, which must change
// with the content: a database takes seconds to initialise.
func Copy(b *drawn.Bench, kept, dir string, initialise func(dir string)) {
	cache, err := os.UserCacheDir()
	if err != nil {
		b.Fail(kept, fmt.Errorf("find the folder for caches (set HOME): %w", err))
		return
	}
	from := filepath.Join(cache, "snag", "drawn", kept)
	if _, err := os.Stat(from); err == nil {
		copyInto(b, from, dir)
		return
	}
	initialise(dir)
	if b.Err() != nil {
		return
	}
	fresh := fmt.Sprintf("%s.%d", from, os.Getpid())
	if err := os.MkdirAll(fresh, 0o700); err != nil {
		b.Fail(kept, err)
		return
	}
	copyInto(b, dir, fresh)
	// Another run may have kept its own meanwhile: then this one is not needed.
	if b.Err() != nil || os.Rename(fresh, from) != nil {
		os.RemoveAll(fresh)
	}
}

// Command runs a command of initialise to its end, which may take longer than other
// commands of a stage.
func Command(b *drawn.Bench, argv ...string) {
	if b.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
		b.Fail(argv[0], fmt.Errorf("%w: %s", err, out))
	}
}

func copyInto(b *drawn.Bench, from, to string) {
	if out, err := exec.Command("cp", "-a", "--reflink=auto", from+"/.", to).CombinedOutput(); err != nil {
		b.Fail(to, fmt.Errorf("copy %s there: %w: %s", from, err, out))
	}
}

// Fill makes a file of all that is free on its disk.
func Fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err != nil {
		return err
	}
	at := int64(0)
	for step := int64(st.Bfree) * st.Bsize; step >= 4096; step /= 2 {
		for unix.Fallocate(int(f.Fd()), 0, at, step) == nil {
			at += step
		}
	}
	return nil
}
