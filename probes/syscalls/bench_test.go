package syscalls

import (
	"os"
	"testing"
)

// BenchmarkStart is what it takes until calls are counted.
func BenchmarkStart(b *testing.B) {
	if os.Getuid() != 0 {
		b.Skip("needs root, to load BPF programs")
	}
	for b.Loop() {
		l, err := load("/proc", "/sys", options{self: os.Getpid()})
		if err != nil {
			b.Fatal(err)
		}
		if err := l.attach(int64(nanotime())); err != nil {
			b.Fatal(err)
		}
		l.close()
	}
}
