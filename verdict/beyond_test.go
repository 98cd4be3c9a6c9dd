package verdict

import (
	"testing"

	"snag/recording/rectest"
)

func TestBeyond(t *testing.T) {
	for name, want := range map[string]string{
		"slow-dependency/guilty":                "10.0.0.9:5432",
		"slow-dependency/guilty-unix":           "", // on this host
		"publisher-sends-less/guilty-elsewhere": "10.0.0.3:40000",
		"encoder-stall/guilty-first-frame":      "", // the encoder runs here
		"nagle-delayed-ack/guilty-late-answers": "", // whose small writes it is
	} {
		c, err := rectest.Load("../suspects/testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		v := Judge(c.Recording)
		culprits := 0
		for _, e := range v.Entries {
			if e.State != Culprit {
				continue
			}
			if culprits++; v.Beyond(e) != want {
				t.Errorf("%s: %s of %s is beyond %q, want %q", name, e.Suspect.Name, e.Subject.Name, v.Beyond(e), want)
			}
		}
		if culprits == 0 {
			t.Errorf("%s: no culprit", name)
		}
	}
}
