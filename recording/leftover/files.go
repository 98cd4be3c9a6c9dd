package leftover

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

// The files of a recording (package recording) and of a ring (package recorder).
const (
	lockFile     = "writer.lock" // held with flock while a recording is written
	manifestFile = "manifest.json"
	packedSuffix = ".snag"
	ringLock     = "recorder.lock"
	mostManifest = 1 << 20 // bytes
)

// nested are the names of folders that hold recordings in folders of their own: of snag syscalls and snag watch.
var nested = regexp.MustCompile(`^snag-(syscalls|watch-host)-`)

// unfinished are packed recordings whose writer was killed (private.Put).
var unfinished = regexp.MustCompile(`^\.[\w-]+\.snag\.[A-Z2-7]{26}$`)

// folders of a recording. What is in them is not judged by its name: versions differ.
var folders = map[string]bool{"samples": true, "tables": true, "profiles": true}

// wrote reports whether snag writes a file or folder of this path into such a leftover.
func wrote(at string, folder, nested bool) bool {
	if at == "." {
		return folder
	}
	parts := strings.Split(at, "/")
	if nested && (folder || len(parts) > 1) {
		if parts = parts[1:]; len(parts) == 0 {
			return true
		}
	}
	if folders[parts[0]] {
		return folder || len(parts) > 1
	}
	if folder || len(parts) > 1 {
		return false
	}
	name := parts[0]
	return name == manifestFile || name == manifestFile+".tmp" || name == lockFile || strings.HasSuffix(name, packedSuffix) || unfinished.MatchString(name)
}

func head(root *os.Root, at string, most int64) ([]byte, error) {
	f, err := root.OpenFile(at, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// zstdMagic begins a packed recording (RFC 8878, 3.1.1).
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

func (x *found) packed(root *os.Root, at string) error {
	b, err := head(root, at, int64(len(zstdMagic)))
	if err == nil && !bytes.Equal(b, zstdMagic) {
		x.stay("%s is not a packed recording", at)
	}
	return err
}

func (x *found) manifest(root *os.Root, at string) error {
	b, err := head(root, at, mostManifest)
	if err != nil {
		return err
	}
	var m struct {
		Version int             `json:"version"`
		Anchor  json.RawMessage `json:"anchor"`
	}
	if json.Unmarshal(b, &m) != nil || m.Version < 1 || m.Anchor == nil {
		x.stay("%s is not of a recording", at)
	}
	return nil
}
