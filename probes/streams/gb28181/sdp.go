package gb28181

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// offer is the SDP of an INVITE for a camera's live picture (annex F, RFC 4566, RFC
// 4145): a program stream to this port.
func offer(id string, at netip.AddrPort, m Media, ssrc string) []byte {
	ip := "IP4"
	if at.Addr().Is6() {
		ip = "IP6"
	}
	where := ip + " " + at.Addr().WithZone("").String()
	proto, setup := "RTP/AVP", ""
	switch m {
	case OverTCP:
		proto, setup = "TCP/RTP/AVP", "a=setup:passive\r\na=connection:new\r\n"
	case ToCamera:
		proto, setup = "TCP/RTP/AVP", "a=setup:active\r\na=connection:new\r\n"
	}
	return fmt.Appendf(nil, "v=0\r\no=%s 0 0 IN %s\r\ns=Play\r\nc=IN %s\r\nt=0 0\r\nm=video %d %s 96\r\na=recvonly\r\na=rtpmap:96 PS/90000\r\n%sy=%s\r\n",
		id, where, where, at.Port(), proto, setup, ssrc)
}

// answer is what the answering SDP says of the picture.
type answer struct {
	host, port string // where it sends from, or waits for a connection
}

// readAnswer reads it, and reports where it is not what was offered.
func readAnswer(b []byte, m Media) (answer, error) {
	var a answer
	video := false
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "c=") && (a.host == "" || video):
			if words := strings.Fields(line); len(words) == 3 {
				a.host, _, _ = strings.Cut(words[2], "/")
			}
		case strings.HasPrefix(line, "m=") && video:
			return a, nil
		case strings.HasPrefix(line, "m=video "):
			video = true
			if err := a.media(strings.Fields(line), m); err != nil {
				return a, err
			}
		case video && strings.HasPrefix(line, "a=rtpmap:96 ") && !strings.HasPrefix(strings.ToUpper(line), "A=RTPMAP:96 PS/"):
			return a, fmt.Errorf("it answered that it sends %q, not a program stream (PS)", plain(line[len("a=rtpmap:96 "):]))
		}
	}
	if !video {
		return a, errors.New("its answer to INVITE has no SDP with a picture (m=video)")
	}
	return a, nil
}

func (a *answer) media(words []string, m Media) error {
	if len(words) < 3 {
		return errors.New("its answer to INVITE has a torn m= line")
	}
	a.port, _, _ = strings.Cut(words[1], "/")
	port, err := strconv.ParseUint(a.port, 10, 16)
	switch {
	case err != nil:
		return errors.New("its answer to INVITE has a torn m= line")
	case port == 0:
		return errors.New("it refused the picture in its answer to INVITE (m=video 0)")
	case strings.Contains(words[2], "TCP") && m == OverUDP:
		return errors.New("it answered that it sends over TCP, and UDP was asked for: add ?media=tcp to the URL")
	case !strings.Contains(words[2], "TCP") && m != OverUDP:
		return errors.New("it answered that it sends over UDP, and TCP was asked for: take media=tcp from the URL")
	}
	return nil
}
