// Package suspects is the catalogue: all kinds of causes, one after the other, and which
// series show a piece of evidence. A cause is one file in the folder of its kind; suspect/
// says what it consists of, measure/ holds what several kinds read.
package suspects

import (
	"slices"

	"snag/suspects/host"
	"snag/suspects/net"
	"snag/suspects/pool"
	"snag/suspects/runtime"
	"snag/suspects/streams"
	"snag/suspects/suspect"
)

// All is the catalogue, in the order in which it is printed. A new suspect is one file and one
// line in the list.go of its kind.
var All = slices.Concat(net.All, streams.All, runtime.All, pool.All, host.All)

// ByName returns the suspect of that name, or nil.
func ByName(name string) *suspect.Suspect {
	for _, s := range All {
		if s.Name == name {
			return s
		}
	}
	return nil
}
