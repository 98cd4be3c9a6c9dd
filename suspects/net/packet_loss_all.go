package net

import (
	"fmt"
	"slices"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// allLost finds connections whose two ends are on this host and alive, and nothing that the one
// sends comes to the other: the way between them loses everything. To the sender alone a peer that
// is gone looks alike.
func allLost(s *scene.Scene) []suspect.Finding {
	paths := onPaths{}
	for _, k := range s.Sockets {
		if !aliveHere(k.Peer) {
			continue
		}
		rows := whileOpen(measure.TCPRowsOf(k))
		if len(rows) < 2 || rows[len(rows)-1].TCP.Backoff < backedOff {
			continue
		}
		quiet := silence(rows)
		first, last := quiet[0], quiet[len(quiet)-1]
		sent := float64(last.TCP.DataSegsOut) - float64(first.TCP.DataSegsOut)
		size := min(float64(last.SendQ)/float64(max(1, last.TCP.Unacked)), float64(max(1, last.TCP.SndMSS)))
		large := size > smallSegment // what stands still may be too large for the way
		if sent == 0 || large && last.TCP.BytesAcked < fullBefore*uint64(last.TCP.SndMSS) || last.T.Sub(first.T).Seconds() < silentFloor || cameMeanwhile(k.Peer, first.T) {
			continue
		}
		evidence := []suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Value: sent, Unit: "segments", Source: source.SS("-tinp", source.SegsIn, source.Backoff), Origin: "peer",
			Text: fmt.Sprintf("%s of %s were sent again, and nothing came to %s, which is on this host and alive", units.Plural(int(sent), "segment"), units.Bytes(size), k.Peer.Subject.Name)}}
		if large {
			evidence[0].Grade = suspect.Strong
			evidence = append(evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(last.TCP.BytesAcked), Unit: "B", Source: source.SS("-tin", source.BytesAcked, source.Word("mss")), Origin: "bytes_acked",
				Text: fmt.Sprintf("%s of it were acknowledged before, in segments of up to %s bytes: the way took them", units.Bytes(float64(last.TCP.BytesAcked)), units.Count(float64(last.TCP.SndMSS)))})
		}
		paths.add(&flow{netns: last.Netns, local: last.Local, remote: last.Remote}, suspect.Finding{
			Subject: k.Subject, Related: []recording.Subject{k.Peer.Subject}, Evidence: evidence,
			Active: []recording.Interval{{Start: first.T, End: last.T}},
			Text:   fmt.Sprintf("everything is lost on the way from %s to %s", recording.Host(last.Local), recording.Host(last.Remote)),
			Remedy: suspect.Remedy{Permanently: hopsBetween(last.Local, last.Remote)},
			Harm: suspect.Harm{Symptom: scene.StreamFreeze, Amount: last.T.Sub(first.T).Seconds(), Of: s.Window.Length(s.Window.End).Seconds(), Unit: "s",
				Text: "nothing got through to " + last.Remote},
		})
	}
	return paths.worst()
}

// withAllLost adds the connections on which everything is lost; of one that lost some before, it is
// more of the same.
func withAllLost(found, all []suspect.Finding) []suspect.Finding {
	for _, a := range all {
		i := slices.IndexFunc(found, func(f suspect.Finding) bool { return scene.IDOf(f.Subject) == scene.IDOf(a.Subject) })
		if i < 0 {
			found = append(found, a)
			continue
		}
		f := &found[i]
		if slices.ContainsFunc(f.Evidence, func(e suspect.Evidence) bool { return e.Side == suspect.Against && e.Grade == suspect.Decisive }) {
			*f = a // the sender alone saw a peer that is gone
			continue
		}
		f.Text += fmt.Sprintf(", then everything for %s", units.Lasting(intervals.Seconds(a.Active, 0)))
		f.Evidence, f.Active = append(f.Evidence, a.Evidence...), intervals.Merge(append(f.Active, a.Active...), 0)
	}
	return found
}

// fullBefore: so many full segments were acknowledged that the way has had their size.
const fullBefore = 20

// cameMeanwhile reports whether an end received anything since, or whether nobody looked at it twice.
func cameMeanwhile(k *scene.Socket, since recording.Time) bool {
	rows := measure.TCPRowsOf(k)
	if len(rows) < 2 {
		return true
	}
	from := rows[0]
	for _, row := range rows {
		if row.T <= since.Add(measure.Jitter) {
			from = row
		}
	}
	last := rows[len(rows)-1]
	return last.T <= from.T || last.TCP.SegsIn != from.TCP.SegsIn
}
