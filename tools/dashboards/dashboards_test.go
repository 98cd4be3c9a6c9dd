package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"snag/tools/dashboards/expressions"
)

const top = "../.."

// What is committed is what this program writes.
func TestCommitted(t *testing.T) {
	t.Parallel()
	for _, b := range boards {
		want, err := encode(b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(top, folder, b.name+".json"))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s.json is not what the generator writes (%v): make dashboards", b.name, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(top, folder, "*"))
	if err != nil || len(files) != len(boards) {
		t.Errorf("%v, %v: the generator writes %d", files, err, len(boards))
	}
	was, err := os.ReadFile(filepath.Join(top, page))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := withTables(string(was)); err != nil || text != string(was) {
		t.Errorf("%s has other tables than the generator writes (%v): make dashboards", page, err)
	}
	if _, err := withTables("# a page"); err == nil {
		t.Error("a page without a place for tables has tables")
	}
}

// read reads a dashboard as Grafana's own library has its schema.
func read(text []byte) (d dashboard.Dashboard, err error) { //nolint:staticcheck // see encode
	plugins.RegisterDefaultPlugins()
	var found cog.BuildErrors // one without errors is no nil error
	if err := d.UnmarshalJSONStrict(text); err != nil && (!errors.As(err, &found) || len(found) > 0) {
		return d, err
	}
	return d, d.Validate()
}

// Grafana's own library reads each file strictly: an unknown field, or a value of another type, is an error.
func TestSchema(t *testing.T) {
	t.Parallel()
	for _, b := range boards {
		file := filepath.Join(top, folder, b.name+".json")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := read(text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for old, other := range map[string]string{`"panels":`: `"panelz":`, `"expr":`: `"exprs":`, `"gridPos":`: `"gridPosition":`, `"schemaVersion": `: `"schemaVersion": "x`} {
			broken := strings.Replace(string(text), old, other, 1)
			if _, err := read([]byte(broken)); broken == string(text) || err == nil {
				t.Errorf("%s with %s for %s is taken: the check checks nothing", file, other, old)
			}
		}
	}
}

// Panels are within the 24 columns and cover nothing of each other; each has a question and an answer.
func TestPanels(t *testing.T) {
	t.Parallel()
	for _, b := range boards {
		text, err := encode(b)
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			Panels []struct {
				ID      int
				Title   string
				GridPos struct{ X, Y, W, H int }
			}
		}
		if err := json.Unmarshal(text, &d); err != nil || len(d.Panels) != len(b.panels) {
			t.Fatalf("%d panels of %d, %v", len(d.Panels), len(b.panels), err)
		}
		taken, ids := map[[2]int]string{}, map[int]bool{}
		for _, one := range d.Panels {
			title, id, pos := one.Title, one.ID, one.GridPos
			if ids[id] || id == 0 || pos.W == 0 || pos.H == 0 || pos.X+pos.W > 24 {
				t.Fatalf("%s, %s: id %d at %+v", b.name, title, id, pos)
			}
			ids[id] = true
			for x := pos.X; x < pos.X+pos.W; x++ {
				for y := pos.Y; y < pos.Y+pos.H; y++ {
					if other, is := taken[[2]int{x, y}]; is {
						t.Fatalf("%s: %s covers %s", b.name, title, other)
					}
					taken[[2]int{x, y}] = title
				}
			}
		}
		for _, p := range b.panels {
			if p.kind != separator && (p.answer == "" || p.empty == "" || len(p.asks) == 0 || p.kind == rows && len(p.columns) == 0) {
				t.Errorf("%s, %s: %+v", b.name, p.title, p)
			}
		}
	}
}

func TestExpressionsParse(t *testing.T) {
	t.Parallel()
	all, err := expressions.Dashboards(filepath.Join(top, folder))
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, b := range boards {
		asked += len(b.variables)
		for _, p := range b.panels {
			asked += len(p.asks)
		}
	}
	if len(all) != asked {
		t.Errorf("%d expressions are read, the boards have %d", len(all), asked)
	}
	for _, e := range all {
		uses, err := expressions.Uses(e.Text)
		if err != nil || len(uses) == 0 || strings.Contains(e.Text, "$") {
			t.Errorf("%s: %s: %v (%v)", e.Where, e.Text, uses, err)
		}
		for _, u := range uses {
			if !strings.HasPrefix(u.Name, "snag_") {
				t.Errorf("%s: %s asks for %q", e.Where, e.Text, u.Name)
			}
		}
	}
}
