package sockets

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"snag/internal/kernel"
)

func TestZZVerify(t *testing.T) {
	types, err := kernel.Types()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		spec, err := loadKernel()
		if err != nil {
			t.Fatal(err)
		}
		at, was := time.Now(), cpu(t)
		k, err := load(spec, types)
		if err != nil {
			t.Fatal(err)
		}
		t.Log("load took", time.Since(at), cpu(t)-was, len(k.lacks), k.lacks["sockets.turns"])
		if i == 0 {
			for name, p := range k.maps.Programs {
				info, _ := p.Info()
				n, _ := info.VerifiedInstructions()
				s, _ := info.JitedSize()
				t.Log(name, n, s)
			}
			for _, p := range k.progs {
				info, _ := p.Info()
				n, _ := info.VerifiedInstructions()
				t.Log("one", info.Name, n)
			}
		}
		k.close()
	}
}

func cpu(t *testing.T) time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(0, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
