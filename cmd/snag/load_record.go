package main

import (
	"context"
	"errors"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/cli"
	"snag/internal/netns"
	"snag/load"
	"snag/load/recorded"
	"snag/probes/probe"
	"snag/recording"
)

// runAndKeep runs a plan, and keeps it as a recording where a folder is given.
func runAndKeep(ctx context.Context, dir string, plan load.Plan, null *load.Result) (*load.Result, error) {
	if dir == "" {
		return load.Run(ctx, plan)
	}
	k, err := keepIn(dir, "it is of a load alone: the host was not looked at (snag find --load does both)")
	if err != nil {
		return nil, err
	}
	r, err := k.to.Record(ctx, plan, null)
	if err := errors.Join(err, k.w.Close()); err != nil {
		return nil, err
	}
	return r, nil
}

// kept is a recording that snag's own requests are written to, without a look at the host.
type kept struct {
	w  *recording.Writer
	to recorded.Place
}

// keepIn begins such a recording in a folder. note is what the verdict says of it first.
func keepIn(dir, note string) (k kept, err error) {
	own, err := netns.IDOf("/proc/thread-self/ns/net")
	if err != nil {
		return k, err
	}
	anchor := probe.NewAnchor()
	env := probe.Env{Anchor: anchor}
	if k.w, err = recording.Create(dir, ownManifest(anchor, own, note), recording.Options{Now: env.Now, Lines: true}); err != nil {
		return k, err
	}
	k.to = recorded.Place{Sink: k.w, Netns: own, Clock: func(t time.Time) recording.Time { return env.Now().Add(-time.Since(t)) }}
	return k, nil
}

// ownManifest is of a recording of snag's own requests alone: nobody looked at the host.
func ownManifest(anchor recording.Anchor, own uint64, note string) recording.Manifest {
	m := recording.Manifest{
		Snag: cli.Version, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), PageSize: os.Getpagesize(),
		Anchor: anchor, Start: recording.Time(anchor.Wall), SelfPID: os.Getpid(), Netns: own,
		Notes: []string{note},
	}
	_, m.UTCOffset = time.Now().Zone()
	m.Host, _ = os.Hostname() // a host without a name is still a host
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		m.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	return m
}
