package host

import (
	"errors"
	"fmt"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// rtnl is a rtnetlink socket of one namespace, kept open; or why there is none.
type rtnl struct {
	conn *netlink.Conn
	err  error
}

// dialRoute opens the socket in the calling thread's namespace.
func dialRoute() *rtnl {
	conn, err := netlink.Dial(unix.NETLINK_ROUTE, nil)
	if err != nil {
		return &rtnl{err: fmt.Errorf("open a rtnetlink socket: %w", err)}
	}
	return &rtnl{conn: conn}
}

func (r *rtnl) close() {
	if r.conn != nil {
		r.conn.Close()
	}
}

// dump asks for all objects of a kind and hands each reply to one. A dump that
// changed while it ran (NLM_F_DUMP_INTR) is asked for again, a few times.
func (r *rtnl) dump(kind uint16, header []byte, one func(data []byte) error) error {
	if r.err != nil {
		return r.err
	}
	request := netlink.Message{
		Header: netlink.Header{Type: netlink.HeaderType(kind), Flags: netlink.Request | netlink.Dump},
		Data:   header,
	}
	var replies []netlink.Message
	var err error
	for range 3 {
		replies, err = r.conn.Execute(request)
		if !errors.Is(err, unix.EINTR) && !interrupted(replies) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("rtnetlink dump %d: %w", kind, err)
	}
	var bad error
	for _, m := range replies {
		if err := one(m.Data); err != nil {
			bad = err
		}
	}
	return bad
}

func interrupted(replies []netlink.Message) bool {
	for _, m := range replies {
		if m.Header.Flags&unix.NLM_F_DUMP_INTR != 0 {
			return true
		}
	}
	return false
}
