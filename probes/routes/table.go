package routes

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"snag/internal/nldump"
	"snag/recording"
)

// askRoutes is struct rtmsg of a dump of both families. Not asked strictly, the
// kernel dumps with the routes what it learnt about single addresses (since 5.3,
// net/ipv4/fib_frontend.c inet_dump_fib, net/ipv4/route.c fib_dump_info_fnhe).
var askRoutes = make([]byte, 12)

// table writes the routes that are new or changed. Those of the local table
// (addresses of the host itself, broadcast) tell nothing.
func (sp *space) table() error {
	clear(sp.names)
	clear(sp.gateways)
	t := sp.env.Now()
	conn := nldump.Dial(unix.NETLINK_ROUTE, sp.reply)
	defer conn.Close()
	read, rows := 0, 0
	err := conn.Dump(unix.RTM_GETROUTE, askRoutes, func(data []byte) error {
		if read++; read > mostRoutes {
			return nldump.ErrEnough
		}
		r, err := decodeRoute(data)
		if err != nil || !wanted(r) {
			return err
		}
		if rows++; rows <= mostRows {
			sp.route(t, r)
		}
		return nil
	})
	if errors.Is(err, nldump.ErrEnough) {
		sp.meter.note("routes.table", fmt.Sprintf("of %s only the first %d routes were read", sp.called(), mostRoutes), "ip route get ADDRESS")
	}
	if rows > mostRows {
		sp.meter.note("routes.table", fmt.Sprintf("of %s %d of %d routes were kept", sp.called(), mostRows, rows), "ip route get ADDRESS")
	}
	if errors.Is(err, nldump.ErrInterrupted) || errors.Is(err, nldump.ErrEnough) {
		return nil // what changed while it was read shows at the next look
	}
	return err
}

func wanted(r route) bool {
	switch r.Type {
	case unix.RTN_LOCAL, unix.RTN_BROADCAST, unix.RTN_ANYCAST, unix.RTN_MULTICAST:
		return false
	}
	return r.Table != unix.RT_TABLE_LOCAL || r.Exception
}

func (sp *space) route(t recording.Time, r route) {
	row := recording.Route{
		Netns: sp.ID, Dst: r.Dst.String(), Type: routeTypes[r.Type], In: r.Table, Metric: r.Metric, MTU: r.MTU,
		Device: sp.device(r.Index), Exception: r.Exception,
	}
	if r.Via.IsValid() {
		row.Via = r.Via.String()
		sp.gateways[row.Via] = true
	}
	if r.From.IsValid() {
		row.From = r.From.String()
	}
	for _, h := range r.Hops {
		text := "dev " + sp.device(h.Index)
		if h.Via.IsValid() {
			text = "via " + h.Via.String() + " " + text
			sp.gateways[h.Via.String()] = true
		}
		row.Hops = append(row.Hops, text+" weight "+strconv.Itoa(h.Weight))
	}
	if len(r.Hops) > 0 {
		row.Device = sp.device(r.Hops[0].Index)
		if r.Hops[0].Via.IsValid() {
			row.Via = r.Hops[0].Via.String()
		}
	}
	key := fmt.Sprint(row.Dst, " ", row.In, " ", row.Metric, " ", row.Exception, " ", row.Type)
	if reflect.DeepEqual(sp.routes[key], row) {
		return
	}
	sp.routes[key] = row
	row.T = t
	if r.Exception {
		row.Expires = r.Expires // counts down: not a change
	}
	sp.env.Sink.Append(row)
}

// conf begins the names of an interface's settings.
const conf = "net.ipv4.conf."

// settings writes how large the neighbour tables may become, how reverse paths are filtered and whether packets are
// forwarded, for all, the default, and the devices where it is not off.
func (sp *space) settings(conn *nldump.Conn) error {
	t := sp.env.Now()
	for _, name := range []string{"net.ipv4.neigh.default.gc_thresh3", "net.ipv6.neigh.default.gc_thresh3"} {
		if v := sp.sysctl(name); v != "" && sp.Own { // one for the machine
			sp.fact(t, name, v, "/proc/sys/"+strings.ReplaceAll(name, ".", "/"))
		}
	}
	n, there := 0, map[string]bool{}
	err := conn.Dump(unix.RTM_GETNETCONF, []byte{unix.AF_INET, 0, 0, 0}, func(data []byte) error {
		c, err := decodeNetconf(data)
		if err != nil {
			return err
		}
		device := map[int]string{-1: "all", -2: "default"}[c.Index]
		if device == "" {
			device = sp.device(c.Index)
		}
		for _, s := range []struct {
			name string
			v    *int
		}{{"rp_filter", c.RPFilter}, {"forwarding", c.Forwarding}} {
			name := conf + device + "." + s.name
			there[name] = true
			if s.v == nil || c.Index > 0 && *s.v == 0 && sp.facts[name] == "" {
				continue
			}
			if n++; n > mostRows {
				sp.meter.note("routes.table", fmt.Sprintf("of %s the settings of the first interfaces only were kept", sp.called()), "")
				return nldump.ErrEnough
			}
			sp.fact(t, name, strconv.Itoa(*s.v), "/proc/sys/net/ipv4/conf/"+device+"/"+s.name)
		}
		return nil
	})
	if err == nil { // an interface that comes back has its settings written again
		maps.DeleteFunc(sp.facts, func(name, _ string) bool { return strings.HasPrefix(name, conf) && !there[name] })
	}
	if errors.Is(err, nldump.ErrInterrupted) || errors.Is(err, nldump.ErrEnough) {
		return nil
	}
	return err
}
