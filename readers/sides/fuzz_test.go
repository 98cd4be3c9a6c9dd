package sides

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"snag/recording"
)

// FuzzJoin holds two files of any bytes against each other: it neither fails nor
// gives figures that can't be.
func FuzzJoin(f *testing.F) {
	w := opened()
	w.request("GET / HTTP/1.1\r\n\r\n")
	w.now += 5
	w.answer("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
	w.now += 300
	w.answer("rest")
	f.Add(w.taken[0], w.taken[1])
	f.Add(w.taken[0], w.taken[1][60:])
	f.Add([]byte{}, w.taken[0])
	f.Fuzz(func(t *testing.T, a, b []byte) {
		dir := t.TempDir()
		var paths [2]string
		for i, packets := range [][]byte{a, b} {
			paths[i] = filepath.Join(dir, string(rune('a'+i)))
			if err := os.WriteFile(paths[i], append(captureHead(), packets...), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var got rows
		res, err := Join(context.Background(), paths, &got)
		if err != nil {
			t.Fatal(err)
		}
		told(paths, res)
		for _, r := range got.Requests {
			for _, v := range []float64{r.Wait, r.AtServer, r.Network, r.Upload, r.Download, r.Stood, r.Paused, r.Bound} {
				if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%+v", r)
				}
			}
			if r.AtServer > r.Wait || r.Out != nil && (*r.Out < 0 || *r.Back < 0) {
				t.Fatalf("%+v", r)
			}
		}
		var _ recording.Sink = &got
	})
}
