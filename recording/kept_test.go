package recording

import (
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
)

// What was kept is what would be read: rows of one source, of several, and of more than
// fits, with names that are no UTF-8.
func TestKeptIsWhatIsRead(t *testing.T) {
	for _, c := range []struct {
		name    string
		rows    int
		sources int
		kept    bool
	}{{"one source", 300, 1, true}, {"two sources", 300, 2, false}, {"too many", 40_000, 1, false}} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "r")
			k := &Kept{}
			w, err := Create(dir, Manifest{Start: 1, Files: []File{{Name: "f"}}}, Options{Files: true, Wait: true, Keep: k})
			if err != nil {
				t.Fatal(err)
			}
			long := fmt.Sprintf("%0150d", 7)
			for i := range c.rows {
				done, fd := uint64(i), i%7
				part := w.Part(1 + i%c.sources)
				part.Append(Call{T: Time(1e9 - int64(i%5)), PID: i, Comm: "a\xffb" + long[:i%3], Call: long, FD: fd, N: 3, Errors: map[string]uint64{"EAGAIN": 2}, Done: &done, Sum: float64(i) / 3, Hist: []uint64{0, 1, uint64(i)}})
				part.Append(OffCPU{T: Time(i), PID: i, Comm: "x", Reason: WaitFutex, FD: &fd, N: 1, Sum: 0.1})
				part.Append(FD{T: Time(i), PID: i, FD: fd, Kind: "file", Name: "<&>\u2028"})
				part.Append(Thread{T: Time(i), PID: i, FD: -1})
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			want, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(want.Calls) != c.rows || len(want.Damage) > 0 {
				t.Fatalf("%d calls, %v", len(want.Calls), want.Damage)
			}
			if (len(k.rows.Calls) > 0) != c.kept {
				t.Errorf("%d calls were kept", len(k.rows.Calls))
			}
			got, err := OpenKept(dir, k)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Error("the rows differ")
			}
		})
	}
}
