package streams

import (
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
)

// losesAnyway returns how many segments the link lost in seconds in which others arrived, and of how
// many. A link that is dead from time to time loses none in between. All connections between the two
// hosts count. 0: too few to decide.
func (f *faulty) losesAnyway(s *scene.Scene) (lost, sent float64) {
	l := f.stream.Way[f.link]
	if l.Datagrams || l.From == nil {
		return 0, 0
	}
	for _, k := range s.Sockets {
		if k == l.From || sameHosts(k, l.From) {
			n, of := lostInPassing(k)
			lost, sent = lost+n, sent+of
		}
	}
	if lost < measure.FewRetransmits || lost < lossy*sent {
		return 0, 0
	}
	return lost, sent
}

func sameHosts(a, b *scene.Socket) bool {
	x, y := a.First(), b.First()
	return x.Proto == "tcp" && x.Netns == y.Netns && recording.Host(x.Local) == recording.Host(y.Local) && recording.Host(x.Remote) == recording.Host(y.Remote)
}

// lostInPassing is how many segments a publisher's connection lost, of how many it sent, in the
// seconds in which some arrived. What waited when nothing did is sent again when the link is back:
// so many are not counted.
func lostInPassing(k *scene.Socket) (lost, sent float64) {
	again := 0.0 // segments of what waited
	for i := 1; i < len(k.Rows); i++ {
		a, b := k.Rows[i-1], k.Rows[i]
		if a.TCP == nil || b.TCP == nil {
			continue
		}
		resent := float64(b.TCP.TotalRetrans - a.TCP.TotalRetrans)
		if b.TCP.BytesAcked <= a.TCP.BytesAcked {
			again = max(again, float64(b.SendQ)/float64(max(1, b.TCP.SndMSS)))
			continue
		}
		lost += max(0, resent-again)
		again = max(0, again-resent)
		sent += float64(b.TCP.DataSegsOut - a.TCP.DataSegsOut)
	}
	return lost, sent
}
