package host

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/mdlayher/netlink"
)

// schedTick is the unit of the packet scheduler's times, ns: PSCHED_SHIFT 6,
// kernel include/net/pkt_sched.h.
const schedTick = 64

// decodeOptions reads TCA_OPTIONS of the kinds that can drop for a setting.
// Values are as tc takes them, in base units: "8000000bit" a second, "10240b",
// "1000p", "50ms". A kind that is not known has none.
func decodeOptions(kind string, data []byte) map[string]string {
	out := map[string]string{}
	switch kind {
	case "pfifo", "bfifo":
		if len(data) >= 4 { // struct tc_fifo_qopt
			out["limit"] = strconv.FormatUint(uint64(binary.NativeEndian.Uint32(data)), 10) + map[string]string{"pfifo": "p", "bfifo": "b"}[kind]
		}
	case "netem":
		netemOptions(out, data)
	case "tbf":
		nested(data, func(t uint16, b []byte) { tbfOption(out, t, b) })
		tbfLatency(out)
	case "fq":
		nested(data, func(t uint16, b []byte) { named(out, fqNames, t, b) })
	case "fq_codel":
		nested(data, func(t uint16, b []byte) { named(out, fqCodelNames, t, b) })
	case "htb":
		nested(data, func(t uint16, b []byte) { htbOption(out, t, b) })
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func nested(data []byte, each func(kind uint16, b []byte)) {
	ad, err := netlink.NewAttributeDecoder(data)
	if err != nil {
		return
	}
	for ad.Next() {
		each(ad.Type(), ad.Bytes())
	}
}

// option is one 32-bit attribute: its name and unit.
type option struct{ name, unit string }

var fqNames = map[uint16]option{
	1: {"limit", "p"}, 2: {"flow_limit", "p"}, 3: {"quantum", "b"}, 4: {"initial_quantum", "b"},
	5: {"pacing", ""}, 7: {"maxrate", "bytes"},
}

var fqCodelNames = map[uint16]option{
	1: {"target", "us"}, 2: {"limit", "p"}, 3: {"interval", "us"}, 5: {"flows", ""},
	6: {"quantum", "b"}, 9: {"memory_limit", "b"},
}

func named(out map[string]string, names map[uint16]option, kind uint16, b []byte) {
	o, ok := names[kind]
	if !ok || len(b) < 4 {
		return
	}
	v := uint64(binary.NativeEndian.Uint32(b))
	switch o.unit {
	case "bytes":
		if v != 1<<32-1 { // ~0U is no limit
			out[o.name] = bits(v)
		}
	case "us":
		out[o.name] = (time.Duration(v) * time.Microsecond).String()
	default:
		out[o.name] = strconv.FormatUint(v, 10) + o.unit
	}
}

// bits writes a rate in bytes per second as tc does.
func bits(bytesPerSecond uint64) string {
	return strconv.FormatUint(bytesPerSecond*8, 10) + "bit"
}

// rate reads struct tc_ratespec: bytes per second.
func rate(b []byte) uint64 { return uint64(binary.NativeEndian.Uint32(b[8:])) }

func tbfOption(out map[string]string, kind uint16, b []byte) {
	switch {
	case kind == 1 && len(b) >= 36: // TCA_TBF_PARMS, struct tc_tbf_qopt
		r := rate(b)
		limit := binary.NativeEndian.Uint32(b[24:])
		burst := binary.NativeEndian.Uint32(b[28:]) // scheduler ticks that the burst takes at the rate
		if _, wide := out["rate"]; !wide {
			out["rate"] = bits(r)
		}
		out["limit"] = strconv.FormatUint(uint64(limit), 10) + "b"
		out["burst"] = strconv.FormatUint(bytesAt(r, burst), 10) + "b"
		if peak := rate(b[12:]); peak > 0 {
			out["peakrate"] = bits(peak)
		}
	case kind == 4 && len(b) >= 8: // TCA_TBF_RATE64
		out["rate"] = bits(binary.NativeEndian.Uint64(b))
	}
}

// bytesAt is what the rate sends in that many scheduler ticks, rounded: the
// kernel rounded the ticks down.
func bytesAt(rate uint64, ticks uint32) uint64 {
	return uint64(float64(rate)*float64(ticks)*schedTick/1e9 + 0.5)
}

// tbfLatency is how long a packet may wait: what the limit holds beyond the
// burst, at the rate (tc q_tbf.c).
func tbfLatency(out map[string]string) {
	var r, limit, burst float64
	if _, err := fmt.Sscanf(out["rate"]+" "+out["limit"]+" "+out["burst"], "%fbit %fb %fb", &r, &limit, &burst); err != nil || r <= 0 || limit < burst {
		return
	}
	out["latency"] = time.Duration((limit - burst) * 8 / r * 1e9).Round(time.Microsecond).String()
}

func netemOptions(out map[string]string, data []byte) {
	if len(data) < 24 { // struct tc_netem_qopt, then attributes
		return
	}
	at := func(i int) uint32 { return binary.NativeEndian.Uint32(data[i:]) }
	delay := time.Duration(at(0)) * schedTick
	jitter := time.Duration(at(20)) * schedTick
	out["limit"] = strconv.FormatUint(uint64(at(4)), 10) + "p"
	nested(data[24:], func(kind uint16, b []byte) {
		switch {
		case kind == 6 && len(b) >= 4: // TCA_NETEM_RATE
			if r := binary.NativeEndian.Uint32(b); r > 0 {
				out["rate"] = bits(uint64(r))
			}
		case kind == 10 && len(b) >= 8:
			delay = time.Duration(binary.NativeEndian.Uint64(b))
		case kind == 11 && len(b) >= 8:
			jitter = time.Duration(binary.NativeEndian.Uint64(b))
		}
	})
	if delay > 0 {
		out["delay"] = delay.Round(time.Microsecond).String()
	}
	if jitter > 0 {
		out["jitter"] = jitter.Round(time.Microsecond).String()
	}
	for name, i := range map[string]int{"loss": 8, "duplicate": 16} {
		if v := at(i); v > 0 {
			out[name] = strconv.FormatFloat(float64(v)/(1<<32-1), 'g', 4, 64) // a ratio
		}
	}
}

func htbOption(out map[string]string, kind uint16, b []byte) {
	switch {
	case kind == 1 && len(b) >= 36: // TCA_HTB_PARMS of a class, struct tc_htb_opt
		out["rate"], out["ceil"] = bits(rate(b)), bits(rate(b[12:]))
	case kind == 2 && len(b) >= 20: // TCA_HTB_INIT of the qdisc, struct tc_htb_glob
		out["default"] = fmt.Sprintf("%#x", binary.NativeEndian.Uint32(b[8:]))
	case kind == 6 && len(b) >= 8: // TCA_HTB_RATE64
		out["rate"] = bits(binary.NativeEndian.Uint64(b))
	case kind == 7 && len(b) >= 8: // TCA_HTB_CEIL64
		out["ceil"] = bits(binary.NativeEndian.Uint64(b))
	}
}
