package recorder

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/recording"
)

// A time that the ring has no more is read from the incident that covers most of it; one that no incident covers is an
// error as before.
func TestATimeThatOnlyAnIncidentHas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ring := Ring{dir}
	session(t, dir, second(3600), "ring")
	for id, start := range map[int]int{1: 100, 2: 140, 3: 1000} {
		if _, err := ring.nextIncident(); err != nil {
			t.Fatal(err)
		}
		folder := t.TempDir()
		session(t, folder, second(start), "incident")
		all, err := Ring{folder}.Pieces()
		if err == nil {
			err = os.MkdirAll(ring.folder(id), 0o700)
		}
		if err == nil {
			err = os.Rename(filepath.Join(folder, all[0].Name), ring.Recording(id))
		}
		if err == nil {
			err = ring.put(Incident{ID: id, Start: second(start + 25).Wall(), End: second(start + 60).Wall()})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct{ from, to, id, rows int }{
		"in the ring":       {3600, 3630, 0, 31},
		"in an incident":    {1010, 1030, 3, 21},
		"in two":            {135, 175, 2, 36},
		"part of it":        {90, 110, 1, 11},
		"before, by a hair": {85, 99, -1, 0},
		"between":           {500, 530, -1, 0},
	} {
		r, kept, err := ring.ReadKept(second(tt.from), second(tt.to))
		if tt.id < 0 {
			var outside *OutsideError
			if !errors.As(err, &outside) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || kept.ID != tt.id || len(r.Drops) != tt.rows {
			t.Errorf("%s: incident %d, %v, want %d", name, kept.ID, err, tt.id)
		}
		if tt.id == 3 {
			if got := kept.String(); !strings.HasPrefix(got, "the ring does not have this time any more; the recording of incident 3 is read, which has ") || !strings.HasSuffix(got, "12:16:40 UTC to 12:17:40 UTC") {
				t.Error(got)
			}
		}
	}
	// A ring of which nothing but incidents is left.
	if err := os.Remove(filepath.Join(dir, nameOf(second(3600), second(3660), time.Second))); err != nil {
		t.Fatal(err)
	}
	if _, kept, err := ring.ReadKept(second(1010), second(1030)); err != nil || kept.ID != 3 {
		t.Errorf("%+v, %v", kept, err)
	}
	var none *NoneError
	if _, _, err := ring.ReadKept(second(500), second(530)); !errors.As(err, &none) {
		t.Error(err)
	}
	if _, _, err := ring.ReadKept(recording.Time(0), second(-1e6)); err == nil {
		t.Error("a time long ago was found")
	}
}
