// Package audit tells which settings of a host are too small for what it is there for,
// before anybody feels it: each with the number that it must hold, the source of that,
// and the measurement that would show that it matters. It reads a recording, and names
// nothing that the setting as it is covers.
package audit

import (
	"fmt"
	"strconv"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/suspects"
)

// Role is what a host is there for.
type Role string

// Roles of a host.
const (
	UDPMedia  Role = "udp-media"  // receives or sends RTP, SRT, MPEG-TS over UDP
	TCPStream Role = "tcp-stream" // RTMP, HLS, downloads: few long answers over long ways
	Cache     Role = "cache"      // much in memory, many short answers
	RPC       Role = "rpc"        // many small requests, each waited for
)

// Roles are all, as the command line takes them.
var Roles = []Role{UDPMedia, TCPStream, Cache, RPC}

// Design is what the host must bear; what is 0 is taken from the recording, else from
// the usual.
type Design struct {
	Rate float64 // bytes a second of one stream
	RTT  float64 // s, of the farthest peer
}

// Risk is a setting that is too small for the role.
type Risk struct {
	Setting suspects.Setting // with its Why
	// Call is it instead, where only a program can change it.
	Call   suspects.Call
	Source string
	// Shows is the measurement that would show that it matters.
	Shows string
}

const (
	// usualRate of a stream, bytes a second: 20 Mbit/s, a good one in 4K.
	usualRate = 2.5e6
	// usualRTT to a viewer on another continent, s.
	usualRTT = 0.2
	// stall of a reader that nothing is wrong with, s: healthy streams on a busy machine
	// show gaps of 100 to 350 ms.
	stall = 0.35
	// truesize is how much more than its payload a packet takes of a receive buffer:
	// 2304 bytes for one of 1,000 to 1,500.
	truesize = 2.0
	// packet is the payload of a datagram of media: seven packets of MPEG-TS, bytes.
	packet = 1316
)

// host is what the rules look at.
type host struct {
	r      *recording.Recording
	role   Role
	rate   float64
	rtt    float64
	said   string  // where the rate is from
	rttIs  string  // where the round trip is from
	memory float64 // bytes; 0 unknown
}

// rule looks at one setting: what of it is a risk, or in words that it is covered.
type rule struct {
	roles []Role
	look  func(host) (risks []Risk, covered string)
}

// Of audits the host of a recording.
func Of(r *recording.Recording, role Role, d Design) (risks []Risk, covered []string) {
	h := host{r: r, role: role, rate: d.Rate, rtt: d.RTT, said: "as you said", rttIs: "as you said"}
	if h.rate == 0 {
		h.rate, h.said = h.busiest()
	}
	if h.rtt == 0 {
		h.rtt, h.rttIs = h.farthest()
	}
	for _, s := range r.Select("node_memory_MemTotal_bytes") {
		h.memory, _ = s.Last()
	}
	for _, rule := range rules {
		for _, at := range rule.roles {
			if at != role {
				continue
			}
			found, text := rule.look(h)
			risks = append(risks, found...)
			if text != "" && len(found) == 0 {
				covered = append(covered, text)
			}
		}
	}
	return risks, covered
}

// busiest is the rate of the socket that received or sent most, or the usual.
func (h host) busiest() (float64, string) {
	seconds := h.r.Length().Seconds()
	best := 0.0
	switch {
	case seconds <= 0:
	case h.role == UDPMedia: // sockets of UDP count no bytes: all datagrams, as if one's
		for _, s := range h.r.Select("node_netstat_Udp_InDatagrams") {
			if n, ok := s.Increase(); ok {
				best = max(best, n*packet/seconds)
			}
		}
	default:
		first := map[string]*recording.TCPInfo{}
		for _, k := range h.r.Sockets {
			if k.TCP == nil {
				continue
			}
			key := strconv.FormatUint(k.Netns, 10) + k.Local + k.Remote
			if first[key] == nil {
				first[key] = k.TCP
			}
			for _, n := range [][2]uint64{{first[key].BytesAcked, k.TCP.BytesAcked}, {first[key].BytesReceived, k.TCP.BytesReceived}} {
				if n[1] > n[0] {
					best = max(best, float64(n[1]-n[0])/seconds)
				}
			}
		}
	}
	if best > usualRate {
		return best, "the busiest that was measured"
	}
	return usualRate, "a stream in 4K, as no busier one was measured"
}

// farthest is the longest round trip of a connection, or the usual.
func (h host) farthest() (float64, string) {
	most := 0.0
	for _, k := range h.r.Sockets {
		if k.TCP != nil && k.State == "ESTABLISHED" {
			most = max(most, k.TCP.MinRTT)
		}
	}
	if most > usualRTT {
		return most, "the longest that was measured"
	}
	return usualRTT, "to another continent, as no longer one was measured"
}

// number is a setting of the host as one; false where the recording does not tell it.
func (h host) number(name string) (float64, bool) {
	text, ok := h.r.FactOf(name, 0)
	if !ok {
		text, ok = h.r.FactOf(name, h.r.Manifest.Netns)
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return v, ok && err == nil
}

// numbers is a setting of several.
func (h host) numbers(name string, n int) ([]float64, bool) {
	text, ok := h.r.FactOf(name, 0)
	f := strings.Fields(text)
	if !ok || len(f) != n {
		return nil, false
	}
	out := make([]float64, n)
	for i, s := range f {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

// own tells whether a row is of the host's own namespace.
func (h host) own(netns uint64) bool { return netns == 0 || netns == h.r.Manifest.Netns }

func mbit(bytesPerSecond float64) string {
	return strconv.FormatFloat(bytesPerSecond*8e-6, 'f', -1, 64) + " Mbit/s"
}

func whole(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

func sysctl(name, value, why, risk string) suspects.Setting {
	return suspects.Setting{Kind: "sysctl", Name: name, Value: value, Why: why, Risk: risk}
}

// isNow begins a reason with the value that is there.
func isNow(v float64) string { return fmt.Sprintf("it is %s", units.Bytes(v)) }
