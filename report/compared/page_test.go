package compared

import (
	"math"
	"strings"
	"testing"
)

// The page has both bars of each party, which add up to the time of an answer, and what changed.
func TestPageHasBothBars(t *testing.T) {
	p := shownPair(t, "cpu-throttled-healthy", "cpu-throttled-sick").Page()
	if p.Outcome != "worse" || !strings.HasPrefix(p.Sentence, "api-server 10.77.6.2:8081") || len(p.Parties) == 0 {
		t.Fatalf("%+v", p)
	}
	found := false
	for _, one := range p.Parties {
		a, b := 0.0, 0.0
		for i, x := range one.Accounts {
			a, b = a+x.A, b+x.B
			if i > 0 && x.B-x.A > one.Accounts[i-1].B-one.Accounts[i-1].A {
				t.Errorf("%s: %s grew more than the one before", one.Subject, x.Account)
			}
		}
		if math.Abs(a-one.MeanA) > 0.1*one.MeanA || math.Abs(b-one.MeanB) > 0.1*one.MeanB {
			t.Errorf("%s: %g of %g and %g of %g", one.Subject, a, one.MeanA, b, one.MeanB)
		}
		if one.Subject == "api-server 10.77.6.2:8081" {
			found = one.Worse && one.Accounts[0].Account == "throttled by its quota" && one.Accounts[0].Delay
		}
	}
	if !found {
		t.Errorf("the service and its quota: %+v", p.Parties)
	}
	worse := 0
	for _, c := range p.Changes {
		if c.Worse {
			worse++
		}
	}
	if worse < 3 { // answers of both parties, and the quota
		t.Errorf("changes: %+v", p.Changes)
	}
}
