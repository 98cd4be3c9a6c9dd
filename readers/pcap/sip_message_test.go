package pcap

import (
	"bytes"
	"strings"
	"testing"

	"github.com/emiago/sipgo/sip"
)

// A request of RFC 3261 24.2 with short names and folded lines, and a response without a reason.
const (
	sipRequest = "INVITE sip:bob@biloxi.example.com SIP/2.0\r\nv: SIP/2.0/UDP pc33.atlanta.example.com\r\n ;branch=z9hG4bKnashds8\r\nMax-Forwards: 70\r\n" +
		"t: Bob <sip:bob@biloxi.example.com>\r\nf: Alice <sip:alice@atlanta.example.com>;tag=1928301774\r\ni:\r\n a84b4c76e66710\r\nCSeq : 314159  INVITE\r\nl: 4\r\n\r\nabcd"
	sipAnswer = "SIP/2.0 180 \r\nVia: SIP/2.0/UDP a;branch=z9hG4bK1\r\nFrom: <sip:a@x>;tag=1\r\nTo: <sip:b@y>;tag=2\r\ncall-id: a84b4c76e66710@pc33\r\nCSEQ: 1 INVITE\r\n\r\n"
)

func TestReadSIP(t *testing.T) {
	m, ok := readSIP([]byte(sipRequest + "what is behind its length"))
	if !ok || m.method != "INVITE" || m.code != 0 || m.callID != "a84b4c76e66710" || m.of != "INVITE" || string(m.body) != "abcd" {
		t.Errorf("%+v, %v", m, ok)
	}
	m, ok = readSIP([]byte(sipAnswer + "all"))
	if !ok || m.method != "" || m.code != 180 || m.callID != "a84b4c76e66710@pc33" || m.of != "INVITE" || string(m.body) != "all" {
		t.Errorf("%+v, %v", m, ok)
	}
	for _, c := range []struct{ was, is string }{
		{"INVITE sip", "INVITE"}, {" SIP/2.0\r\nv", "\r\nv"}, {"i:", "x:"}, {"314159  INVITE", "INVITE"}, {"314159", "99999999999"}, {"  INVITE", ""},
	} {
		if m, ok := readSIP([]byte(strings.Replace(sipRequest, c.was, c.is, 1))); ok {
			t.Errorf("%q instead of %q: %+v", c.is, c.was, m)
		}
	}
	for _, code := range []string{"99", "700", "abc", ""} {
		if m, ok := readSIP([]byte(strings.Replace(sipAnswer, "180", code, 1))); ok {
			t.Errorf("code %q: %+v", code, m)
		}
	}
}

// Cut at any byte, a message is read as soon as Call-ID and CSeq are whole, and its body as far as it goes.
func TestReadSIPCut(t *testing.T) {
	from := strings.Index(sipRequest, "l: 4")
	for i := range len(sipRequest) {
		m, ok := readSIP([]byte(sipRequest[:i]))
		if ok != (i > from) { // a line may go on: its end is known once the next begins, or the message is cut behind it
			if i != from {
				t.Errorf("the first %d bytes: %v", i, ok)
			}
		}
		if want := max(0, i-strings.Index(sipRequest, "abcd")); len(m.body) != want {
			t.Errorf("the first %d bytes: a body of %q", i, m.body)
		}
	}
}

// sipgo reads the same.
func FuzzReadSIP(f *testing.F) {
	f.Add([]byte(sipRequest))
	f.Add([]byte(sipAnswer))
	f.Fuzz(func(t *testing.T, b []byte) {
		other, err := sip.ParseMessage(b)
		if err != nil || other.CallID() == nil || other.CSeq() == nil {
			readSIP(b)
			return
		}
		m, ok := readSIP(b)
		if !ok {
			return // sipgo reads more than SIP
		}
		if m.callID != strings.TrimSpace(other.CallID().Value()) || m.method == "" != (m.code != 0) {
			t.Errorf("%q: %+v, sipgo %v", b, m, other)
		}
		if r, is := other.(*sip.Response); is && r.StatusCode != m.code {
			t.Errorf("%q: %d, sipgo %d", b, m.code, r.StatusCode)
		}
		if !bytes.HasPrefix(m.body, other.Body()) {
			t.Errorf("%q: body %q, sipgo %q", b, m.body, other.Body())
		}
	})
}
