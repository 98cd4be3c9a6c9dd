package host

import (
	"golang.org/x/sys/unix"

	"snag/internal/nldump"
)

// rtnl is a rtnetlink socket of one namespace, kept open; or why there is none.
// It is asked several times per second in each namespace, so replies are read into
// one buffer, without a look at their size first.
type rtnl struct{ conn *nldump.Conn }

// replyMost is the size of that buffer.
const replyMost = nldump.ReplyMost

// dialRoute opens the socket in the calling thread's namespace; replies are read
// into buf, of replyMost bytes.
func dialRoute(buf []byte) *rtnl { return &rtnl{nldump.Dial(unix.NETLINK_ROUTE, buf)} }

func (r *rtnl) close() { r.conn.Close() }

// dump asks for all objects of a kind: see nldump.Conn.Dump.
func (r *rtnl) dump(kind uint16, header []byte, one func(data []byte) error) error {
	return r.conn.Dump(kind, header, one)
}
