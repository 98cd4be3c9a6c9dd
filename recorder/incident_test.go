package recorder

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/recording"
)

// guarded plays seconds to a guard whose judge finds somebody hurt in a span of them.
func guarded(t *testing.T, dir string, seconds, from, to int, fails error) (reports []string) {
	t.Helper()
	g := newMonitor(Plan{
		Dir: dir, Limits: Limits{Size: 1 << 30}, Note: func(text string) { reports = append(reports, text) },
		Report: func(i Incident, what string) { reports = append(reports, what) },
		Judge: func(_ context.Context, _ string, a, b recording.Time, _ []string, out string) (Finding, error) {
			if fails != nil {
				return Finding{}, fails
			}
			f := Finding{Standing: "nothing-wrong"}
			if overlaps(order{From: a, To: b}, from, to) {
				f = Finding{Standing: "culprit", Hurt: true, Culprits: []Named{{Name: "gc-pauses", Subject: "java[7]", Text: "it stops"}}}
			}
			return f, os.WriteFile(out, []byte("recording"), 0o600)
		},
	})
	for i := range seconds {
		why := ""
		if i >= from && i < to {
			why = "it hurts"
		}
		g.second(t.Context(), second(i), notice{why: why})
		g.judging.Wait()
	}
	return reports
}

func TestAnIncidentHasABeginningAndAnEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got := guarded(t, dir, 1200, 100, 300, nil); strings.Join(got, " ") != "begins ends" {
		t.Errorf("reports: %q", got)
	}
	all, err := Ring{dir}.Incidents()
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	i := all[0]
	if i.ID != 1 || !i.Start.Equal(second(100).Wall()) || i.End.Before(second(299).Wall()) || i.End.After(second(320).Wall()) || i.Culprits[0].Name != "gc-pauses" || i.Noticed != "it hurts" || i.Judgements < 2 {
		t.Errorf("%+v", i)
	}
	if b, err := os.ReadFile(Ring{dir}.Recording(1)); err != nil || string(b) != "recording" {
		t.Errorf("its recording: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, incidentsDir)); err != nil || len(entries) != 1 {
		t.Errorf("judgements that found nothing leave something: %v", entries)
	}
	// The next recorder counts on.
	if got := guarded(t, dir, 400, 100, 150, nil); len(got) == 0 {
		t.Error("a second incident was not reported")
	}
	if all, err = (Ring{dir}).Incidents(); err != nil || len(all) != 2 || all[1].ID != 2 || all[0].GroupKey() != all[1].GroupKey() {
		t.Errorf("%v, %v", all, err)
	}
}

func TestAJudgementThatFailsIsToldOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := guarded(t, dir, 1200, 100, 1000, errors.New("no memory"))
	if len(got) != 1 || !strings.Contains(got[0], "no memory") {
		t.Errorf("%q", got)
	}
}

func TestIncidentsThatCantBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	guarded(t, dir, 400, 100, 150, nil)
	r := Ring{dir}
	if err := os.MkdirAll(r.folder(2), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.folder(2), incidentFile), []byte(`{"id": 2, "start`), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := r.Incidents(); len(all) != 1 || err == nil || !strings.Contains(err.Error(), "incident 2") {
		t.Errorf("%v, %v", all, err)
	}
	var none *NoneError
	if _, err := (Ring{filepath.Join(dir, "no")}).Incidents(); !errors.As(err, &none) {
		t.Errorf("no ring: %v", err)
	}
}

func TestOldIncidentsGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := Ring{dir}
	for range 5 {
		id, err := r.nextIncident()
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.put(Incident{ID: id, Start: time.Unix(int64(id), 0)}), os.WriteFile(r.Recording(id), make([]byte, 1000), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.forget(2500); err != nil {
		t.Fatal(err)
	}
	if all, err := r.Incidents(); err != nil || len(all) != 2 || all[0].ID != 4 {
		t.Errorf("%v, %v", all, err)
	}
	if err := r.forget(1); err != nil {
		t.Fatal(err)
	}
	if all, err := r.Incidents(); err != nil || len(all) != 1 {
		t.Errorf("the last one goes too: %v, %v", all, err)
	}
}

// What a rule is about is kept though nobody was hurt.
func TestARuleMakesAnIncident(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var reports []string
	g := newMonitor(Plan{
		Dir: dir, Limits: Limits{Size: 1 << 30}, Note: func(text string) { t.Error(text) },
		Report: func(i Incident, what string) { reports = append(reports, what+": "+i.Noticed) },
		Judge: func(_ context.Context, _ string, _, _ recording.Time, _ []string, out string) (Finding, error) {
			return Finding{Standing: "nothing-wrong"}, os.WriteFile(out, []byte("recording"), 0o600)
		},
	})
	for i := range 600 {
		ruled, why := i >= 100 && i < 200, ""
		if ruled {
			why = "load > 1: 2"
		}
		g.second(t.Context(), second(i), notice{why: why, ruled: ruled})
		g.judging.Wait()
	}
	if got := strings.Join(reports, ", "); got != "begins: load > 1: 2, ends: load > 1: 2" {
		t.Errorf("reports: %q", got)
	}
	all, err := Ring{dir}.Incidents()
	if err != nil || len(all) != 1 || all[0].End.IsZero() {
		t.Fatalf("%+v, %v", all, err)
	}
	if _, err := os.Stat(Ring{dir}.Recording(1)); err != nil {
		t.Error(err)
	}
}

// A closer look begins with the trigger, and names the culprit where the recording proves none.
func TestACloserLookAtAnIncident(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		hurt    bool
		past    []Named
		culprit string
		kept    bool
	}{
		{"it proves one", true, nil, "lock-convoy", true},
		{"the recording proves one", true, []Named{{Name: "gc-pauses"}}, "gc-pauses", true},
		{"nobody is hurt", false, nil, "", false},
	} {
		dir := t.TempDir()
		looks := 0
		g := newMonitor(Plan{
			Dir: dir, Limits: Limits{Size: 1 << 30}, Note: func(text string) { t.Error(text) }, Report: func(Incident, string) {},
			Judge: func(_ context.Context, _ string, _, _ recording.Time, _ []string, out string) (Finding, error) {
				return Finding{Standing: "unproved", Hurt: c.hurt, Culprits: c.past}, os.WriteFile(out, []byte("recording"), 0o600)
			},
			Look: func(_ context.Context, _, out string) (Finding, error) {
				looks++
				return Finding{Standing: "culprit", Hurt: true, Culprits: []Named{{Name: "lock-convoy"}}}, os.Mkdir(out, 0o700)
			},
		})
		for i := range 300 {
			why := ""
			if i >= 100 && i < 150 {
				why = "it hurts"
			}
			g.second(t.Context(), second(i), notice{why: why})
			g.judging.Wait()
		}
		all, err := Ring{dir}.Incidents()
		if err != nil || (len(all) == 1) != c.hurt || looks == 0 || looks > 2 {
			t.Errorf("%s: %d looks, %+v, %v", c.name, looks, all, err)
			continue
		}
		if c.hurt && (len(all[0].Culprits) != 1 || all[0].Culprits[0].Name != c.culprit) {
			t.Errorf("%s: %+v", c.name, all[0].Culprits)
		}
		if c.hurt && all[0].Looked != (c.past == nil) {
			t.Errorf("%s: proved by the look: %v", c.name, all[0].Looked)
		}
		if _, err := os.Stat(Ring{dir}.Look(1)); (err == nil) != c.kept {
			t.Errorf("%s: its folder: %v", c.name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, lookDir)); err == nil {
			t.Errorf("%s: the look is left", c.name)
		}
	}
}
