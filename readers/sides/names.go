package sides

import "snag/recording"

// mostNames of requests are counted apart.
const mostNames = 4096

// names counts the waits of requests of one name to one server.
type names map[nameKey]*[64]uint32

type nameKey struct{ server, name string }

func (n names) take(x exchange) {
	name := x.name()
	if name == "" || x.client.connect || x.client.greeting {
		return
	}
	k := nameKey{x.conn.server(x.conn.near).String(), name}
	hist := n[k]
	if hist == nil {
		if len(n) >= mostNames {
			return
		}
		hist = new([64]uint32)
		n[k] = hist
	}
	hist[min(recording.TurnBucket(seconds64(x.waited())), len(hist)-1)]++
}

// usual is the median wait of those that are named as a request is, an upper bound, and
// their number.
func (n names) usual(r recording.Request) (float64, uint64) {
	hist := n[nameKey{r.Server, r.Name}]
	if hist == nil {
		return 0, 0
	}
	all, sum := uint64(0), uint64(0)
	for _, c := range hist {
		all += uint64(c)
	}
	for i, c := range hist {
		if sum += uint64(c); 2*sum >= all {
			return recording.TurnBound(i + 1), all
		}
	}
	return 0, 0
}

// name of an exchange, by whichever capture has the bytes.
func (x *exchange) name() string {
	if x.client.name != "" {
		return x.client.name
	}
	return x.server.name
}
