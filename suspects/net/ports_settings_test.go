package net

import (
	"testing"

	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect/suspecttest"
)

// TIME-WAIT ports are taken again only where no range would hold a minute of connections.
func TestPortsSettings(t *testing.T) {
	r := suspecttest.HostOf(2)
	s := scene.Build(r)
	p := recording.Ports{InUse: 28232, TimeWait: 28000, Remote: "10.0.0.9:80"}
	set, _ := portsSettings(s, r, 1, p, 28232, failedConnects{opened: 3000})
	suspecttest.SettingsAre(t, set, "sysctl net.ipv4.ip_local_port_range → 1024 65535", "sysctl net.ipv4.tcp_tw_reuse → 1")
	set, _ = portsSettings(s, r, 1, p, 28232, failedConnects{opened: 60000}) // 2,000 per second
	suspecttest.SettingsAre(t, set, "sysctl net.ipv4.tcp_tw_reuse → 1")
	p.TimeWait = 10 // they are open: nothing gives them back
	set, calls := portsSettings(s, r, 1, p, 64000, failedConnects{opened: 60000})
	suspecttest.SettingsAre(t, set)
	if len(calls) != 1 {
		t.Errorf("%+v", calls)
	}
}
