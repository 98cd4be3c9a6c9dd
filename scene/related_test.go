package scene

import (
	"testing"

	"snag/recording"
)

// Each container has a loopback of its own: two services at 127.0.0.1:8080 of two network
// namespaces have nothing in common, while an address of a network is one.
func TestALoopbackIsOfItsNamespace(t *testing.T) {
	s := &Scene{}
	listener := func(netns uint64, local string) recording.Subject {
		return recording.Subject{Kind: recording.KindListener, Netns: netns, Proto: "tcp", Local: local}
	}
	flow := func(netns uint64, remote string) recording.Subject {
		return recording.Subject{Kind: recording.KindFlow, Netns: netns, Proto: "tcp", Local: "127.0.0.1:40000", Remote: remote}
	}
	for _, c := range []struct {
		a, b recording.Subject
		want bool
	}{
		{flow(1, "127.0.0.1:8080"), listener(1, "127.0.0.1:8080"), true},
		{flow(1, "127.0.0.1:8080"), listener(2, "127.0.0.1:8080"), false},
		{flow(1, "[::1]:8080"), listener(2, "[::1]:8080"), false},
		{flow(1, "10.0.0.1:8080"), listener(2, "10.0.0.1:8080"), true},
	} {
		if got := sharesAddress(c.a, c.b); got != c.want || s.Touch(c.a, c.b) != c.want {
			t.Errorf("%s → %s of namespace %d and %s of %d: %v", c.a.Local, c.a.Remote, c.a.Netns, c.b.Local, c.b.Netns, got)
		}
	}
}
