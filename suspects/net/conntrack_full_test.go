package net

import (
	"testing"

	"snag/recording"
	"snag/suspects/suspect/suspecttest"
)

// A table has room for those who were dropped, for as long as a closed connection is kept; its
// hash grows with it, but for one that is too small for a plan to set.
func TestConntrackSettings(t *testing.T) {
	r := suspecttest.HostOf(2)
	r.Manifest.Start = 0 // 30 s
	suspecttest.SettingsAre(t, conntrackSettings(r, 1000, 3), "sysctl net.netfilter.nf_conntrack_max → 2000")
	suspecttest.SettingsAre(t, conntrackSettings(r, 15, 3000), "sysctl net.netfilter.nf_conntrack_max → 12015")
	r.Facts = []recording.Fact{{Name: "net.netfilter.nf_conntrack_buckets", Value: "2048"}}
	suspecttest.SettingsAre(t, conntrackSettings(r, 15, 3000), "sysctl net.netfilter.nf_conntrack_max → 12015", "sysctl net.netfilter.nf_conntrack_buckets → 3004")
	r.Facts[0].Value = "512"
	suspecttest.SettingsAre(t, conntrackSettings(r, 15, 3000), "sysctl net.netfilter.nf_conntrack_max → 12015")
}
