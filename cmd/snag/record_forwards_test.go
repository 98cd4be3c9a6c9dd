package main

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"snag/fleet/forwards"
)

func TestForwardingIsReadOnceAMinute(t *testing.T) {
	reads, notes := 0, 0
	f := &forwarding{note: func(string) { notes++ }, read: func() ([]forwards.Forward, error) {
		reads++
		if reads > 1 {
			return nil, errors.New("no rights")
		}
		return []forwards.Forward{{From: netip.MustParseAddrPort("10.96.0.10:80"), To: netip.MustParseAddrPort("10.0.0.3:8080"), Connections: 7}}, nil
	}}
	now := time.Now()
	for i, want := range []int{1, 1, 0, 0} { // series at 0, 30, 60 and 120 s
		at := now.Add([]time.Duration{0, 30 * time.Second, time.Minute, 2 * time.Minute}[i])
		all := f.series(at)
		if len(all) != want {
			t.Errorf("%s: %v", at.Sub(now), all)
		}
		if want == 1 && (all[0].Labels["server"] != "10.96.0.10:80" || all[0].Labels["to"] != "10.0.0.3:8080" || all[0].Value != 7) {
			t.Errorf("%+v", all[0])
		}
	}
	if reads != 3 || notes != 1 {
		t.Errorf("%d readings, %d notes; want 3 and 1", reads, notes)
	}
}
