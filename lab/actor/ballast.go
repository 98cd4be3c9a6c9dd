package actor

import (
	"os"

	"golang.org/x/sys/unix"
)

// ballast is memory outside of the Go runtime's, which would move and free it.
type ballast struct {
	mem   []byte
	next  int
	reads bool // it is a file, which is only read
	sum   byte
}

const pageSize = 4096

func newBallast(size int) *ballast {
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return &ballast{}
	}
	// Small pages: swapped one by one.
	_ = unix.Madvise(mem, unix.MADV_NOHUGEPAGE)
	h := &ballast{mem: mem}
	for i := 0; i < len(mem); i += pageSize {
		mem[i], mem[i+8] = byte(i>>12)|1, byte(i>>20) // none is all zeros, which swap keeps for nothing
	}
	return h
}

// newMapped is a new file of that size as ballast: its pages are the page cache's, which the
// kernel may give up and read again.
func newMapped(path string, size int) (*ballast, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	part := make([]byte, 1<<20)
	for at := 0; at < size; at += len(part) {
		if _, err := f.Write(part); err != nil {
			return nil, err
		}
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	mem, err := unix.Mmap(int(r.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	_ = unix.Madvise(mem, unix.MADV_RANDOM) // without it, the kernel reads ahead what nobody needs
	return &ballast{mem: mem, reads: true}, nil
}

// touch uses pages far from each other, others each time, so that reading ahead
// helps little.
func (h *ballast) touch(pages int) {
	if len(h.mem) == 0 {
		return
	}
	const stride = 7919 // a prime: every page is met before one is met again
	all := len(h.mem) / pageSize
	for range pages {
		h.next = (h.next + stride) % all
		if h.reads {
			h.sum += h.mem[h.next*pageSize]
			continue
		}
		h.mem[h.next*pageSize]++
	}
}

// takeHuge faults in memory that wants to be huge pages, writes to each and gives
// it back, as a runtime that grows its heap for a request does.
func takeHuge(pages int) error {
	const huge = 2 << 20
	mem, err := unix.Mmap(-1, 0, (pages+1)*huge, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	defer unix.Munmap(mem)
	_ = unix.Madvise(mem, unix.MADV_HUGEPAGE)
	for i := 0; i < len(mem); i += huge {
		mem[i] = 1
	}
	return nil
}
