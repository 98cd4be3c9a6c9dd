package net

import (
	"testing"

	"snag/recording"
	"snag/suspects/suspect/suspecttest"
)

// A table has room for those who were dropped, for as long as a closed connection is kept, and
// is as long as the default at least; its hash grows with it, but for one that is too small for a plan to set.
func TestConntrackSettings(t *testing.T) {
	r := suspecttest.HostOf(2)
	r.Manifest.Start = 0 // 30 s
	suspecttest.SettingsAre(t, conntrackSettings(r, 100000, 3), "sysctl net.netfilter.nf_conntrack_max → 200000")
	suspecttest.SettingsAre(t, conntrackSettings(r, 100000, 30000), "sysctl net.netfilter.nf_conntrack_max → 220000")
	suspecttest.SettingsAre(t, conntrackSettings(r, 15, 3), "sysctl net.netfilter.nf_conntrack_max → 65536")
	r.Facts = []recording.Fact{{Name: "net.netfilter.nf_conntrack_buckets", Value: "2048"}}
	suspecttest.SettingsAre(t, conntrackSettings(r, 15, 3), "sysctl net.netfilter.nf_conntrack_max → 65536", "sysctl net.netfilter.nf_conntrack_buckets → 16384")
	r.Facts[0].Value = "512"
	suspecttest.SettingsAre(t, conntrackSettings(r, 15, 3), "sysctl net.netfilter.nf_conntrack_max → 65536")
}
