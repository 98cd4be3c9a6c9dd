package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func aRelease() *release {
	return &release{Version: "1.2.0-rc1", Commit: strings.Repeat("ab", 20), Date: time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC), Root: "../.."}
}

func someFiles() []file {
	return []file{
		{Path: program, Mode: 0o755, Body: []byte("program")},
		{Path: doc + "LICENSE", Mode: 0o644, Body: []byte("licence"), Only: "rpm"},
		{Path: doc + "modules.txt.gz", Mode: 0o644, Body: zipped([]byte("modules"))},
		{Path: "/usr/share/man/man1/snag.1.gz", Mode: 0o644, Body: zipped([]byte("page"))},
	}
}

func TestVersion(t *testing.T) {
	for v, want := range map[string]bool{"1.2.0": true, "1.2.0-rc1": true, "10.0.3-beta2": true, "": false, "v1.2.0": false, "1.2": false, "72dcf584": false, "1.2.0-dirty": false, "1.2.0\n": false} {
		if version.MatchString(v) != want {
			t.Errorf("%q: %v", v, !want)
		}
	}
	if got := debVersion("1.2.0-rc1"); got != "1.2.0~rc1" {
		t.Errorf("Debian's version is %s", got)
	}
}

// The units of the packages are those of the tree, but for the program's folder.
func TestPackagedUnit(t *testing.T) {
	for _, name := range units {
		b, err := os.ReadFile("../../packaging/" + name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := packagedUnit(string(b))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got, "\nExecStart=/usr/bin/snag ") || strings.Contains(got, "/usr/local") {
			t.Errorf("%s is\n%s", name, got)
		}
		if strings.ReplaceAll(got, "ExecStart=/usr/bin/", "ExecStart=/usr/local/bin/") != string(b) {
			t.Errorf("%s differs in more than the program's folder", name)
		}
	}
	if _, err := packagedUnit("[Service]\nExecStart=/opt/snag record\n"); err == nil {
		t.Error("a unit with another program was taken")
	}
}

// The dashboards and the alerts are in packages as they are in the tree, and not their tests.
func TestMonitoring(t *testing.T) {
	files, err := aRelease().monitoring()
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
		b, err := os.ReadFile("../../packaging/" + strings.TrimPrefix(f.Path, shared))
		if err != nil || !bytes.Equal(b, f.Body) || f.Mode != 0o644 {
			t.Errorf("%s: mode %o, %v", f.Path, f.Mode, err)
		}
	}
	want := []string{"/usr/share/snag/grafana/fleet.json", "/usr/share/snag/grafana/host.json", "/usr/share/snag/grafana/streams.json", "/usr/share/snag/prometheus/snag.rules.yml"}
	if !reflect.DeepEqual(paths, want) {
		t.Errorf("%q", paths)
	}
	if _, err := (&release{Root: t.TempDir()}).monitoring(); err == nil {
		t.Error("a tree without dashboards has some")
	}
}

// Packages and images of the same files have the same bytes, wherever they are made.
func TestSameBytes(t *testing.T) {
	r := aRelease()
	var made [2]map[string]string
	for i := range made {
		out := t.TempDir()
		if err := r.packages(someFiles(), "arm64", out, t.TempDir()); err != nil {
			t.Fatal(err)
		}
		if err := r.image(someFiles(), "arm64", filepath.Join(out, "image.oci.tar")); err != nil {
			t.Fatal(err)
		}
		if err := sums(out); err != nil {
			t.Fatal(err)
		}
		made[i] = map[string]string{}
		files, err := os.ReadDir(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(filepath.Join(out, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			made[i][f.Name()] = string(b)
		}
		time.Sleep(1100 * time.Millisecond) // a time of now would differ
	}
	for _, name := range []string{"snag_1.2.0~rc1_arm64.deb", "snag-1.2.0~rc1-1.aarch64.rpm", "image.oci.tar", sumsFile} {
		if made[0][name] == "" {
			t.Errorf("%s was not made", name)
		}
		if made[0][name] != made[1][name] {
			t.Errorf("%s differs", name)
		}
	}
	if n := strings.Count(made[0][sumsFile], "\n"); n != 3 {
		t.Errorf("%d checksums:\n%s", n, made[0][sumsFile])
	}
}

// What names a blob is its checksum, and the folders that snag writes to are in the layer.
func TestImage(t *testing.T) {
	to := filepath.Join(t.TempDir(), "image")
	r := aRelease()
	if err := r.image(someFiles(), "amd64", to); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	in := untarred(t, b)
	for name, body := range in {
		if digest, ok := strings.CutPrefix(name, "blobs/sha256/"); ok && digest != "" && sum([]byte(body)) != digest {
			t.Errorf("%s: its checksum is %s", name, sum([]byte(body)))
		}
	}
	var index struct{ Manifests []descriptor }
	if err := json.Unmarshal([]byte(in["index.json"]), &index); err != nil || len(index.Manifests) != 1 {
		t.Fatalf("index.json: %v\n%s", err, in["index.json"])
	}
	if _, ok := in["blobs/sha256/"+strings.TrimPrefix(index.Manifests[0].Digest, "sha256:")]; !ok {
		t.Error("the manifest is missing")
	}
	layer := untarred(t, r.layer(someFiles()))
	for _, name := range []string{"usr/", "usr/bin/", "usr/bin/snag", "tmp/", "var/lib/snag/", "usr/share/doc/snag/LICENSE"} {
		if _, ok := layer[name]; !ok {
			t.Errorf("the layer lacks %s", name)
		}
	}
	if _, ok := layer["usr/share/man/man1/snag.1.gz"]; ok {
		t.Error("the layer has a manual, which nobody can read there")
	}
}

func untarred(t *testing.T, b []byte) map[string]string {
	t.Helper()
	in := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(b)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return in
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || !h.ModTime.Equal(aRelease().Date) {
			t.Errorf("%s is of user %d and %s", h.Name, h.Uid, h.ModTime)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		in[h.Name] = string(body)
	}
}

func TestClassify(t *testing.T) {
	const (
		mit    = "Permission is hereby granted, free of charge, to any person\nobtaining a copy of this software"
		apache = "  Apache License\n  Version 2.0, January 2004"
		two    = "2. Redistributions in binary form must reproduce the above copyright\n notice"
		three  = two + "\n used to endorse or promote products\n   derived from this software; none may be used to endorse or promote products derived from this software"
	)
	for _, c := range []struct {
		want  string
		texts []string
	}{
		{"MIT", []string{mit}},
		{"Apache-2.0", []string{apache, "Copyright of somebody"}},
		{"BSD-2-Clause", []string{two}},
		{"BSD-3-Clause", []string{three}},
		{"Apache-2.0 AND MIT", []string{mit + "\n" + apache}},
		{"", []string{"all rights reserved"}},
	} {
		if got := classify(c.texts); got != c.want {
			t.Errorf("%q: %q, want %q", c.texts, got, c.want)
		}
	}
}

func TestLicences(t *testing.T) {
	modules := []module{{Path: "a", Version: "v1", Licence: "MIT", Texts: []string{"same"}}, {Path: "b", Version: "v2", Texts: []string{"same", "own"}}}
	all := texts(modules)
	if strings.Count(all, "same\n") != 1 || !strings.Contains(all, "a v1\nb v2\n\nsame\n") || !strings.Contains(all, "b v2\n\nown\n") {
		t.Errorf("the texts are\n%s", all)
	}
	if got := copyright(modules, 2026); !strings.Contains(got, " a v1: MIT\n b v2: see there\n") || !strings.Contains(got, "Copyright: 2026 ") {
		t.Errorf("the copyright is\n%s", got)
	}
	if _, err := licenceTexts(t.TempDir()); err == nil {
		t.Error("a module without a licence was taken")
	}
}

func TestSBOM(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/snag", []byte("program"), 0o600); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Packages []struct {
			SPDXID, Name, VersionInfo, LicenseConcluded string
			Checksums                                   []spdxSum
		}
		Relationships []spdxRelation
	}
	b := aRelease().sbom(dir+"/snag", "amd64", []module{{Path: "github.com/a_b/c", Version: "v1", Licence: "MIT"}, {Path: "d", Version: "v2"}})
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range got.Packages {
		all = append(all, strings.Join([]string{p.SPDXID, p.Name, p.VersionInfo, p.LicenseConcluded}, " "))
	}
	want := []string{"SPDXRef-snag snag 1.2.0-rc1 Apache-2.0", "SPDXRef-github.com-a-b-c github.com/a_b/c v1 MIT", "SPDXRef-d d v2 NOASSERTION"}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("it lists %q", all)
	}
	if len(got.Relationships) != 3 || got.Relationships[1] != (spdxRelation{"SPDXRef-snag", "STATIC_LINK", "SPDXRef-github.com-a-b-c"}) {
		t.Errorf("relations: %v", got.Relationships)
	}
	if c := got.Packages[0].Checksums; len(c) != 1 || c[0].Value != sum([]byte("program")) {
		t.Errorf("checksums of snag: %v", c)
	}
}

// A folder that has something else in it is left as it is.
func TestClear(t *testing.T) {
	dir := t.TempDir()
	put := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("snag-1.0.0-linux-amd64")
	put(sumsFile)
	if err := empty(dir); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
	put("snag_1.0.0_amd64.deb")
	put("thesis.tex")
	if err := empty(dir); err == nil || !strings.Contains(err.Error(), "thesis.tex") {
		t.Errorf("a folder with a file of somebody: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("only %v is left", left)
	}
}
