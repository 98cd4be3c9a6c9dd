package lab

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestPack(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"manifest.json": "{}", "tables/drops.jsonl": "row\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := t.TempDir()
	var packed [2][]byte
	for i := range packed {
		path := filepath.Join(out, "sub", "x.tar.gz")
		if err := Pack(dir, path); err != nil {
			t.Fatal(err)
		}
		packed[i], _ = os.ReadFile(path)
	}
	if !bytes.Equal(packed[0], packed[1]) {
		t.Error("the same folder packed twice differs")
	}
	z, err := gzip.NewReader(bytes.NewReader(packed[0]))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
	if want := []string{"manifest.json", "tables/", "tables/drops.jsonl"}; !slices.Equal(names, want) {
		t.Errorf("packed %v, want %v", names, want)
	}
	if err := Pack(filepath.Join(dir, "none"), filepath.Join(out, "y.tar.gz")); err == nil {
		t.Error("packing a folder that is not there gave no error")
	}
}
