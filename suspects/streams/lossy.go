package streams

import (
	"snag/scene"
	"snag/suspects/measure"
)

// losesAnyway tells of a link on which nothing came through for some time that it loses packets at
// other times too: how many, and of how many. 0 where it does not.
func (f *faulty) losesAnyway() (lost, sent float64) {
	l := f.stream.Way[f.link]
	if l.Datagrams || l.From == nil {
		return 0, 0
	}
	if lost, sent = lostInPassing(l.From); lost < measure.FewRetransmits || lost < lossy*sent {
		return 0, 0
	}
	return lost, sent
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
