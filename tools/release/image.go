package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// The image is an OCI image layout in a tar (github.com/opencontainers/image-spec, image-layout.md, v1.1): podman load
// and docker load (from 25 on) read it, and skopeo copies it to a registry. It has one layer, and no shell.

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Platform    *platform         `json:"platform,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

const media = "application/vnd.oci.image."

// image writes the image of one architecture.
func (r *release) image(all []file, arch, to string) error {
	labels := map[string]string{
		"org.opencontainers.image.title":       "snag",
		"org.opencontainers.image.description": summary,
		"org.opencontainers.image.version":     r.Version,
		"org.opencontainers.image.revision":    r.Commit,
		"org.opencontainers.image.created":     r.Date.Format(time.RFC3339),
		"org.opencontainers.image.licenses":    "Apache-2.0",
	}
	layer := r.layer(all)
	var blobs []file
	blob := func(kind string, body []byte) descriptor {
		digest := sum(body)
		blobs = append(blobs, file{Path: "blobs/sha256/" + digest, Mode: 0o644, Body: body})
		return descriptor{MediaType: media + kind, Digest: "sha256:" + digest, Size: len(body)}
	}
	packed := blob("layer.v1.tar+gzip", zipped(layer))
	config := blob("config.v1+json", encoded(map[string]any{
		"created": r.Date.Format(time.RFC3339), "architecture": arch, "os": "linux",
		"config": map[string]any{
			"Entrypoint": []string{program}, "Cmd": []string{"--help"}, "Labels": labels, "WorkingDir": "/tmp",
			"Env": []string{"PATH=/usr/bin"},
			// A root file system that is read-only needs these two: snag writes nowhere else.
			"Volumes": map[string]any{"/tmp": struct{}{}, "/var/lib/snag": struct{}{}},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + sum(layer)}},
		"history": []any{map[string]any{"created": r.Date.Format(time.RFC3339), "created_by": "make release"}},
	}))
	manifest := blob("manifest.v1+json", encoded(map[string]any{
		"schemaVersion": 2, "mediaType": media + "manifest.v1+json", "config": config, "layers": []descriptor{packed}, "annotations": labels,
	}))
	manifest.Platform = &platform{arch, "linux"}
	manifest.Annotations = map[string]string{"org.opencontainers.image.ref.name": r.Version, "io.containerd.image.name": "localhost/snag:" + r.Version}
	slices.SortFunc(blobs, func(a, b file) int { return strings.Compare(a.Path, b.Path) })
	layout := append([]file{
		{Path: "oci-layout", Mode: 0o644, Body: encoded(map[string]string{"imageLayoutVersion": "1.0.0"})},
		{Path: "index.json", Mode: 0o644, Body: encoded(map[string]any{"schemaVersion": 2, "mediaType": media + "index.v1+json", "manifests": []descriptor{manifest}})},
	}, blobs...)
	return os.WriteFile(to, tarred(layout, r.Date), 0o644)
}

// layer has the program and the licences. Its folders are those that snag writes to.
func (r *release) layer(all []file) []byte {
	var kept []file
	for _, f := range all {
		if f.Path == program || f.Path == doc+"LICENSE" || f.Path == doc+"modules.txt.gz" {
			kept = append(kept, f)
		}
	}
	kept = append(kept, file{Path: "/tmp/", Mode: 0o777 | fs.ModeSticky}, file{Path: "/var/lib/snag/", Mode: 0o700})
	return tarred(kept, r.Date)
}

// tarred packs files with the folders above them, all of root and of one time. A path that ends in / is a folder.
func tarred(all []file, at time.Time) []byte {
	var to bytes.Buffer
	w := tar.NewWriter(&to)
	made := map[string]bool{".": true, "/": true}
	var folder func(dir string, mode fs.FileMode)
	head := func(kind byte, name string, mode fs.FileMode, size int) {
		h := &tar.Header{Typeflag: kind, Name: strings.TrimPrefix(name, "/"), Mode: int64(mode.Perm()), Size: int64(size), ModTime: at, Format: tar.FormatUSTAR}
		if mode&fs.ModeSticky != 0 {
			h.Mode |= 0o1000
		}
		_ = w.WriteHeader(h) // to memory
	}
	folder = func(dir string, mode fs.FileMode) {
		if made[dir] {
			return
		}
		made[dir] = true
		folder(path.Dir(dir), 0o755)
		head(tar.TypeDir, dir+"/", mode, 0)
	}
	for _, f := range all {
		if dir, ok := strings.CutSuffix(f.Path, "/"); ok {
			folder(dir, f.Mode)
			continue
		}
		folder(path.Dir(f.Path), 0o755)
		head(tar.TypeReg, f.Path, f.Mode, len(f.Body))
		_, _ = w.Write(f.Body)
	}
	_ = w.Close()
	return to.Bytes()
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// encoded has its keys sorted, as encoding/json sorts those of maps.
func encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of maps and texts
	}
	return b
}
