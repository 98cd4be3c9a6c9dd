package report

import (
	"strings"
	"testing"

	"snag/ledger"
	"snag/recording"
	"snag/recording/rectest"
	"snag/verdict"
)

// The service that the user asked about comes before a busier one.
func TestTargetFirst(t *testing.T) {
	busy := &ledger.Party{Subject: recording.Subject{Kind: recording.KindListener, Local: "0.0.0.0:80"}, Open: 9}
	asked := &ledger.Party{Subject: recording.Subject{Kind: recording.KindListener, Local: "0.0.0.0:5432"}, Open: 1}
	for _, c := range []struct {
		manifest string
		first    *ledger.Party
	}{{`{}`, busy}, {`{"target": {"port": 5432}}`, asked}} {
		r, err := rectest.Parse([]byte("-- manifest --\n" + c.manifest + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		v := verdict.Judge(r.Recording)
		v.Ledger = &ledger.Ledger{Parties: []*ledger.Party{busy, asked}}
		if got := hurtFirst(v); len(got) != 2 || got[0] != c.first {
			t.Errorf("target %s: %s comes first", c.manifest, got[0].Subject.Local)
		}
	}
}

// Where requests of HTTP/2 were missed there is a line that says so, and no figure.
func TestRequestsThatAreNotKnownAreSaidToBe(t *testing.T) {
	one := &ledger.Party{Role: ledger.Serves, Subject: recording.Subject{Kind: recording.KindListener, Local: "0.0.0.0:50051"}}
	r, err := rectest.Parse([]byte("-- manifest --\n{}\n"))
	if err != nil {
		t.Fatal(err)
	}
	v := verdict.Judge(r.Recording)
	v.Ledger = &ledger.Ledger{Unknown: []*ledger.Party{one}}
	p := &page{Options: Options{Width: 200}, paint: palette(false)}
	p.parties(v)
	if got := strings.Join(p.lines, "\n"); !strings.Contains(got, "0.0.0.0:50051 · rate and times unknown") {
		t.Errorf("%q", got)
	}
}
