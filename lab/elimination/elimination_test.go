package elimination

import (
	"context"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/internal/built"
	"snag/lab/labtest"
	"snag/load/elimination"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// inCheck are those that make check runs: each way of a request once, and a healthy one. All 26 take four and a
// half minutes: snag-lab eliminate runs them, and this test does with SNAG_ALL_SITUATIONS set.
var inCheck = []string{"slow-resolver", "slow-tls", "slow-new-connections", "nagle-in-service", "well-near", "queue-on-path", "udp-closed-port", "udp-small-buffer", "udp-fragments", "udp-well"}

// Situations once, with sizes that seed 2 draws.
func TestSituations(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making network namespaces needs root")
	}
	snag := t.TempDir() + "/snag"
	built.Program(t, "snag", snag)
	all := os.Getenv("SNAG_ALL_SITUATIONS") != ""
	for i, s := range Situations {
		if !all && !slices.Contains(inCheck, s.Name) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			try := func() Outcome {
				o, err := Run(ctx, s, 2, Options{Snag: snag, Suffix: string(rune('a' + i)), Log: t.Logf})
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%.0f s: %s\n%v", o.Seconds, o.First, o.Values)
				return o
			}
			o := try()
			if !o.Right {
				t.Log("once more, to tell a busy machine from a fault")
				o = try()
			}
			if !o.Right || len(o.RuledOut) > 0 {
				t.Errorf("found %v, left %v, guilty and ruled out %v; guilty are %v", o.Found, o.Left, o.RuledOut, s.Guilty)
			}
			// The path's own figures distinguish a full listen queue from a lossy path.
			if len(o.Found) > 0 && o.By[0] != shows(o.Found[0]) && (o.Found[0] != "listen-queue" || o.By[0] != elimination.TheWay) {
				t.Errorf("%s was shown by the experiment %q, and the catalogue names %q", o.Found[0], o.By[0], shows(o.Found[0]))
			}
		})
	}
}

// shows is the experiment that the catalogue names for a suspect.
func shows(suspect string) string {
	for _, s := range elimination.Suspects {
		if s.ID == suspect {
			return s.By
		}
	}
	return ""
}

// Each name of inCheck is a situation.
func TestInCheck(t *testing.T) {
	t.Parallel()
	for _, name := range inCheck {
		if !slices.ContainsFunc(Situations, func(s Situation) bool { return s.Name == name }) {
			t.Errorf("no situation is called %q", name)
		}
	}
}

// A mark depends on who is named first, and on who was ruled out.
func TestMark(t *testing.T) {
	t.Parallel()
	s := Situation{Name: "slow-tls", Guilty: []string{"tls"}}
	right := mark(s, nil, answer{Left: []standing{{"tls", "found", "handshake"}, {"pool", "open", ""}}})
	late := mark(s, nil, answer{Left: []standing{{"pool", "found", ""}, {"tls", "found", ""}}})
	struck := mark(s, nil, answer{Left: []standing{{"pool", "open", ""}}, RuledOut: []standing{{"tls", "ruled out", ""}, {"resolver", "ruled out", ""}}})
	if !right.Right || late.Right || struck.Right || len(struck.RuledOut) != 1 || len(right.RuledOut) != 0 {
		t.Errorf("%+v\n%+v\n%+v", right, late, struck)
	}
	well := Situation{Name: "well-near"}
	if !mark(well, nil, answer{Left: []standing{{"pool", "open", ""}}}).Right || mark(well, nil, answer{Left: []standing{{"pool", "found", ""}}}).Right {
		t.Error("where all is well, nobody may be found")
	}
	far, struck2 := Situation{Name: "udp-far-without-echo", Guilty: []string{"path-length"}}, []string{"service"}
	byIt, byAnother := []standing{{"service", "ruled out", "server"}}, []standing{{"service", "ruled out", "null"}}
	if !mark(far, struck2, answer{Left: []standing{{"path-length", "open", ""}}, RuledOut: byIt}).Right ||
		mark(far, struck2, answer{Left: []standing{{"path-length", "open", ""}}, RuledOut: byAnother}).Right ||
		mark(far, struck2, answer{RuledOut: append(byIt, standing{"path-length", "ruled out", "server"})}).Right {
		t.Error("the server's run is to rule out the service, and not the path")
	}
	var sum Sum
	for _, o := range []Outcome{right, late, struck, mark(well, nil, answer{})} {
		sum.Add(o)
	}
	if want := (Sum{faulty: 3, found: 1, left: 2, struck: 1, well: 1, by: map[string]int{"handshake": 1}}); !reflect.DeepEqual(sum, want) {
		t.Errorf("%+v, want %+v", sum, want)
	}
	if text := sum.String(); !strings.HasSuffix(text, "\nshown by: handshake 1") {
		t.Errorf("which experiment showed it is not named: %s", text)
	}
}

// Names of situations and of suspects are those of the catalogue.
func TestGuiltyAreSuspects(t *testing.T) {
	t.Parallel()
	guilty := map[string]bool{}
	well := 0
	for _, s := range Situations {
		for _, g := range s.Guilty {
			if guilty[g] = true; elimination.About(g) == g {
				t.Errorf("%s: no suspect is named %s", s.Name, g)
			}
		}
		if len(s.Guilty) == 0 {
			well++
		}
	}
	if len(Situations) != 26 || well != 4 {
		t.Errorf("%d situations, %d well", len(Situations), well)
	}
	// Each suspect is guilty somewhere, and so each experiment is the one that shows it.
	by := map[string]bool{elimination.TheRequest: true} // which shows no suspect
	for _, s := range elimination.Suspects {
		if !guilty[s.ID] {
			t.Errorf("%s is guilty in no situation", s.ID)
		}
		by[s.By] = true
	}
	for _, e := range elimination.Experiments {
		if !by[e.ID] {
			t.Errorf("the experiment %s shows no suspect", e.ID)
		}
	}
}
