package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/readers"
	"snag/recording"
	"snag/report/page"
	"snag/verdict"
)

// plain unpacks a trace into a file.
func plain(t *testing.T, name string, change func([]byte) []byte) string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "straces", name+".strace.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name+".strace")
	if err := os.WriteFile(path, change(b), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// likeThat gives the threads of a trace the numbers of another's, in the order of both.
func likeThat(t *testing.T, other string) func([]byte) []byte {
	numbers := regexp.MustCompile(`(?m)^[0-9]+`)
	order := func(b []byte) (out []string) {
		for _, n := range numbers.FindAll(b, -1) {
			if !slices.Contains(out, string(n)) {
				out = append(out, string(n))
			}
		}
		slices.Sort(out)
		return out
	}
	that, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	want := order(that)
	return func(b []byte) []byte {
		have := order(b)
		return numbers.ReplaceAllFunc(b, func(n []byte) []byte {
			if i := slices.Index(have, string(n)); i < len(want) {
				return []byte(want[i])
			}
			return n
		})
	}
}

// Two hosts whose processes have the same numbers and whose sockets have the same
// addresses: what is found on the one is not seen on the other.
func TestTwoHostsAlike(t *testing.T) {
	sick := plain(t, "slow-dependency-sick", func(b []byte) []byte { return b })
	well := plain(t, "slow-dependency-healthy", likeThat(t, sick))
	judged := func(p readers.Plan) *verdict.Verdict {
		p.Dir, p.Zone = filepath.Join(t.TempDir(), "r"), time.UTC
		if err := readers.Read(context.Background(), p); err != nil {
			t.Fatal(err)
		}
		r, err := recording.Open(p.Dir)
		if err != nil {
			t.Fatal(err)
		}
		return verdict.Judge(r)
	}
	alone := judged(readers.Plan{Files: []string{sick}})
	both := judged(readers.Plan{Files: []string{well, sick}, Hosts: map[string]string{well: "web-1", sick: "web-2"}})
	culprits := both.With(verdict.Culprit)
	if len(culprits) != len(alone.With(verdict.Culprit)) || len(culprits) == 0 {
		t.Fatalf("%d culprits, alone %d", len(culprits), len(alone.With(verdict.Culprit)))
	}
	for _, e := range culprits {
		if e.Subject.Host != "web-2" || !strings.HasSuffix(e.Subject.Name, " on web-2") {
			t.Errorf("%s: %+v", e.Suspect.Name, e.Subject)
		}
	}
	for _, s := range both.Symptoms {
		if s.Subject.Host != "web-2" {
			t.Errorf("a symptom of the healthy host: %s %s", s.Name, s.Text)
		}
	}
	views := both.Views()
	if len(views) != 2 || views[0].Name != "web-2" || len(views[0].With(verdict.Culprit)) == 0 || len(views[1].With(verdict.Culprit)) != 0 {
		t.Fatalf("%+v", views)
	}
	// The page shows each host's own sockets, calls and counts, and the sick one's as if
	// it were alone.
	limits := page.Limits{Entries: 400, Intervals: 200, Charts: 24, Lines: 6, Points: 600, Rows: 4000, Paths: 4, Events: 300, Flame: 6000}
	one, two := page.New(alone, limits), page.New(both, limits)
	for _, p := range two.Scene.Paths {
		onWell := strings.HasSuffix(p.Title, " on web-1")
		if !onWell && !strings.HasSuffix(p.Title, " on web-2") {
			t.Errorf("whose is %s?", p.Title)
		}
		for _, n := range p.Nodes {
			if onWell && len(n.Marks) > 0 {
				t.Errorf("%s of the healthy host is marked: %+v", n.Title, n.Marks)
			}
		}
	}
	for _, a := range one.Tables {
		if a.Name == "facts" || a.Name == "coverage" {
			continue // they name the files
		}
		i := slices.IndexFunc(two.Tables, func(b page.Table) bool { return b.Name == a.Name })
		if i < 0 {
			t.Errorf("no table %s", a.Name)
			continue
		}
		var own [][]any
		for _, row := range two.Tables[i].Rows {
			if row[len(row)-1] == "web-2" {
				own = append(own, row[:len(row)-1])
			}
		}
		if len(own) != len(a.Rows) || len(own) > 0 && !reflect.DeepEqual(withoutText(own), withoutText(a.Rows)) {
			t.Errorf("table %s: %d rows of the sick host, %d of it alone\n%v\n%v", a.Name, len(own), len(a.Rows), first(own), first(a.Rows))
		}
	}
	var html bytes.Buffer
	if err := page.WriteHTML(&html, both); err != nil {
		t.Fatal(err)
	}
}

func first(rows [][]any) []any {
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

// withoutText leaves the numbers: marks name findings by where they stand.
func withoutText(rows [][]any) (out [][]any) {
	for _, row := range rows {
		var own []any
		for _, cell := range row {
			if _, ok := cell.(string); !ok {
				own = append(own, cell)
			}
		}
		out = append(out, own)
	}
	return out
}
