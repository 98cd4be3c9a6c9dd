// Package audit reports which settings of a host are too small for what it is there for,
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
	"snag/suspects/suspect"
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
	Rate float64 // bytes per second of one stream
	RTT  float64 // s, of the farthest peer
}

// Risk is a setting that is too small for the role.
type Risk struct {
	Setting suspect.Setting // with its Why
	// Call is it instead, where only a program can change it.
	Call   suspect.Call
	Source string
	// Shows is the measurement that would show that it matters.
	Shows string
}

// usual is what a role bears where no more was measured.
type usual struct {
	rate         float64 // bytes per second of one connection or stream
	rtt          float64 // s
	what, whence string
}

// usually: a good stream in 4K and a viewer on another continent; for who answers its
// neighbours, a line of 1 Gbit/s within one place.
func usually(role Role) usual {
	if role == Cache || role == RPC {
		return usual{125e6, 0.001, "a line of 1 Gbit/s, as no more was measured", "within one place, as no longer one was measured"}
	}
	return usual{2.5e6, 0.2, "a stream in 4K, as no busier one was measured", "to another continent, as no longer one was measured"}
}

const (
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
	// far reports that peers are far away: as the user said, or as was measured.
	far bool
	// onWay is the most that one connection had on its way, rate × its own round trip,
	// bytes; 0: none was measured.
	onWay float64
}

// farAway is a round trip, s, that no peer in the same place has.
const farAway = 0.01

// rule looks at one setting: what of it is a risk, or in words that it is covered.
type rule struct {
	roles []Role
	look  func(host) (risks []Risk, covered string)
	// topic is what a role of media asks about one by one: there each rule with a topic
	// says something, that it is not needed, or what kept it from being seen (unseen).
	topic, unseen string
}

// NotSeen and notNeeded are what stands between a topic and the reason.
const (
	NotSeen   = ": not seen, because "
	notNeeded = ": not needed, because "
)

// tell is what a rule says where it names no risk.
func (r rule) tell(role Role, covered string) string {
	switch {
	case role != UDPMedia || r.topic == "":
		return covered
	case covered == "":
		return r.topic + NotSeen + r.unseen
	}
	if name, rest, ok := strings.Cut(covered, ": "); ok && strings.Contains(r.topic, name) {
		covered = rest
	}
	return r.topic + notNeeded + covered
}

// Of audits the host of a recording.
func Of(r *recording.Recording, role Role, d Design) (risks []Risk, covered []string) {
	h := host{r: r, role: role, rate: d.Rate, rtt: d.RTT, said: "as you said", rttIs: "as you said"}
	h.connections()
	h.far = h.far || d.RTT >= farAway
	if h.rate == 0 {
		h.rate, h.said = h.busiest()
	}
	if h.rtt == 0 {
		h.rtt, h.rttIs = usually(role).rtt, usually(role).whence
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
			if text = rule.tell(role, text); text != "" && len(found) == 0 {
				covered = append(covered, text)
			}
		}
	}
	return risks, covered
}

// busiest is the rate of all datagrams that came, as if one stream's, as sockets of UDP
// count no bytes; or the usual of the role, which is one connection's.
func (h host) busiest() (float64, string) {
	best, u := 0.0, usually(h.role)
	if seconds := h.r.Length().Seconds(); h.role == UDPMedia && seconds > 0 {
		for _, s := range h.r.Select("node_netstat_Udp_InDatagrams") {
			if n, ok := s.Increase(); ok {
				best = max(best, n*packet/seconds)
			}
		}
	}
	if best > u.rate {
		return best, "the busiest that was measured"
	}
	return u.rate, u.what
}

// connections looks at what each had on its way, and how far its peer is.
func (h *host) connections() {
	first := map[string]recording.Socket{}
	for _, k := range h.r.Sockets {
		if k.TCP == nil || k.State != "ESTABLISHED" {
			continue
		}
		h.far = h.far || k.TCP.MinRTT >= farAway
		key := strconv.FormatUint(k.Netns, 10) + " " + k.Local + " " + k.Remote
		a, ok := first[key]
		if !ok {
			first[key] = k
			continue
		}
		seconds := k.T.Sub(a.T).Seconds()
		sent, got := float64(k.TCP.BytesAcked)-float64(a.TCP.BytesAcked), float64(k.TCP.BytesReceived)-float64(a.TCP.BytesReceived)
		if seconds >= 1 {
			h.onWay = max(h.onWay, sent/seconds*k.TCP.MinRTT, got/seconds*k.TCP.MinRTT)
		}
	}
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

// own reports whether a row is of the host's own namespace.
func (h host) own(netns uint64) bool { return netns == 0 || netns == h.r.Manifest.Netns }

func mbit(bytesPerSecond float64) string {
	return strconv.FormatFloat(bytesPerSecond*8e-6, 'f', -1, 64) + " Mbit/s"
}

func whole(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

func sysctl(name, value, why, risk string) suspect.Setting {
	return suspect.Setting{Kind: "sysctl", Name: name, Value: value, Why: why, Risk: risk}
}

// isNow begins a reason with the value that is there.
func isNow(v float64) string { return fmt.Sprintf("it is %s", units.Bytes(v)) }
