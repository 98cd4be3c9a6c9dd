package discovery

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func addresses(all []Target) (out []string) {
	for _, t := range all {
		out = append(out, t.Address)
	}
	return out
}

// next is the next update, which has to come soon.
func next(t *testing.T, all <-chan Update) Update {
	t.Helper()
	select {
	case u := <-all:
		return u
	case <-time.After(15 * time.Second):
		t.Fatal("no update within 15 s")
	}
	return Update{}
}

func TestSpecs(t *testing.T) {
	for spec, says := range map[string]string{
		"":                             "write KIND:…",
		"etcd:http://x":                "KIND one of consul, dns, file, kubernetes, static",
		"static:":                      "no address",
		"static:http://x/":             "is not an address",
		"file:/etc/targets":            "ends in .json, .yml or .yaml",
		"file:/etc/*/x.json":           "only in its last element",
		"dns:A:host":                   "have no port",
		"dns:A:host:99999":             "not a port",
		"dns:TXT:host:1":               "records have no targets",
		"dns:x?refresh=1ms":            "from 1s on",
		"dns:x?retry=1":                "retry= is not known",
		"consul:127.0.0.1:8500":        "token_file=",
		"consul:http://u:s3cret@h":     "token_file=",
		"kubernetes:ingress":           "is not a role",
		"kubernetes:pod":               "this is in no pod",
		"kubernetes:node?namespace=x":  "nodes have no namespace",
		"kubernetes:pod?api=tcp://x:1": "no http:// or https:// URL",
	} {
		if _, err := Parse(spec, nil); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v, want %q", spec, err, says)
		}
	}
	l, err := Targets(t.Context(), "static:10.0.0.1:80, edge-2:1935,[fd00::3]:80,plain")
	if err != nil || len(l.Targets) != 4 {
		t.Fatal(l, err)
	}
	for i, want := range [][2]string{{"10.0.0.1", "80"}, {"edge-2", "1935"}, {"fd00::3", "80"}, {"plain", ""}} {
		if host, port := l.Targets[i].Host(); host != want[0] || port != want[1] {
			t.Errorf("%s %s, want %s", host, port, want)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := Targets(ctx, "file:"+dir+"/*.json"); err == nil || !strings.Contains(err.Error(), "there is none") {
		t.Error(err)
	}
	a, b := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.yaml")
	write(t, a, `[{"targets": ["10.0.0.1:80", "10.0.0.2:80"], "labels": {"role": "edge"}}, {"targets": []}]`)
	write(t, b, "- targets: ['10.0.0.3:80']\n  labels: {role: origin}\n")
	l, err := Targets(ctx, "file:"+b)
	if err != nil || !slices.Equal(addresses(l.Targets), []string{"10.0.0.3:80"}) || l.Targets[0].Labels["role"] != "origin" {
		t.Errorf("%v %v", l, err)
	}
	all, err := Follow(ctx, "file:"+dir+"/*.json")
	if err != nil {
		t.Fatal(err)
	}
	first := next(t, all)
	if !slices.Equal(addresses(first.Targets), []string{"10.0.0.1:80", "10.0.0.2:80"}) || !maps.Equal(first.Targets[0].Labels, map[string]string{"role": "edge", "__meta_filepath": a}) {
		t.Errorf("%+v", first)
	}
	write(t, a, `[{"targets": ["10.0.0.1:80", "10.0`) // torn
	torn := next(t, all)
	if !slices.Equal(addresses(torn.Targets), addresses(first.Targets)) || len(torn.Problems) != 1 || !strings.Contains(torn.Problems[0].Error(), "the 2 targets that it had before are kept") {
		t.Errorf("%+v", torn)
	}
	write(t, a, `[{"targets": ["10.0.0.9:80"]}]`)
	if u := next(t, all); !slices.Equal(addresses(u.Targets), []string{"10.0.0.9:80"}) || len(u.Problems) != 0 || u.Err != nil {
		t.Errorf("%+v", u)
	}
	cancel()
	for range all { // it is closed
	}
}

func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, says string }{
		"x.json":  {`{"targets": ["a"]}`, "no list of"},
		"x.yml":   {"- target: [a]", "field target not found"},
		"y.json":  {"[null]", "an empty group"},
		"z.json":  {`[{"targets": [""]}]`, "an empty target"},
		"zz.json": {"", "no list of"},
	} {
		path := filepath.Join(dir, name)
		write(t, path, c.text)
		if _, err := Targets(t.Context(), "file:"+path); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	write(t, filepath.Join(dir, "good.json"), `[{"targets": ["a:1"]}]`)
	if l, err := Targets(t.Context(), "file:"+dir+"/*.json"); err != nil || len(l.Targets) != 1 || len(l.Problems) != 4 {
		t.Errorf("%v %v", l, err)
	}
}
