package report

import (
	"bytes"
	"strings"
	"testing"

	"snag/recording/rectest"
	"snag/verdict"
)

// loadedCase judges a written case of a load, and returns its text in one line and its document.
func loadedCase(t *testing.T, name string) (string, Document) {
	t.Helper()
	c, err := rectest.Load("../verdict/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	v := verdict.Judge(c.Recording)
	var b bytes.Buffer
	if err := WriteText(&b, v, Options{}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " "), NewDocument(v)
}

// The report says in its first lines what came of the load, and below where the time of its requests passed.
func TestALoadIsShown(t *testing.T) {
	text, d := loadedCase(t, "load-fills-the-workers.txtar")
	for _, want := range []string{
		"load of http://127.0.0.1:8080/: 40 answers per second, 472 ms on average since due; 100 % of the time for an answer is accounted for at the service",
		"load http://127.0.0.1:8080/: 40 answers per second of 40 asked on 20 connections, 472 ms on average since due (p99 472 ms), 452 ms since sent",
		"Of 472 ms since due, snag itself was late by 100 µs, the request waited 20 ms for a free connection and 452 ms for the answer",
		"Of 452 ms for the answer, 450 ms (100 %, ± 0.1 %) are accounted for at api[60] listening on 0.0.0.0:8080: 400 ms waiting for a worker, 50 ms sleeping",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if at, first := strings.Index(text, "load of"), strings.Index(text, "CULPRIT"); at < 0 || first < at {
		t.Errorf("the load is not in the first lines:\n%s", text)
	}
	if len(d.Loads) != 1 {
		t.Fatalf("%d loads in the document", len(d.Loads))
	}
	l := d.Loads[0]
	if l.Share == nil || *l.Share < 0.99 || l.Within == nil || l.Server == nil || *l.Server != "api[60] listening on 0.0.0.0:8080" || l.NotSeen != "" ||
		len(l.Spent) != 2 || !l.Spent[0].InLine || l.Spent[0].Account != "sleep" || l.SlowParts != nil || l.Parts.Waiting != 0.02 || l.RateAsked != 40 || l.Rate != 40 {
		t.Errorf("%+v", l)
	}
}

// Figures that are not the service's are called so, first.
func TestALoadThatIsNotTheServices(t *testing.T) {
	text, d := loadedCase(t, "load-not-the-services.txtar")
	for _, want := range []string{
		"! load of http://127.0.0.1:8080/: 40 answers per second, and its figures are not the service's: half of the requests",
		"NOT ENOUGH SEEN to say that nothing is wrong the figures of the load of http://127.0.0.1:8080/ are not the service's",
		"they clear no suspect",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if d.Standing != "not-enough-seen" || d.Loads[0].NotTheServices == "" {
		t.Errorf("%s, %+v", d.Standing, d.Loads[0])
	}
}
