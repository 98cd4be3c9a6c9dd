package net

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// manyOthers: a server with so many connections always has one whose client is
// on a bad line, or gone: phones, laptops that were shut. It is that client's
// trouble, and no incident of the server.
const manyOthers = 20

// oneOfMany reports that a connection was accepted by a server that has many others
// on which data came meanwhile, as evidence against its being an incident here.
func oneOfMany(k *scene.Socket, span recording.Interval) (suspect.Evidence, bool) {
	if k.Listener == nil || k.Owner() == nil {
		return suspect.Evidence{}, false
	}
	live := 0
	for _, o := range k.Owner().Sockets {
		a, b := measure.RowAt(o, span.Start.Add(measure.Jitter)), measure.RowAt(o, span.End)
		if o != k && o.Listener == k.Listener && a != nil && b != nil && a.TCP != nil && b.TCP != nil && b.TCP.SegsIn > a.TCP.SegsIn {
			live++
		}
	}
	if live < manyOthers {
		return suspect.Evidence{}, false
	}
	return suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: float64(live), Unit: "connections", Source: source.SS("-tin", source.SegsIn), Origin: "other clients",
		Text: fmt.Sprintf("%s of %s went on: this is one client of many, and its own line", units.Plural(live, "other connection"), k.Owner().Subject.Name)}, true
}
