package sockets

import (
	"testing"
	"time"

	"snag/internal/kernel"
)

// A kernel may refuse to iterate over the sockets' storage. Over open files each open request is counted once as
// well, however many descriptors its socket has.
func TestEachOpenRequestIsSweptOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	types, err := kernel.Types()
	if err != nil {
		t.Fatal(err)
	}
	for _, sweep := range []hook{overStorage, overFiles} {
		t.Run(sweep.program, func(t *testing.T) {
			if target := "bpf_sk_storage_map"; sweep.program == overStorage.program && kernel.Iterates(target) != nil {
				t.Skip("this kernel refuses BPF iterators over", target, ": Debian's kernels (make vm) allow them")
			}
			spec, err := loadKernel()
			if err != nil {
				t.Fatal(err)
			}
			k, err := load(spec, types, sweep)
			if err != nil {
				t.Fatal(err)
			}
			defer k.close()
			if l := k.lacks["sockets.turns"]; l != nil {
				t.Skip(l)
			}
			if err := newSlices(k, oftenShare).begin(); err != nil {
				t.Fatal(err)
			}
			l := b.listen("127.0.0.1:0")
			c := b.dial(l.Addr().String())
			s, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for range 3 { // as a server's workers inherit it
				again, err := c.File()
				if err != nil {
					t.Fatal(err)
				}
				defer again.Close()
			}
			if _, err := c.Write([]byte("GET /slow HTTP/1.1\r\n\r\n")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
			for range 2 { // at each sweep
				open := map[uint8]uint32{}
				if err := k.sweep(); err != nil {
					t.Fatal(err)
				}
				suffix, epoch, err := k.flip()
				if err != nil {
					t.Fatal(err)
				}
				err = kernel.Drain(k.maps.Maps["turns"+suffix], "sockets", func(key *kernelTurnKey, v *kernelTurnValue) {
					if uint64(key.Flow.Netns) == b.id {
						open[key.Role] += uint32(v.Open)
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := k.cleared("turn_rows", epoch); err != nil {
					t.Fatal(err)
				}
				if open[roleConnect] != 1 || open[roleAccept] != 1 {
					t.Errorf("open by role: %v, want 1 of each", open)
				}
			}
		})
	}
}
