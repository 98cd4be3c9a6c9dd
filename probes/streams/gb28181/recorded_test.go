package gb28181

import (
	"bytes"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/emiago/sipgo/sip"
)

// What SIPp and snag said to each other (testdata/sipp-3.6.1.txt): snag reads SIPp's
// part of it as it did then, and answers its challenge with the digest that SIPp took.
func TestRecordedWithSIPp(t *testing.T) {
	all, err := os.ReadFile("testdata/sipp-3.6.1.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list List
	var challenge, registered, accepted *message
	for _, text := range bytes.Split(all, []byte("=== "))[1:] {
		who, text, _ := bytes.Cut(text, []byte("\n"))
		text = text[:len(text)-1]
		m, n, err := parse(text, false)
		if err != nil || n != len(text) {
			t.Fatalf("%d of %d bytes, %v: %q", n, len(text), err, text)
		}
		if _, err := sip.ParseMessage(text); err != nil {
			t.Errorf("sipgo does not read it: %v: %q", err, text)
		}
		switch {
		case string(who) == "snag":
			if m.get("Authorization") != "" {
				registered = m
			}
		case m.status == unauthorized:
			challenge = m
		case m.method == "MESSAGE":
			d, err := readDocument(m.body)
			if err != nil || !d.isCatalogue() || d.SN != "1" || list.add(d) != nil {
				t.Errorf("%+v, %v", d, err)
			}
		case m.status == 200 && strings.HasSuffix(m.get("CSeq"), "INVITE"):
			accepted = m
		}
	}
	if want := []Item{{door, "大门", true}, {"34020000001320000002", "hall", false}}; !slices.Equal(list.Cameras, want) || !list.Whole() {
		t.Errorf("%+v", list)
	}
	p := &peer{user: url.UserPassword("34020000004000000007", "s3cret")}
	got, ok := p.credentials(challenge, "REGISTER", registered.uri, 0)
	if !ok || got.value != registered.get("Authorization") {
		t.Errorf("%q, SIPp took %q", got.value, registered.get("Authorization"))
	}
	if a, err := readAnswer(accepted.body, OverUDP); err != nil || a.host != "127.0.0.1" || a.port != "40000" {
		t.Errorf("%+v, %v", a, err)
	}
}
