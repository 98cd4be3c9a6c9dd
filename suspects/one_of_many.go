package suspects

import (
	"fmt"

	"snag/recording"
	"snag/scene"
)

// manyOthers: a server with so many connections always has one whose client is
// on a bad line, or gone: phones, laptops that were shut. It is that client's
// trouble, and no incident of the server.
const manyOthers = 20

// oneOfMany tells that a connection was accepted by a server that has many others
// on which data came meanwhile, as evidence against its being an incident here.
func oneOfMany(k *scene.Socket, span recording.Interval) (Evidence, bool) {
	if k.Listener == nil || k.Owner() == nil {
		return Evidence{}, false
	}
	live := 0
	for _, o := range k.Owner().Sockets {
		a, b := rowAt(o, span.Start.Add(jitter)), rowAt(o, span.End)
		if o != k && o.Listener == k.Listener && a != nil && b != nil && a.TCP != nil && b.TCP != nil && b.TCP.SegsIn > a.TCP.SegsIn {
			live++
		}
	}
	if live < manyOthers {
		return Evidence{}, false
	}
	return Evidence{Side: Against, Grade: Strong, Value: float64(live), Unit: "connections", Source: "ss -tin segs_in", Origin: "other clients",
		Text: fmt.Sprintf("%s of %s went on: this is one client of many, and its own line", plural(live, "other connection"), k.Owner().Subject.Name)}, true
}
