package drops

import (
	"sort"

	"snag/recording"
)

// mostRows bounds what one second writes: a scan or flood makes thousands of
// kinds of drops that differ in a port only.
const mostRows = 400

// fold keeps the rows with the most drops and adds the others up by reason,
// place, namespace, protocol, destination port and victim, with no source; when
// those are too many as well, without port and victim. The sum of N stays what
// it was. It returns the rows in order of time.
func fold(rows []recording.Drop, most int) []recording.Drop {
	if len(rows) > most {
		sort.SliceStable(rows, func(i, j int) bool { return rows[i].N > rows[j].N })
		type kind struct {
			reason, place, proto, port string
			netns, inode               uint64
		}
		sums := map[kind]int{}
		out := append([]recording.Drop(nil), rows[:most]...)
		for _, r := range rows[most:] {
			k := kind{r.Reason, r.Place, r.Proto, recording.Port(r.Dst), r.Netns, r.Inode}
			_, known := sums[k]
			if !known && len(sums) >= most { // as many ports and sockets again: without those too
				k.port, k.inode = "", 0
				r.Dst, r.Inode, r.Sent = "", 0, false
			}
			if i, ok := sums[k]; ok {
				out[i].N += r.N
				out[i].T = min(out[i].T, r.T)
				continue
			}
			r.Src = ""
			sums[k] = len(out)
			out = append(out, r)
		}
		rows = out
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].T < rows[j].T })
	return rows
}
