package procroot

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// own maps a file of its own and returns its line of /proc/self/maps.
func own(t *testing.T) (Mapping, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a file")
	if err := os.WriteFile(path, []byte("what is mapped"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(b) })
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	defer maps.Close()
	for s := bufio.NewScanner(maps); s.Scan(); {
		if !strings.HasSuffix(s.Text(), path) {
			continue
		}
		m := Mapping{Path: path}
		if _, err := fmt.Sscanf(s.Text(), "%x-%x r--p 00000000 %s %d", &m.Start, &m.End, &m.Device, &m.Inode); err != nil {
			t.Fatalf("%s: %v", s.Text(), err)
		}
		return m, path
	}
	t.Fatal("the mapping is not in /proc/self/maps")
	return Mapping{}, ""
}

func content(t *testing.T, f *os.File, info os.FileInfo, err error) string {
	t.Helper()
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil || info.Size() != int64(len(b)) {
		t.Errorf("%d bytes of %d: %v", len(b), info.Size(), err)
	}
	return string(b)
}

func TestMappedFileIsFound(t *testing.T) {
	m, path := own(t)
	pid := os.Getpid()
	if f, info, err := inRoot("/proc", pid, m, true); content(t, f, info, err) != "what is mapped" {
		t.Errorf("by its path and device %s: %v", m.Device, err)
	}
	if f, info, err := Mapped("/proc", pid, m); content(t, f, info, err) != "what is mapped" {
		t.Errorf("as it lies there: %v", err)
	}
	other := m
	other.Device = "ff:ff" // as overlayfs shows it
	if f, info, err := Mapped("/proc", pid, other); content(t, f, info, err) != "what is mapped" {
		t.Errorf("of another device: %v", err)
	}
	// Another file at its path is not taken for it.
	if err := os.Rename(path, path+"~"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, info, err := Mapped("/proc", pid, m)
	if got := content(t, f, info, err); got == "another" || os.Getuid() == 0 && got != "what is mapped" {
		t.Errorf("replaced: %q", got)
	}
	if err := os.Remove(path + "~"); err != nil {
		t.Fatal(err)
	}
	m.Deleted = true
	f, info, err = Mapped("/proc", pid, m)
	if got := content(t, f, info, err); got == "another" || os.Getuid() == 0 && got != "what is mapped" {
		t.Errorf("deleted: %q", got)
	}
}

func TestProgramIsFoundByExe(t *testing.T) {
	info, err := os.Stat("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	// In no file system that can be seen, and at no address.
	m := Mapping{Start: 4096, End: 8192, Inode: info.Sys().(*syscall.Stat_t).Ino, Path: "/nonexistent"}
	f, _, err := Mapped("/proc", os.Getpid(), m)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	m.Inode++
	if _, _, err := Mapped("/proc", os.Getpid(), m); err == nil {
		t.Error("another program than what is mapped was opened")
	}
	if _, _, err := Mapped("/proc/"+strconv.Itoa(1<<30), 1, m); err == nil {
		t.Error("a file of nobody was opened")
	}
}

func TestNoDeviceIsOpened(t *testing.T) {
	info, err := os.Stat("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	m := Mapping{Start: 4096, End: 8192, Inode: info.Sys().(*syscall.Stat_t).Ino, Path: "/dev/null"}
	if _, _, err := Mapped("/proc", os.Getpid(), m); err == nil {
		t.Error("a device was opened for a file")
	}
}
