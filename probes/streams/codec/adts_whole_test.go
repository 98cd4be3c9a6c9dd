package codec

import (
	"bytes"
	"os/exec"
	"testing"
)

// Of a byte stream that is cut anywhere the whole frames are given.
func TestWholeADTS(t *testing.T) {
	b, err := exec.Command("ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "sine=r=48000", "-t", "0.2", "-c:a", "aac", "-f", "adts", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	starts := []int{0}
	for at := 0; at < len(b); {
		h, err := ADTS(b[at:])
		if err != nil {
			t.Fatal(err)
		}
		at += h.Size
		starts = append(starts, at)
	}
	for cut := range starts[2] {
		from := 0
		for starts[from] < cut {
			from++
		}
		for _, less := range []int{0, 1, 60} {
			to := len(starts) - 1
			for starts[to] > len(b)-less {
				to--
			}
			if got := WholeADTS(b[cut : len(b)-less]); !bytes.Equal(got, b[starts[from]:starts[to]]) {
				t.Fatalf("from %d, without the last %d: %d bytes, want %d", cut, less, len(got), starts[to]-starts[from])
			}
		}
	}
	for _, no := range [][]byte{nil, []byte("what is this?"), b[:starts[1]-1], b[1:starts[1]]} {
		if got := WholeADTS(no); len(got) > 0 {
			t.Errorf("%d bytes of %d", len(got), len(no))
		}
	}
}
