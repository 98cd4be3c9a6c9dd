package sockets

import (
	"net"
	"slices"
	"testing"
	"time"

	"snag/internal/kernel"
)

// With one place for all, each connection but one has its entry in the hash table: the counts are
// the same. When all have ended, nothing is left in either.
func TestConnectionsWhosePlaceIsTakenAreCountedAsWell(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	types, err := kernel.Types()
	if err != nil {
		t.Fatal(err)
	}
	spec, err := loadKernel()
	if err != nil {
		t.Fatal(err)
	}
	spec.Maps[kernelMapBirths].MaxEntries = 1
	k, err := load(spec, types, sweepHere())
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	if l := k.lacks["sockets.connections"]; l != nil {
		t.Fatal(l)
	}
	const n = 20
	l := b.listen("127.0.0.1:7041")
	var open []net.Conn
	for range n {
		c := b.dial("127.0.0.1:7041")
		s, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c, s)
	}
	var crowded uint32
	if err := k.maps.Variables[kernelVarCrowded].Get(&crowded); err != nil || crowded < 2*n-1 {
		t.Errorf("%d entries beside the one place, want at least %d: %v", crowded, 2*n-1, err)
	}
	for c := range slices.Chunk(open, 2) { // the server hangs up first, without having been asked
		_ = c[1].Close()
		_, _ = c[0].Read(make([]byte, 1))
		_ = c[0].Close()
	}
	time.Sleep(200 * time.Millisecond)
	counts := connectionsOf(t, k, b.id)
	for _, role := range []uint8{roleConnect, roleAccept} {
		v := counts[role]
		if v.Opened != n || v.Closed != n || v.Brief != n || v.Unasked != n || v.Failed != 0 || v.Lifetime == 0 {
			t.Errorf("role %d: %+v, want %d each", role, v, n)
		}
	}
	if v := counts[roleConnect]; v.ByPeer != n || v.Handshake == 0 || v.HandshakeMax > v.Handshake || v.Pid == 0 {
		t.Errorf("clients: %+v", v)
	}
	if counts[roleAccept].ByPeer != 0 {
		t.Errorf("servers hung up first: %+v", counts[roleAccept])
	}
	noneLeft(t, k, open)
}

// connectionsOf empties the tables and adds up what is of a namespace, by role.
func connectionsOf(t *testing.T, k *inKernel, netns uint64) map[uint8]kernelConnValue {
	t.Helper()
	suffix, _, err := k.flip()
	if err != nil {
		t.Fatal(err)
	}
	got := map[uint8]kernelConnValue{}
	err = kernel.Drain(k.maps.Maps["connections"+suffix], "sockets", func(key *kernelConnKey, v *kernelConnValue) {
		if uint64(key.Flow.Netns) != netns {
			return
		}
		to := got[key.Role]
		to.Opened, to.Failed, to.Closed = to.Opened+v.Opened, to.Failed+v.Failed, to.Closed+v.Closed
		to.Brief, to.Unasked, to.ByPeer = to.Brief+v.Brief, to.Unasked+v.Unasked, to.ByPeer+v.ByPeer
		to.Lifetime, to.Handshake, to.HandshakeMax = to.Lifetime+v.Lifetime, to.Handshake+v.Handshake, max(to.HandshakeMax, v.HandshakeMax)
		to.Pid = max(to.Pid, v.Pid)
		got[key.Role] = to
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// noneLeft fails if connections of this test, which have all ended, have entries.
func noneLeft(t *testing.T, k *inKernel, open []net.Conn) {
	t.Helper()
	var crowded uint32
	if err := k.maps.Variables[kernelVarCrowded].Get(&crowded); err != nil || int(crowded) >= len(open)/2 {
		t.Errorf("%d entries are left: %v", crowded, err)
	}
}
