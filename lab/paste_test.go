package lab_test

import (
	"fmt"
	"strings"
	"testing"

	"snag/lab"
	"snag/lab/labtest"
)

// A command is run as it stands, and what it reaches is compared with what the stage made.
func TestPaste(t *testing.T) {
	s := labtest.Stage(t)
	ns := s.Netns("app")
	p := s.Actor(ns, "pasted", "sleeper", nil)
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	all := []*lab.Stage{s}
	command := fmt.Sprintf("ip netns exec %s sysctl -w net.ipv4.tcp_syncookies=2 && kill -CONT %d", ns, p.PID)
	if why := lab.Outside(all, command); why != "" {
		t.Error(why)
	}
	for _, other := range []string{"kill -CONT 1", "ip netns exec other-app sysctl -w net.ipv4.tcp_syncookies=2", "sysctl -w vm.swappiness=60"} {
		if lab.Outside(all, command+" && "+other) == "" {
			t.Errorf("%s is taken for the stage's own", other)
		}
	}
	ran, err := lab.Paste(all, command)
	if err != nil || ran.Exit != 0 || ran.Output != "net.ipv4.tcp_syncookies = 2" {
		t.Errorf("%+v, %v", ran, err)
	}
	if now, err := s.Output(ns, "sysctl", "-n", "net.ipv4.tcp_syncookies"); err != nil || strings.TrimSpace(now) != "2" {
		t.Errorf("the setting is %q, %v", now, err)
	}
	ran, err = lab.Paste(all, "echo no such 'a  b' >&2; exit 3")
	if err != nil || ran.Exit != 3 || ran.Output != "no such a  b" {
		t.Errorf("%+v, %v", ran, err)
	}
}
