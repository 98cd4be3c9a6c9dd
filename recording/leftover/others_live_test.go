package leftover

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestOthersFilesStay(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give files away")
	}
	dir := t.TempDir()
	at := folder(t, dir, name1, files{"manifest.json": manifest})
	if err := os.Chown(filepath.Join(at, "manifest.json"), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if l := only(t, dir, time.Now()); l.Stays != "manifest.json belongs to another user" {
		t.Errorf("%q", l.Stays)
	}
	if err := os.Chown(at, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	l := only(t, dir, time.Now().Add(time.Hour))
	if l.Stays != "it belongs to another user" || l.Age < 59*time.Minute || l.Age > 2*time.Hour {
		t.Errorf("%+v", l)
	}
	if err := Remove(l); err == nil {
		t.Error("another user's folder was removed")
	}
}
