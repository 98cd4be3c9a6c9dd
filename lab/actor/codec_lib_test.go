package actor

import (
	"debug/elf"
	"path/filepath"
	"testing"
	"time"
)

func TestCodecLibrary(t *testing.T) {
	dir := t.TempDir()
	good, slow := filepath.Join(dir, "good.so"), filepath.Join(dir, "slow.so")
	if err := WriteCodecLibrary(good, "1.0", time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := WriteCodecLibrary(slow, "1.0 generic", 7*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, path := range []string{good, slow} {
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		note := make([]byte, noteSize)
		if _, err := f.Progs[0].ReadAt(note, 0); err != nil || f.Progs[0].Type != elf.PT_NOTE {
			t.Fatalf("no note: %v", err)
		}
		ids = append(ids, string(note[16:]))
	}
	if ids[0] == ids[1] {
		t.Error("two builds have one build id")
	}
	if work, err := loadCodecLibrary(slow); err != nil || work != 7*time.Millisecond {
		t.Errorf("a request costs %v, %v", work, err)
	}
	if _, err := loadCodecLibrary(filepath.Join(dir, "none")); err == nil {
		t.Error("a library that is not there was loaded")
	}
}
