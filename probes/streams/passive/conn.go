package passive

import (
	"fmt"
	"net/netip"
	"strings"

	"snag/probes/streams/passive/tcp"
	"snag/recording"
)

// Conn is a connection, or one direction of it, that a stream goes over.
type Conn struct {
	// Name is the stream's: "live/cam1"; where nothing told it, the connection's:
	// "10.0.0.2:40112 → :1935". Named tells them apart.
	Name  string
	Named bool
	// URL is without credentials and without the query's values; "" where the
	// name is not known.
	URL      string
	Protocol string // rtmp rtsp rtp
	Side     string // recording.StreamSidePublisher, …Consumer
	Local    string // address:port of the server's end, whichever host it is on
	Remote   string // address:port of the publisher, or of the reader
	// Middle says that the capture began inside the connection. Then DTS counts
	// from when its chunks were found, and the tracks' clocks were put together by
	// arrival: their skew is not known.
	Middle bool
}

// Renamed is what a Sink may also be: it is told what the stream's name is once the
// capture shows it.
type Renamed interface{ Renamed(Conn) }

// Ender is what a Sink may also be: it is told that the connection ended, as
// figures.Meter is. err is a *stream.Ended.
type Ender interface{ End(at int64, err error) }

// ends finds out which end of a connection is the server. The one that opened it
// is not; else the one whose port servers use; else the one with the lower port.
func ends(f tcp.Flow, ports []uint16) (server, client netip.AddrPort) {
	server, client = f.Dst, f.Src
	if f.Known {
		if !f.Client {
			server, client = client, server
		}
		return server, client
	}
	s, d := serves(f.Src.Port(), ports), serves(f.Dst.Port(), ports)
	if s && !d || s == d && f.Src.Port() < f.Dst.Port() {
		server, client = client, server
	}
	return server, client
}

func serves(port uint16, ports []uint16) bool {
	for _, p := range ports {
		if p == port {
			return true
		}
	}
	return false
}

func side(toServer bool) string {
	if toServer {
		return recording.StreamSidePublisher
	}
	return recording.StreamSideConsumer
}

// unnamed is what a connection is called while nothing told the stream's name.
func unnamed(server, client netip.AddrPort, toServer bool) string {
	if toServer {
		return fmt.Sprintf("%s → :%d", client, server.Port())
	}
	return fmt.Sprintf(":%d → %s", server.Port(), client)
}

// masked cuts a query off a name and returns its keys, with each value hidden:
// publishers carry their keys there.
func masked(name string) (path, query string) {
	path, q, found := strings.Cut(name, "?")
	if !found || q == "" {
		return path, ""
	}
	var b strings.Builder
	for i, part := range strings.Split(q, "&") {
		key, _, valued := strings.Cut(part, "=")
		if i > 0 {
			b.WriteByte('&')
		} else {
			b.WriteByte('?')
		}
		if !valued { // it may be a key by itself
			key = "…"
		} else {
			key += "=…"
		}
		b.WriteString(key)
	}
	return path, b.String()
}
