package net

import (
	"testing"

	"snag/recording"
	"snag/suspects/suspect/suspecttest"
)

// With cookies on, the backlog of SYNs is not looked at: nothing to set here.
func TestSYNSettings(t *testing.T) {
	r := suspecttest.HostOf(2)
	most := recording.HalfOpen{Local: "10.0.0.1:80", N: 300, Sources: 300}
	for v, want := range map[string][]string{"0": {"sysctl net.ipv4.tcp_syncookies → 1"}, "1": nil} {
		r.Facts = []recording.Fact{{Name: "net.ipv4.tcp_syncookies", Value: v}}
		set, calls := synSettings(r, 1, most, 128)
		suspecttest.SettingsAre(t, set, want...)
		if len(calls) != 2 || calls[0].Do != "listen(fd, 512), with net.core.somaxconn as high" {
			t.Errorf("%+v", calls)
		}
	}
}
