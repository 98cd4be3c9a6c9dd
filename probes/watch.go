package probes

import (
	"fmt"
	"os"

	"snag/internal/netns"
	"snag/probes/probe"
	"snag/recording"
)

// CreateWatch makes dir a recording of streams alone (snag watch --out), which the
// watch writes to and closes.
func CreateWatch(dir, snag string, anchor recording.Anchor) (*recording.Writer, error) {
	return createWatch(dir, snag, anchor, true)
}

// CreateRead makes dir a recording of a capture file, whose time is over: it ends
// at the last time that was seen in it.
func CreateRead(dir, snag string, anchor recording.Anchor) (*recording.Writer, error) {
	return createWatch(dir, snag, anchor, false)
}

func createWatch(dir, snag string, anchor recording.Anchor, live bool) (*recording.Writer, error) {
	own, err := netns.IDOf("/proc/thread-self/ns/net")
	if err != nil {
		own = 0 // rows say then that the namespace is not known
	}
	env := probe.Env{Anchor: anchor, SelfPID: os.Getpid(), Netns: own}
	o := recording.Options{}
	if live {
		o.Now = env.Now
	}
	return recording.Create(dir, manifest(Plan{Snag: snag}, recording.Target{}, anchor, own), o)
}

// OpenNetns opens the network namespace of a name or an inode (--netns), for who
// captures or reads in it. The caller closes it.
func OpenNetns(name string) (*netns.Handle, error) {
	own, err := netns.IDOf("/proc/thread-self/ns/net")
	if err != nil {
		return nil, fmt.Errorf("find snag's own network namespace: %w (is /proc mounted?)", err)
	}
	ns, err := Namespace("/proc", own, name)
	if err != nil {
		return nil, err
	}
	return netns.Open(ns)
}
