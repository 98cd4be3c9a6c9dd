package knob

import (
	"github.com/vishvananda/netlink"

	"snag/remedies/plan"
)

// WholeRoute is the route of a target, with all that it has: who writes it into a file
// must say all of it.
func WholeRoute(h Host, t plan.Target) (r *netlink.Route, err error) {
	err = h.In(t.Netns, func() error {
		r, err = findRoute(t)
		return err
	})
	return r, err
}
