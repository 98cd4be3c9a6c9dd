package nics

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// arena is memory that the kernel writes a driver's statistics into, behind which
// lies a page that nothing may touch: the kernel writes as many values as the
// driver has at that moment, whatever we asked for (net/ethtool/ioctl.c,
// ethtool_get_stats), so a driver that grows between two calls would write over
// what lies behind. This way it is an EFAULT.
type arena struct{ mem []byte }

func newArena(size int) (*arena, error) {
	page := os.Getpagesize()
	room := (size + page - 1) / page * page
	mem, err := unix.Mmap(-1, 0, room+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes for a driver's statistics: %w", room, err)
	}
	if err := unix.Mprotect(mem[room:], unix.PROT_NONE); err != nil {
		_ = unix.Munmap(mem)
		return nil, fmt.Errorf("guard the memory for a driver's statistics: %w", err)
	}
	return &arena{mem[:room:len(mem)]}, nil
}

func (a *arena) close() {
	if a != nil && a.mem != nil {
		_ = unix.Munmap(a.mem[:cap(a.mem)])
		a.mem = nil
	}
}

// ifreq is struct ifreq with a pointer in its union (uapi/linux/if.h).
type ifreq struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [24 - unsafe.Sizeof(uintptr(0))]byte
}

// ethtool calls SIOCETHTOOL with what the arena holds.
func (a *arena) ethtool(fd int, dev string) error {
	var r ifreq
	if len(dev) >= len(r.name) {
		return unix.EINVAL
	}
	copy(r.name[:], dev)
	r.data = unsafe.Pointer(&a.mem[0])
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&r)))
	if errno != 0 {
		return errno
	}
	return nil
}

const (
	setStats   = 1  // ETH_SS_STATS
	nameSize   = 32 // ETH_GSTRING_LEN
	mostValues = 1 << 15
)

// countStats asks how many statistics a driver has: struct ethtool_sset_info.
func (a *arena) countStats(fd int, dev string) (int, error) {
	clear(a.mem[:20])
	binary.NativeEndian.PutUint32(a.mem, unix.ETHTOOL_GSSET_INFO)
	binary.NativeEndian.PutUint64(a.mem[8:], 1<<setStats)
	if err := a.ethtool(fd, dev); err != nil {
		return 0, err
	}
	if binary.NativeEndian.Uint64(a.mem[8:]) == 0 {
		return 0, nil // the driver has no such set
	}
	n := binary.NativeEndian.Uint32(a.mem[16:])
	if n > mostValues {
		return 0, fmt.Errorf("driver of %s claims %d statistics", dev, n)
	}
	return int(n), nil
}

// names asks for the statistics' names: struct ethtool_gstrings.
func (a *arena) names(fd int, dev string, n int) ([]string, error) {
	binary.NativeEndian.PutUint32(a.mem, unix.ETHTOOL_GSTRINGS)
	binary.NativeEndian.PutUint32(a.mem[4:], setStats)
	binary.NativeEndian.PutUint32(a.mem[8:], uint32(n))
	if err := a.ethtool(fd, dev); err != nil {
		return nil, err
	}
	return decodeNames(a.mem[:12+n*nameSize], n), nil
}

// values asks for the statistics: struct ethtool_stats. False where there are no
// longer n of them.
func (a *arena) values(fd int, dev string, n int) ([]byte, bool, error) {
	binary.NativeEndian.PutUint32(a.mem, unix.ETHTOOL_GSTATS)
	binary.NativeEndian.PutUint32(a.mem[4:], uint32(n))
	err := a.ethtool(fd, dev)
	if errors.Is(err, unix.EFAULT) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return a.mem[8 : 8+8*n], int(binary.NativeEndian.Uint32(a.mem[4:])) == n, nil
}

// decodeNames splits the reply of ETHTOOL_GSTRINGS: a head of 12 bytes, its third
// word the count, then names of 32 bytes each.
func decodeNames(data []byte, n int) []string {
	if len(data) < 12 {
		return nil
	}
	n = min(n, int(binary.NativeEndian.Uint32(data[8:])), (len(data)-12)/nameSize)
	out := make([]string, 0, max(n, 0))
	for i := range n {
		out = append(out, text(data[12+i*nameSize:12+(i+1)*nameSize]))
	}
	return out
}
