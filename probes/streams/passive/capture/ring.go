package capture

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"snag/internal/netns"
)

// The ring: a block holds the longest packet whole, and the kernel hands a block
// over when it is full or after retire. A frame's arrival is the kernel's time, so
// that waiting costs no accuracy, and few wakeups cost little.
const (
	blockSize = 1 << 20
	blocks    = 8
	retire    = 100 * time.Millisecond
)

// Lag is by how much a packet may be older than Options.Tick's time when it is
// handed on: the kernel hands a block over after retire, and its timers are late.
const Lag = retire + 50*time.Millisecond

// Options are what to capture.
type Options struct {
	Iface string        // "" is all interfaces of the namespace
	Ports []uint16      // TCP and UDP; none: all
	Netns *netns.Handle // nil is snag's own
	// Tick is called at least every 100 ms or so, on the goroutine of Run, with the
	// monotonic time; while the reader is behind, with that of the last packet that
	// was handed on. May be nil.
	Tick func(at int64)
	// Lost says that the ring was full and so many packets found no room between two
	// times, monotonic ns; on the goroutine of Run. May be nil.
	Lost func(from, to int64, packets uint64)
	// To: only what is sent to the ports.
	To bool
	// Blocks is how many MiB the ring has; 0: 8.
	Blocks int
}

// Ring is an open capture.
type Ring struct {
	fd     int
	mem    []byte
	tick   func(int64)
	lost   func(from, to int64, packets uint64)
	blocks int
	to     bool
	last   int64 // of the newest packet that was handed on, ns
	looked int64 // when the counters were read last, ns
	offset int64 // monotonic less realtime, ns
	stats  struct{ packets, dropped, frozen atomic.Uint64 }
}

// Open begins to capture.
func Open(o Options) (*Ring, error) {
	prog, err := Filter(o.Ports, o.To)
	if err != nil {
		return nil, err
	}
	r := &Ring{fd: -1, to: o.To, tick: o.Tick, lost: o.Lost, blocks: o.Blocks, looked: now(unix.CLOCK_MONOTONIC)}
	if r.blocks <= 0 {
		r.blocks = blocks
	}
	open := func() error { return r.open(o.Iface, prog) }
	if o.Netns != nil {
		err = o.Netns.Do(open)
	} else {
		err = open()
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Ring) open(iface string, prog []bpf.RawInstruction) error {
	index := 0
	if iface != "" {
		i, err := net.InterfaceByName(iface)
		if err != nil {
			return fmt.Errorf("capture on interface %s: %w (\"ip link\" lists them)", iface, err)
		}
		index = i.Index
	}
	var err error
	// Protocol 0: no packet comes in before the filter stands and the socket is bound.
	if r.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0); err != nil {
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
			return fmt.Errorf("open a packet socket: %w: run as root, or give the binary CAP_NET_RAW", err)
		}
		return fmt.Errorf("open a packet socket: %w (does this kernel have CONFIG_PACKET?)", err)
	}
	if err = unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3); err != nil {
		return fmt.Errorf("set TPACKET_V3 on the packet socket: %w (it takes Linux 3.2)", err)
	}
	if err = r.attach(prog); err != nil {
		return err
	}
	req := unix.TpacketReq3{
		Block_size: blockSize, Block_nr: uint32(r.blocks),
		Frame_size: 2048, Frame_nr: blockSize / 2048 * uint32(r.blocks), // of no effect with V3, but checked
		Retire_blk_tov: uint32(retire.Milliseconds()),
	}
	if err = unix.SetsockoptTpacketReq3(r.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &req); err != nil {
		return fmt.Errorf("make a ring of %d MiB for packets: %w", blockSize*r.blocks>>20, err)
	}
	if r.mem, err = unix.Mmap(r.fd, 0, blockSize*r.blocks, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return fmt.Errorf("map the ring of packets: %w", err)
	}
	all := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))
	if err = unix.Bind(r.fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: index}); err != nil {
		return fmt.Errorf("bind the packet socket: %w", err)
	}
	return nil
}

// attach sets the filter; a second one takes the first one's place at once.
func (r *Ring) attach(prog []bpf.RawInstruction) error {
	filter := make([]unix.SockFilter, len(prog))
	for i, p := range prog {
		filter[i] = unix.SockFilter{Code: p.Op, Jt: p.Jt, Jf: p.Jf, K: p.K}
	}
	fprog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.SetsockoptSockFprog(r.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &fprog); err != nil {
		return fmt.Errorf("attach the filter to the packet socket: %w", err)
	}
	return nil
}

// SetPorts captures other ports from now on.
func (r *Ring) SetPorts(ports []uint16) error {
	prog, err := Filter(ports, r.to)
	if err != nil {
		return err
	}
	return r.attach(prog)
}

// Close ends the capture. Run must have returned.
func (r *Ring) Close() {
	if r.mem != nil {
		unix.Munmap(r.mem)
		r.mem = nil
	}
	if r.fd >= 0 {
		unix.Close(r.fd)
		r.fd = -1
	}
}

// Stats is what was taken and missed so far.
func (r *Ring) Stats() Stats {
	return Stats{r.stats.packets.Load(), r.stats.dropped.Load(), r.stats.frozen.Load()}
}

// Run hands packets on until ctx ends; it returns nil then.
func (r *Ring) Run(ctx context.Context, handle func(*Packet)) error {
	fds := []unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLIN | unix.POLLERR}}
	defer r.count()
	for i := 0; ; {
		block := r.mem[i*blockSize : (i+1)*blockSize]
		head := (*unix.TpacketBlockDesc)(unsafe.Pointer(&block[0]))
		status := (*uint32)(unsafe.Pointer(&head.Hdr[0]))
		behind := false
		if atomic.LoadUint32(status)&unix.TP_STATUS_USER != 0 {
			r.clocks()
			r.block(block, (*unix.TpacketHdrV1)(unsafe.Pointer(&head.Hdr[0])), handle)
			atomic.StoreUint32(status, unix.TP_STATUS_KERNEL)
			i = (i + 1) % r.blocks
			behind = r.ready(i)
		} else if _, err := unix.Poll(fds, int(retire.Milliseconds())); err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait for packets: %w", err)
		} else if fds[0].Revents&unix.POLLERR != 0 {
			if n, _ := unix.GetsockoptInt(r.fd, unix.SOL_SOCKET, unix.SO_ERROR); n != 0 {
				return fmt.Errorf("capture: %w (is the interface still there and up?)", unix.Errno(n))
			}
		}
		r.count()
		if r.tick != nil {
			if behind {
				r.tick(r.last)
			} else {
				r.tick(now(unix.CLOCK_MONOTONIC))
			}
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// ready reports whether the kernel handed a block over.
func (r *Ring) ready(i int) bool {
	head := (*unix.TpacketBlockDesc)(unsafe.Pointer(&r.mem[i*blockSize]))
	return atomic.LoadUint32((*uint32)(unsafe.Pointer(&head.Hdr[0])))&unix.TP_STATUS_USER != 0
}

// block walks over the packets of a block (Documentation/networking/packet_mmap.rst).
// The kernel wrote the offsets; they are checked all the same.
func (r *Ring) block(block []byte, h *unix.TpacketHdrV1, handle func(*Packet)) {
	const addr = (int(unsafe.Sizeof(unix.Tpacket3Hdr{})) + 15) &^ 15 // TPACKET_ALIGN: the sockaddr_ll follows
	at := int(h.Offset_to_first_pkt)
	for range h.Num_pkts {
		if at < 0 || at+addr+20 > len(block) {
			return
		}
		t := (*unix.Tpacket3Hdr)(unsafe.Pointer(&block[at]))
		from, to := at+int(t.Net), at+int(t.Net)+int(t.Snaplen)
		if to > len(block) {
			return
		}
		ll := block[at+addr:]
		r.last = int64(t.Sec)*1e9 + int64(t.Nsec) + r.offset
		handle(&Packet{
			At:    r.last,
			Proto: binary.BigEndian.Uint16(ll[2:]),
			Data:  block[from:to:to],
			Wire:  int(t.Len),
		})
		if t.Next_offset == 0 {
			return
		}
		at += int(t.Next_offset)
	}
}

// clocks learns how the realtime clock, by which the kernel stamps packets, lies
// to the monotonic one. A step of the clock misleads for one block.
func (r *Ring) clocks() {
	before := now(unix.CLOCK_MONOTONIC)
	real := now(unix.CLOCK_REALTIME)
	after := now(unix.CLOCK_MONOTONIC)
	if offset := before + (after-before)/2 - real; r.offset == 0 || after-before < 10_000 {
		r.offset = offset
	}
}

func now(clock int32) int64 {
	var ts unix.Timespec
	if unix.ClockGettime(clock, &ts) != nil {
		return 0
	}
	return ts.Nano()
}

// count adds the kernel's counters up: it clears them at each call.
func (r *Ring) count() {
	st, err := unix.GetsockoptTpacketStatsV3(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return
	}
	r.stats.packets.Add(uint64(st.Packets))
	r.stats.dropped.Add(uint64(st.Drops))
	r.stats.frozen.Add(uint64(st.Freeze_q_cnt))
	from, to := r.looked, now(unix.CLOCK_MONOTONIC)
	r.looked = to
	if st.Drops > 0 && r.lost != nil {
		r.lost(from, to, uint64(st.Drops))
	}
}
