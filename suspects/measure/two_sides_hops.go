package measure

import "snag/recording"

// hopSums adds up what requests lost, time and segments, on each hop between captures of
// their path, in its order.
type hopSums []recording.Hop

func (s *hopSums) add(q recording.Request) {
	for _, hop := range q.Hops {
		found := false
		for i := range *s {
			if have := &(*s)[i]; have.From == hop.From && have.To == hop.To {
				have.Network += hop.Network
				have.LostOut += hop.LostOut
				have.LostBack += hop.LostBack
				found = true
			}
		}
		if !found {
			*s = append(*s, hop)
		}
	}
}

// mostOfAll: a hop with so much of all is where it is.
const mostOfAll = 0.7

// worst is the hop that has most of something, and its share; false where none has most,
// or there is but one.
func (s hopSums) worst(of func(recording.Hop) float64) (hop recording.Hop, share float64, ok bool) {
	if len(s) < 2 {
		return hop, 0, false
	}
	all, most := 0.0, 0.0
	for _, h := range s {
		all += of(h)
		if of(h) > most {
			hop, most = h, of(h)
		}
	}
	if all <= 0 {
		return hop, 0, false
	}
	return hop, most / all, most >= mostOfAll*all
}
