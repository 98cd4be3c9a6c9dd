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
	own, err := netns.IDOf("/proc/thread-self/ns/net")
	if err != nil {
		return nil, err
	}
	anchor := probe.NewAnchor()
	env := probe.Env{Anchor: anchor}
	w, err := recording.Create(dir, loadManifest(anchor, own), recording.Options{Now: env.Now, Lines: true})
	if err != nil {
		return nil, err
	}
	to := recorded.Place{Sink: w, Netns: own, Clock: func(t time.Time) recording.Time { return env.Now().Add(-time.Since(t)) }}
	r, err := to.Record(ctx, plan, null)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return r, nil
}

// loadManifest is of a recording of a load alone: nobody looked at the host.
func loadManifest(anchor recording.Anchor, own uint64) recording.Manifest {
	m := recording.Manifest{
		Snag: cli.Version, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), PageSize: os.Getpagesize(),
		Anchor: anchor, Start: recording.Time(anchor.Wall), SelfPID: os.Getpid(), Netns: own,
		Notes: []string{"it is of a load alone: the host was not looked at (snag find --load does both)"},
	}
	_, m.UTCOffset = time.Now().Zone()
	m.Host, _ = os.Hostname() // a host without a name is still a host
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		m.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	return m
}
