package gb28181

import (
	"context"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/gb28181/gbtest"
	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

// A platform gets messages that snag is there; one that has forgotten it gets a new
// registration, and one that no longer answers is left.
func TestStay(t *testing.T) {
	p := (&gbtest.Platform{ID: platformID}).Serve(t, "udp")
	o := wire.Defaults(stream.Options{Timeout: 200 * time.Millisecond})
	peer, err := open(context.Background(), at(t, p.URL()), o)
	if err != nil {
		t.Fatal(err)
	}
	if peer.alive(1) != 0 || !strings.Contains(p.Body("MESSAGE"), "<CmdType>Keepalive</CmdType>") || p.Count("REGISTER") != 1 {
		t.Errorf("%q", p.Seen())
	}
	p.Forget()
	if peer.alive(0) != 0 || p.Count("REGISTER") != 2 {
		t.Errorf("%q", p.Seen())
	}
	peer.registered.at = peer.registered.at.Add(-31 * time.Minute)
	if peer.alive(0) != 0 || p.Count("REGISTER") != 3 {
		t.Errorf("half of the registration is over: %q", p.Seen())
	}
	p.Set(func() { p.Deaf = map[string]int{"MESSAGE": 99} })
	if peer.alive(0) != 1 {
		t.Error("no answer counts as one")
	}
	go peer.stay(10 * time.Millisecond)
	select {
	case <-peer.gone:
	case <-time.After(3 * time.Second):
		t.Error("it stays with a platform that does not answer")
	}
}

// A dialog ends with the connection that it was begun on.
func TestConnectionEnds(t *testing.T) {
	p := (&gbtest.Platform{ID: platformID, NoMedia: true}).Serve(t, "tcp")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- read1(t, ctx, p.URL()+"/"+door+"?transport=tcp", &taken{}) }()
	for p.Count("ACK") == 0 && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	p.Hangup()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "ended: the SIP connection ended") {
		t.Error(err)
	}
}

func TestGranted(t *testing.T) {
	for _, c := range []struct {
		fields []field
		want   int
	}{
		{[]field{{"Contact", "<sip:a@b>;expires=60"}, {"Expires", "90"}}, 60},
		{[]field{{"Expires", "90"}}, 90},
		{[]field{{"Expires", "x"}}, 3600},
		{nil, 3600},
	} {
		if got := granted(&message{status: 200, fields: c.fields}, 3600); got != c.want {
			t.Errorf("%v: %d", c.fields, got)
		}
	}
}

// The credentials of a catalogue serve a camera whose URL has none.
func TestSharedUser(t *testing.T) {
	p := (&gbtest.Platform{ID: platformID, User: "me", Password: "x", Challenge: []string{"REGISTER", "INVITE"}, Film: gbtest.Film(t, 1)}).Serve(t, "udp")
	if _, err := ask(t, strings.Replace(p.URL(), "//", "//me:x@", 1)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	sink := &taken{enough: 10, done: cancel}
	if err := read1(t, ctx, p.URL()+"/"+door, sink); err != nil || sink.video < 10 {
		t.Errorf("%v, %q", err, p.Seen())
	}
}
