package rtsp

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// transport is what a server chose in its answer to SETUP (RFC 2326 12.39).
type transport struct {
	tcp      bool
	channels [2]uint8
	server   [2]uint16 // ports
	source   string    // where packets come from, "" for the server itself
}

func readTransport(v string) transport {
	// The server chooses one; of several the first counts.
	v, _, _ = strings.Cut(v, ",")
	var t transport
	for i, part := range strings.Split(v, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		value = strings.Trim(value, `"`)
		switch {
		case i == 0:
			t.tcp = strings.HasSuffix(strings.ToUpper(name), "/TCP")
		case strings.EqualFold(name, "interleaved"):
			if a, b, ok := twoNumbers(value, 255); ok {
				t.channels = [2]uint8{uint8(a), uint8(b)}
			}
		case strings.EqualFold(name, "server_port"):
			if a, b, ok := twoNumbers(value, 65535); ok {
				t.server = [2]uint16{uint16(a), uint16(b)}
			}
		case strings.EqualFold(name, "source"):
			t.source = value
		}
	}
	return t
}

// twoNumbers reads "4-5"; "4" is 4-5 too.
func twoNumbers(s string, most int) (a, b int, ok bool) {
	first, second, two := strings.Cut(s, "-")
	a, err := strconv.Atoi(first)
	if err != nil || a < 0 || a > most {
		return 0, 0, false
	}
	b = min(a+1, most)
	if two {
		if b, err = strconv.Atoi(second); err != nil || b < 0 || b > most {
			return 0, 0, false
		}
	}
	return a, b, true
}

// readSession reads "12345678;timeout=60"; 60 s where nothing is said (12.37).
func readSession(v string) (id string, timeout time.Duration) {
	id, rest, _ := strings.Cut(v, ";")
	timeout = 60 * time.Second
	for part := range strings.SplitSeq(rest, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if n, err := strconv.Atoi(strings.TrimSpace(value)); strings.EqualFold(name, "timeout") && err == nil && n > 0 && n <= 24*3600 {
			timeout = time.Duration(n) * time.Second
		}
	}
	return strings.TrimSpace(id), timeout
}

// readRTPInfo finds the rtptime of each track's URL (12.33). Servers write URLs
// there as they like, so the last part of the path is compared.
func readRTPInfo(v string, controls []string) map[int]uint32 {
	out := map[int]uint32{}
	for i, entry := range strings.Split(v, ",") {
		if i == 16 {
			break
		}
		var at, link string
		for part := range strings.SplitSeq(entry, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			switch strings.ToLower(name) {
			case "url":
				link = strings.Trim(value, `"`)
			case "rtptime":
				at = value
			}
		}
		n, err := strconv.ParseUint(at, 10, 32)
		if err != nil {
			continue
		}
		for track, c := range controls {
			if link != "" && lastPart(link) == lastPart(c) {
				out[track] = uint32(n)
			}
		}
	}
	return out
}

func lastPart(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// resolve is the URL of an a=control attribute (C.1.1): absolute, "*" for the
// base itself, or relative to it. Cameras write relative ones that are to be put
// behind the base even where it does not end in a slash, query and all.
func resolve(base, control string) string {
	switch {
	case control == "" || control == "*":
		return base
	case strings.HasPrefix(strings.ToLower(control), "rtsp://"), strings.HasPrefix(strings.ToLower(control), "rtsps://"):
		return control
	}
	if strings.HasPrefix(control, "/") {
		if u, err := url.Parse(base); err == nil && u.Host != "" {
			return u.Scheme + "://" + u.Host + control
		}
	}
	if !strings.HasSuffix(base, "/") {
		base += "/"
	}
	return base + control
}

// offer is the Transport field of a SETUP for a track.
func offer(udp bool, track int, port uint16) string {
	if udp {
		return fmt.Sprintf("RTP/AVP;unicast;client_port=%d-%d", port, port+1)
	}
	return fmt.Sprintf("RTP/AVP/TCP;unicast;interleaved=%d-%d", 2*track, 2*track+1)
}

// sourceOf is where a track's packets come from: what Transport says, where it is
// an address, else the server's.
func (t *transport) sourceOf(server netip.Addr) netip.Addr {
	if a, err := netip.ParseAddr(t.source); err == nil && !a.IsUnspecified() {
		return a.Unmap()
	}
	return server.Unmap()
}
