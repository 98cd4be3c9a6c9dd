package chunks

import (
	"math/rand/v2"
	"testing"

	"snag/internal/rtmp"
)

type drain struct{}

func (drain) Message(int64, *rtmp.Message) {}
func (drain) Locked(int64, int)            {}

// BenchmarkFollow is the cost of bytes of a stream whose chunks are known.
func BenchmarkFollow(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	m := newMux(4096)
	m.stream(r, 4, false)
	f := New(false, new(Pool), drain{})
	feed(f, r, m.out, 100, len(m.out))
	if f.ChunkSize() != 4096 {
		b.Fatal("not following")
	}
	f.size = 4096
	b.SetBytes(int64(len(m.out)))
	b.ReportAllocs()
	for b.Loop() {
		for at := 0; at < len(m.out); at += 1448 {
			f.Data(0, m.out[at:min(at+1448, len(m.out))])
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(m.msgs)), "ns/message")
}

// BenchmarkLock is the cost of finding the chunks in the middle.
func BenchmarkLock(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	m := newMux(4096)
	m.stream(r, 4, false)
	pool := new(Pool)
	for b.Loop() {
		f := New(false, pool, drain{})
		for at := 100000; !f.Following(); at += 1448 {
			f.Data(0, m.out[at:at+1448])
		}
		f.Close()
	}
}

// BenchmarkNoise is the cost of what never is a stream.
func BenchmarkNoise(b *testing.B) {
	noise := noise(rand.New(rand.NewPCG(1, 1)), 1<<20)
	f := New(false, new(Pool), drain{})
	b.SetBytes(int64(len(noise)))
	for b.Loop() {
		f.Data(0, noise)
	}
}
