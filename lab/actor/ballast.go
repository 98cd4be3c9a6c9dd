package actor

import "golang.org/x/sys/unix"

// ballast is memory outside of the Go runtime's, which would move and free it.
type ballast struct {
	mem  []byte
	next int
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
