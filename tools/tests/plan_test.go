package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestWay(t *testing.T) {
	for _, c := range []struct {
		p    pkg
		want way
	}{
		{pkg{TestGoFiles: []string{"a_test.go"}, TestImports: []string{"os", "testing"}}, pure},
		{pkg{TestGoFiles: []string{"a_test.go", "live_test.go"}}, beside},
		{pkg{XTestGoFiles: []string{"gst_live_test.go"}}, beside},
		{pkg{TestGoFiles: []string{"alive_test.go", "delivered_test.go"}}, pure},
		{pkg{TestGoFiles: []string{"a_test.go"}, TestImports: []string{"snag/lab/labtest"}}, beside},
		{pkg{ImportPath: "snag/cmd/snag", TestImports: []string{"snag/lab/labtest"}}, alone},
		{pkg{ImportPath: "snag/lab/broadcast", TestImports: []string{"snag/lab/labtest"}}, paired},
		{pkg{ImportPath: "snag/lab/broadcast", TestImports: []string{"snag/lab/labtest"}, part: true}, beside},
		{pkg{TestImports: []string{"snag/lab/labtest"}, incident: true}, alone},
		{pkg{XTestGoFiles: []string{"a_test.go"}, XTestImports: []string{"snag/internal/netns/netnstest"}}, beside},
		{pkg{TestGoFiles: []string{"a_test.go"}, TestImports: []string{"snag/lab/labtest"}, waits: true, incident: true}, beside},
	} {
		if got := c.p.way(); got != c.want {
			t.Errorf("%+v runs %s, want %s", c.p, got, c.want)
		}
	}
}

// A package that was moved must not lose the machine that it needs, or its place.
func TestThePlanNamesPackages(t *testing.T) {
	for _, path := range slices.Concat(slices.Collect(maps.Keys(whole)), slices.Collect(maps.Keys(pairs)), slices.Collect(maps.Keys(parts)), longest) {
		if _, err := os.Stat(filepath.Join("../..", strings.TrimPrefix(path, "snag/"))); err != nil {
			t.Error(err)
		}
	}
	for path := range pairs {
		if whole[path] != "" {
			t.Errorf("%s runs beside another, and alone", path)
		}
	}
}

func TestIncidentsAreDrawn(t *testing.T) {
	all := []pkg{{ImportPath: "snag/probes/drops"}}
	for i := range 300 {
		all = append(all, pkg{ImportPath: fmt.Sprint("snag/lab/incident-", i), incident: true})
	}
	first, left := drawn(all, "1")
	if first[0].ImportPath != "snag/probes/drops" || len(first)+left != len(all) || len(first) < 70 || len(first) > 130 {
		t.Errorf("%d of %d drawn, %d left out", len(first), len(all), left)
	}
	same, _ := drawn(all, "1")
	other, _ := drawn(all, "2")
	if !reflect.DeepEqual(first, same) || reflect.DeepEqual(first, other) {
		t.Error("what is drawn must follow from the seed")
	}
}

func TestDistinctNames(t *testing.T) {
	groups := distinct([]pkg{{ImportPath: "a/x"}, {ImportPath: "a/y"}, {ImportPath: "b/x"}, {ImportPath: "c/x"}, {ImportPath: "b/y"}})
	if len(groups) != 3 || len(groups[0]) != 2 || len(groups[1]) != 2 || len(groups[2]) != 1 {
		t.Errorf("%v", groups)
	}
}
