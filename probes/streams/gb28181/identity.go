package gb28181

import (
	"fmt"
	"net/netip"
)

// uri is the address of one of the peer's ids, as requests to it have it.
func (p *peer) uri(id string) string {
	return fmt.Sprintf("sip:%s@%s", id, hostPort(p.conn.RemoteAddr().String()))
}

// own is snag's address, in its domain.
func (p *peer) own() string { return fmt.Sprintf("sip:%s@%s", p.address.ID, domain(p.address.ID)) }

// contact is where snag can be reached.
func (p *peer) contact() string {
	where := fmt.Sprintf("sip:%s@%s", p.address.ID, p.local)
	if p.conn.tcp {
		where += ";transport=tcp"
	}
	return "<" + where + ">"
}

func hostPort(s string) string {
	at, err := netip.ParseAddrPort(s)
	if err != nil {
		return s
	}
	return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port()).String()
}
