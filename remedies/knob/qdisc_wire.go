package knob

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/mdlayher/netlink"
)

// decodeOptions reads TCA_OPTIONS of a kind. What is not in the table is an error
// beside the others' values: it could not be put back.
func (k *qdiscKind) decodeOptions(b []byte) (qdiscValues, error) {
	if k.decode != nil {
		return k.decode(k, b)
	}
	d, err := netlink.NewAttributeDecoder(b)
	if err != nil {
		return nil, err
	}
	out := qdiscValues{}
	var unknown error
	for d.Next() {
		o := k.byAttr(d.Type())
		if o == nil || len(d.Bytes()) < o.size {
			unknown = fmt.Errorf("it has an option that snag does not know (attribute %d, %d bytes)", d.Type(), len(d.Bytes()))
			continue
		}
		out[o.Name] = o.decode(d.Bytes())
	}
	if d.Err() != nil {
		return nil, d.Err()
	}
	return out, unknown
}

func (k *qdiscKind) byAttr(attr uint16) *qdiscOption {
	for i := range k.options {
		if k.options[i].attr == attr {
			return &k.options[i]
		}
	}
	return nil
}

func (o *qdiscOption) decode(b []byte) []uint64 {
	var out []uint64
	switch {
	case o.size == 1:
		return []uint64{uint64(b[0])}
	case o.size == 20: // struct tc_prio_qopt: the number of bands, and a band for each priority
		for _, band := range b[4:20] {
			out = append(out, uint64(band))
		}
	case o.codel:
		// It tells the next lower µs of 5000 (4999) and the like: one more is what was
		// set, and is kept as the same. Of multiples of 128 µs nothing is lost.
		n := uint64(binary.NativeEndian.Uint32(b))
		if n%128 != 0 && n < maxUint32 {
			n++
		}
		return []uint64{n}
	case o.log2:
		return []uint64{1 << (binary.NativeEndian.Uint32(b) & 31)}
	default:
		for i := range max(o.count, 1) {
			out = append(out, uint64(binary.NativeEndian.Uint32(b[4*i:])))
		}
	}
	return out
}

// encodeOptions writes TCA_OPTIONS, of the options that are given.
func (k *qdiscKind) encodeOptions(v qdiscValues) ([]byte, error) {
	if k.encode != nil {
		return k.encode(k, v)
	}
	e := netlink.NewAttributeEncoder()
	for i := range k.options {
		o := &k.options[i]
		values, ok := v[o.Name]
		if !ok {
			continue
		}
		switch {
		case o.size == 1:
			e.Uint8(o.attr, uint8(values[0]))
		case o.size == 20:
			b := binary.NativeEndian.AppendUint32(nil, 3)
			for _, band := range values {
				b = append(b, byte(band))
			}
			e.Bytes(o.attr, b)
		case o.log2:
			e.Uint32(o.attr, uint32(bits.Len64(values[0])-1))
		default:
			var b []byte
			for _, n := range values {
				b = binary.NativeEndian.AppendUint32(b, uint32(n))
			}
			e.Bytes(o.attr, b)
		}
	}
	return e.Encode()
}

func decodeNone(*qdiscKind, []byte) (qdiscValues, error) { return qdiscValues{}, nil }
func encodeNone(*qdiscKind, qdiscValues) ([]byte, error) { return nil, nil }

// decodeFIFO reads struct tc_fifo_qopt: the limit.
func decodeFIFO(_ *qdiscKind, b []byte) (qdiscValues, error) {
	if len(b) < 4 {
		return nil, fmt.Errorf("its options have %d bytes: they are not a limit", len(b))
	}
	return qdiscValues{"limit": {uint64(binary.NativeEndian.Uint32(b))}}, nil
}

func encodeFIFO(_ *qdiscKind, v qdiscValues) ([]byte, error) {
	if v["limit"] == nil {
		return nil, nil
	}
	return binary.NativeEndian.AppendUint32(nil, uint32(v["limit"][0])), nil
}

// schedTick is the unit of the packet scheduler's times, ns: PSCHED_SHIFT 6, kernel
// include/net/pkt_sched.h.
const schedTick = 64

// Attributes of tbf, uapi/linux/pkt_sched.h.
const (
	tbfParms, tbfRate64, tbfBurst = 1, 4, 6
	tbfParmsSize                  = 36 // struct tc_tbf_qopt
)

// decodeTBF reads rate, burst and limit. The kernel keeps the burst as the time that it
// takes at the rate, in whole ticks.
func decodeTBF(_ *qdiscKind, b []byte) (qdiscValues, error) {
	d, err := netlink.NewAttributeDecoder(b)
	if err != nil {
		return nil, err
	}
	var parms []byte
	rate := uint64(0)
	for d.Next() {
		switch d.Type() {
		case tbfParms:
			parms = d.Bytes()
		case tbfRate64:
			rate = d.Uint64()
		default:
			return nil, fmt.Errorf("it has an option that snag does not know (attribute %d)", d.Type())
		}
	}
	switch {
	case d.Err() != nil:
		return nil, d.Err()
	case len(parms) < tbfParmsSize:
		return nil, fmt.Errorf("its options have %d bytes: they are not a rate", len(parms))
	}
	at := func(i int) uint32 { return binary.NativeEndian.Uint32(parms[i:]) }
	if at(12+8) != 0 || binary.NativeEndian.Uint16(parms[2:]) != 0 || binary.NativeEndian.Uint16(parms[6:]) != 0 {
		return nil, fmt.Errorf("it has a peakrate, an overhead or an mpu, which snag does not know")
	}
	if rate == 0 {
		rate = uint64(at(8))
	}
	ticks := uint64(at(28))
	burst, ok := burstOf(rate, ticks)
	switch {
	case !ok && burstWraps(rate, ticks):
		return nil, fmt.Errorf("its burst takes more than 275 s at its rate, which netlink does not report whole: it could not be put back")
	case !ok:
		burst = uint64(float64(rate)*float64(ticks)*schedTick/1e9 + 0.5)
	}
	return qdiscValues{"rate": {rate}, "burst": {burst}, "limit": {uint64(at(24))}}, nil
}

func encodeTBF(_ *qdiscKind, v qdiscValues) ([]byte, error) {
	if v["rate"] == nil || v["burst"] == nil || v["limit"] == nil {
		return nil, fmt.Errorf("tbf needs rate, burst and limit")
	}
	rate, burst, limit := v["rate"][0], v["burst"][0], v["limit"][0]
	parms := make([]byte, tbfParmsSize)
	parms[1] = 1 // TC_LINKLAYER_ETHERNET: then the kernel computes, and wants no table (sch_tbf.c)
	binary.NativeEndian.PutUint32(parms[8:], uint32(min(rate, maxUint32)))
	binary.NativeEndian.PutUint32(parms[24:], uint32(limit))
	ticks := float64(burst) * 1e9 / float64(rate) / schedTick
	if ticks > math.MaxUint32 {
		return nil, fmt.Errorf("a burst of %d bytes takes too long at %d bit/s", burst, rate*8)
	}
	binary.NativeEndian.PutUint32(parms[28:], uint32(ticks))
	e := netlink.NewAttributeEncoder()
	e.Bytes(tbfParms, parms)
	e.Uint32(tbfBurst, uint32(burst))
	if rate > maxUint32 {
		e.Uint64(tbfRate64, rate)
	}
	return e.Encode()
}

// struct tc_sfq_qopt_v1: an older one of 20 bytes, then what 3.3 added, and counters.
const sfqSize = 68 + 4

// decodeSFQ reads it. With RED it is left to a person.
func decodeSFQ(_ *qdiscKind, b []byte) (qdiscValues, error) {
	if len(b) < 44 {
		return nil, fmt.Errorf("its options have %d bytes: they are not a struct tc_sfq_qopt_v1", len(b))
	}
	at := func(i int) uint64 { return uint64(binary.NativeEndian.Uint32(b[i:])) }
	if at(32) != 0 || at(36) != 0 {
		return nil, fmt.Errorf("it has RED, which snag does not know")
	}
	v := qdiscValues{"perturb": {at(4)}, "headdrop": {at(24)}}
	for name, i := range map[string]int{"quantum": 0, "limit": 8, "divisor": 12, "flows": 16, "depth": 20} {
		if at(i) != 0 { // 0 leaves it to the kernel
			v[name] = []uint64{at(i)}
		}
	}
	return v, nil
}

func encodeSFQ(_ *qdiscKind, v qdiscValues) ([]byte, error) {
	b := make([]byte, sfqSize)
	for name, i := range map[string]int{"quantum": 0, "perturb": 4, "limit": 8, "divisor": 12, "flows": 16, "depth": 20, "headdrop": 24} {
		if v[name] != nil {
			binary.NativeEndian.PutUint32(b[i:], uint32(v[name][0]))
		}
	}
	return b, nil
}
