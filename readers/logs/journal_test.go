package logs

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestTheJournalInEachOfItsForms reads what journalctl wrote of the same three entries,
// one of which has two lines (systemd 252).
func TestTheJournalInEachOfItsForms(t *testing.T) {
	for _, form := range []string{"export", "json", "iso", "precise", "unix"} {
		b, err := os.ReadFile("testdata/journal." + form)
		if err != nil {
			t.Fatal(err)
		}
		told, r := readText(t, "journal."+form, string(b), nil)
		var got []string
		for _, e := range r.Events {
			got = append(got, fmt.Sprintf("%s of %s %s", e.Attrs["what"], e.Attrs["process"], e.Attrs["pid"]))
		}
		want := "refused of app 6951; timeout of app2 6952"
		if strings.Join(got, "; ") != want || told.Host != "vm" || len(r.Processes) != 3 {
			t.Errorf("%s: %v of %s, %d services; want %s", form, got, told.Host, len(r.Processes), want)
		}
		if span := told.Last.Sub(told.First).Seconds(); span < 0.3 || span > 1.1 {
			t.Errorf("%s: %g s", form, span)
		}
	}
}
