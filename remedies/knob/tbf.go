package knob

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sort"

	"github.com/mdlayher/netlink"
)

// length2ns is the time that so many bytes take at a rate, ns, exactly as the kernel
// computes it (psched_ratecfg_precompute__ of net/sched/sch_generic.c, psched_l2t_ns of
// include/net/sch_generic.h).
func length2ns(rate, length uint64) uint64 {
	if rate == 0 {
		return length
	}
	factor, shift := uint64(1e9), 0
	for {
		mult := uint32(factor / rate)
		if mult&(1<<31) != 0 || factor&(1<<63) != 0 {
			high, low := bits.Mul64(length, uint64(mult))
			if high != 0 {
				return 1<<64 - 1
			}
			return low >> shift
		}
		factor <<= 1
		shift++
	}
}

// burstOf is the largest burst that netlink reports as so many ticks at a rate. Not ok:
// none is, and the burst was set in ticks.
func burstOf(rate, ticks uint64) (bytes uint64, ok bool) {
	n := sort.Search(1<<32, func(b int) bool { return length2ns(rate, uint64(b))/schedTick > ticks })
	if n == 0 {
		return 0, false
	}
	bytes = uint64(n - 1)
	return bytes, bytes > 0 && length2ns(rate, bytes)/schedTick == ticks
}

// mostLikely burst, bytes, that is looked for where a report may have lost its high bits.
const mostLikely = 64 << 20

// burstWraps reports whether the ticks that netlink reports, 32 bits, may be the lower part
// of those of a larger burst: 275 s and more of the rate. What then was set is not known.
func burstWraps(rate, ticks uint64) bool {
	if _, ok := burstOf(rate, ticks); ok {
		return false
	}
	for ticks += 1 << 32; ticks*schedTick <= length2ns(rate, mostLikely); ticks += 1 << 32 {
		if _, ok := burstOf(rate, ticks); ok {
			return true
		}
	}
	return false
}

// tbfAgain is what makes a tbf as netlink reported it: the same attributes, and beside
// the ticks the burst in bytes that they stand for, by which the kernel also bounds the
// size of a packet. Where no number of bytes has those ticks, they alone say it.
func tbfAgain(options []byte) ([]byte, error) {
	d, err := netlink.NewAttributeDecoder(options)
	if err != nil {
		return nil, err
	}
	e := netlink.NewAttributeEncoder()
	var parms []byte
	rate := uint64(0)
	for d.Next() {
		switch d.Type() {
		case tbfParms:
			parms = d.Bytes()
		case tbfRate64:
			rate = d.Uint64()
		}
		e.Bytes(d.Type(), d.Bytes())
	}
	if d.Err() != nil || len(parms) < tbfParmsSize {
		return nil, fmt.Errorf("its options have %d bytes: they are not a rate", len(parms))
	}
	if rate == 0 {
		rate = uint64(binary.NativeEndian.Uint32(parms[8:]))
	}
	if burst, ok := burstOf(rate, uint64(binary.NativeEndian.Uint32(parms[28:]))); ok {
		e.Uint32(tbfBurst, uint32(burst))
	}
	return e.Encode()
}
