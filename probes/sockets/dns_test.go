package sockets

import (
	"reflect"
	"testing"

	"snag/probes/sockets/diag"
	"snag/recording"
)

// Where nobody serves names the program that sees each wake-up of a socket is not attached.
func TestNothingIsAttachedWithoutANameServer(t *testing.T) {
	k := &inKernel{}
	s := newSlices(k, 1)
	a := &attached{hook: hook{program: kernelProgDataReady, forNames: true}}
	k.often = append(k.often, a)
	if !k.rests(a.hook) {
		t.Error("attached for nobody")
	}
	s.forNames()
	if k.rests(a.hook) {
		t.Error("not attached for a name server")
	}
}

func TestRowsOfNameServers(t *testing.T) {
	who := known{listeners: map[string]recording.FDRef{"0.0.0.0:53": nginx, "0.0.0.0:53/udp": {PID: 53, Comm: "dnsmasq"}}}
	key := kernelTurnKey{Flow: flow4([4]byte{}, 53, [4]byte{10, 0, 0, 7}, 0), Role: roleAccept, Udp: 1}
	value := kernelTurnValue{N: 2, Sum: 3e8, Max: 2e8, Wait: 1e8, Failed: 1, FailedAs: 11}
	value.Hist[1] = 2
	want := recording.Turns{T: 9, Netns: 7, Role: "serve", Local: "0.0.0.0:53", Remote: "10.0.0.7", Proto: "udp", PID: 53, Comm: "dnsmasq",
		N: 2, Sum: 0.3, Max: 0.2, Wait: 0.1, Failed: 1, FailedAs: "DNS REFUSED", Hist: []uint64{0, 2}}
	if got := turnRow(9, key, value, who); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	key.Udp = 0
	if got := turnRow(9, key, value, who); got.Proto != "" || got.PID != nginx.PID {
		t.Errorf("over TCP: %+v", got)
	}
	// What is folded stays apart from TCP at the same address.
	udp := recording.Turns{Role: "serve", Local: "0.0.0.0:53", Proto: "udp", N: 1}
	tcp := recording.Turns{Role: "serve", Local: "0.0.0.0:53", N: 1}
	if out := foldTurns([]recording.Turns{udp, tcp, udp, tcp}, 0); len(out) != 2 || out[0].N != 2 || out[1].N != 2 {
		t.Errorf("folded: %+v", out)
	}
}

func TestWhichSocketsServeNames(t *testing.T) {
	b := newBook(nil)
	for i, s := range []recording.Socket{
		{Proto: "udp", Local: "0.0.0.0:53", State: "UNCONN"},
		{Proto: "udp", Local: "10.0.0.1:53", Remote: "10.0.0.2:53", State: "ESTABLISHED"}, // asks, from a fixed port
		{Proto: "udp", Local: "0.0.0.0:5353", State: "UNCONN"},
		{Proto: "tcp", Local: "0.0.0.0:53", State: "LISTEN"},
	} {
		s.Inode = uint64(i + 1)
		b.note(&diag.Found{Socket: s})
	}
	if len(b.names) != 1 || b.names[listenKey{0, "0.0.0.0:53"}] != 1 {
		t.Errorf("%v", b.names)
	}
}
