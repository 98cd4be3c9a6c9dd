package probes

import (
	"os"

	"snag/internal/netns"
	"snag/probes/probe"
	"snag/recording"
)

// CreateWatch makes dir a recording of streams alone (snag watch --out), which the
// watch writes to and closes.
func CreateWatch(dir, snag string, anchor recording.Anchor) (*recording.Writer, error) {
	own, err := netns.IDOf("/proc/self/ns/net")
	if err != nil {
		own = 0 // rows say then that the namespace is not known
	}
	env := probe.Env{Anchor: anchor, SelfPID: os.Getpid(), Netns: own}
	return recording.Create(dir, manifest(Plan{Snag: snag}, recording.Target{}, anchor, own), recording.Options{Now: env.Now})
}
