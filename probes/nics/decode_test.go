package nics

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"snag/internal/nicstats"
	"snag/recording"
)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The fixtures are what a virtio card of kernel 6.18 answered.
func TestDecodesWhatTheKernelAnswers(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the fixtures are little-endian")
	}
	var n recording.NIC
	for file, fill := range map[string]func(answer, *recording.NIC){
		"rings.bin": answer.rings, "channels.bin": answer.channels, "coalesce.bin": answer.coalesce, "linkmodes.bin": answer.link,
		"features.bin": func(a answer, n *recording.NIC) {
			if err := a.features(n); err != nil {
				t.Error(err)
			}
		},
	} {
		a, err := decodeAnswer(fixture(t, file))
		if err != nil || a.device != "eth0" {
			t.Fatalf("%s: device %q, %v", file, a.device, err)
		}
		fill(a, &n)
	}
	is := func(what string, got *int, want int) {
		t.Helper()
		if got == nil || *got != want {
			t.Errorf("%s is %v, want %d", what, got, want)
		}
	}
	is("rx ring", n.Rings.Rx, 256)
	is("greatest rx ring", n.Rings.RxMax, 256)
	is("combined", n.Channels.Combined, 1)
	is("rx-usecs", n.Coalesce.RxUsecs, 0)
	is("rx-frames", n.Coalesce.RxFrames, 1)
	if n.Channels.Rx != nil || n.Coalesce.AdaptiveTx != nil || n.Speed != nil || n.Duplex != "" {
		t.Errorf("what the driver does not have is there: %+v %+v speed %v duplex %q", n.Channels, n.Coalesce, n.Speed, n.Duplex)
	}
	if on, known := n.Features["rx-gro"]; !on || !known {
		t.Errorf("rx-gro is on: %v", n.Features)
	}
	if on, known := n.Features["rx-ntuple-filter"]; on || !known {
		t.Errorf("rx-ntuple-filter is known and off: %v", n.Features)
	}
}

func TestAnAnswerWithoutADeviceIsAnError(t *testing.T) {
	for _, data := range [][]byte{nil, {1}, {8, 0, 2, 0, 1, 0, 0, 0}, {255, 255, 1, 0}} {
		if a, err := decodeAnswer(data); err == nil {
			t.Errorf("%v was read as %+v", data, a)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	for _, name := range []string{"rings.bin", "features.bin", "coalesce.bin"} {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := decodeAnswer(data)
		if err != nil {
			return
		}
		var n recording.NIC
		a.rings(&n)
		a.channels(&n)
		a.coalesce(&n)
		a.link(&n)
		if err := a.features(&n); err == nil && len(n.Features) > len(interesting) {
			t.Errorf("%d features", len(n.Features))
		}
		if a.device == "" {
			t.Error("no device and no error")
		}
	})
}

func FuzzNames(f *testing.F) {
	f.Add(append([]byte{0x1b, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, make([]byte, 32)...), 1)
	f.Add([]byte{1, 2, 3}, 9)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		names := decodeNames(data, n)
		if len(names)*nameSize > len(data) {
			t.Errorf("%d names in %d bytes", len(names), len(data))
		}
		if picks, _ := nicstats.Choose(names); len(picks) > nicstats.MostTelling+nicstats.MostQueues {
			t.Errorf("%d statistics were picked", len(picks))
		}
	})
}
