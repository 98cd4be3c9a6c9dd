package scene

import (
	"net"
	"net/netip"
	"net/url"

	"snag/recording"
)

// findUnseenWay follows a stream whose connection to the viewer was not seen, as that of one who was
// refused, from the server that its address names, where that is on this host.
func (s *Scene) findUnseenWay(r *recording.Recording, st *Stream) {
	st.Ends = "its connection is not among the sockets that were recorded"
	at := serverAddress(st.Row)
	if at == "" || st.Row.Side != recording.StreamSidePlayer {
		return
	}
	server := s.listenerAt(r, at)
	if server == nil {
		return
	}
	in, by, why := s.feederOf(r, st, server, nil)
	if in == nil {
		if why != "" {
			st.Ends = why
		}
		return
	}
	st.By, st.Ends = by, ""
	st.Way = []Link{{}, {From: in.Peer, To: in}}
	s.goBack(r, st)
}

// serverAddress is the server's address:port by a stream's URL; "" where it has a name, or no port
// is usual.
func serverAddress(row recording.Stream) string {
	u, err := url.Parse(row.URL)
	if err != nil {
		return ""
	}
	port := u.Port()
	if port == "" && u.Scheme == "rtmp" {
		port = "1935"
	}
	if _, err := netip.ParseAddr(u.Hostname()); err != nil || port == "" {
		return ""
	}
	return net.JoinHostPort(u.Hostname(), port)
}
