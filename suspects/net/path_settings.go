package net

import (
	"fmt"
	"strconv"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/suspect"
)

// looseFilter asks for a route back by any interface: RFC 3704, section 2.4. The
// interface's own setting is enough, as the greater of it and conf.all counts.
func looseFilter(r *recording.Recording, k measure.DropKey, why string) []suspect.Setting {
	name := "net.ipv4.conf." + k.Device + ".rp_filter"
	if v, ok := r.FactOf(name, k.Netns); k.Device == "" || ok && v == "2" {
		return nil
	}
	return []suspect.Setting{{Kind: "sysctl", Name: name, At: suspect.InSpace(k.Netns), Value: "2", Why: why,
		Risk: "packets with a false sender's address are taken on " + k.Device + " if any interface leads to that address"}}
}

// pathSettings: the sender's route says what the hop takes, or, where that is not known,
// the sender finds it by itself, which each connection does after three timeouts, some
// 3 s. mtu is the hop's, 0 where it is not known.
func pathSettings(r *recording.Recording, stuck []*scene.Socket, mtu int) (set []suspect.Setting) {
	seen := map[uint64]bool{}
	for _, k := range stuck {
		f := k.First()
		if seen[f.Netns] {
			continue
		}
		seen[f.Netns] = true
		tcp, either := lastTCP(k), "path of "+strconv.FormatUint(f.Netns, 10)
		if mtu > 0 {
			set = append(set, suspect.Setting{Kind: "route", Name: "mtu", At: suspect.InSpace(f.Netns), Route: recording.Host(f.Remote), Value: strconv.Itoa(mtu), Either: either,
				Why:  fmt.Sprintf("the hop takes packets of %d bytes, the sender makes segments of %s, and the message that says so is lost", mtu, units.Count(float64(tcp.SndMSS))),
				Risk: "all that leaves by that route goes in packets of that size"})
		}
		if v, ok := measure.Sysctl(r, f.Netns, "net.ipv4.tcp_mtu_probing"); !ok || v == 0 {
			set = append(set, suspect.Setting{Kind: "sysctl", Name: "net.ipv4.tcp_mtu_probing", AtLeast: true, At: suspect.InSpace(f.Netns), Value: "1", Either: either,
				Why:  fmt.Sprintf("segments of %s bytes to %s are never acknowledged, with %d timeouts in a row: after the third the sender tries smaller ones", units.Count(float64(tcp.SndMSS)), f.Remote, tcp.Backoff+1),
				Risk: "where packets are only lost, connections of this namespace fall back to small segments too"})
		}
	}
	return set
}
