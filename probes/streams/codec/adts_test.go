package codec

import (
	"encoding/hex"
	"testing"
)

func TestADTSOf(t *testing.T) {
	for name, c := range map[string]struct {
		config, want string // want: the header of a frame of 300 bytes
		rate         int
		channels     int
	}{
		"LC, 44.1 kHz, stereo":                 {"1210", "fff15080267ffc", 44100, 2},
		"LC, 48 kHz, mono":                     {"1188", "fff14c40267ffc", 48000, 1},
		"HE-AAC told before, of a 24 kHz core": {"2b118800", "fff15880267ffc", 24000, 2},
		"a rate as a number, of the table":     {"17805dc010", "fff14c80267ffc", 48000, 2},
	} {
		b, err := hex.DecodeString(c.config)
		if err != nil {
			t.Fatal(err)
		}
		f, err := ADTSOf(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		head, ok := f.Header(300)
		if got := hex.EncodeToString(head[:]); !ok || got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if h, err := ADTS(head[:]); err != nil || h.Size != 307 || h.Head != 7 || h.Samples != 1024 || h.SampleRate != c.rate || h.Channels != c.channels {
			t.Errorf("%s: read as %+v, %v", name, h, err)
		}
		if _, ok := f.Header(mostADTS - 6); ok {
			t.Errorf("%s: a frame that is too large has a header", name)
		}
		if _, ok := f.Header(0); ok {
			t.Errorf("%s: no frame has a header", name)
		}
	}
	for name, config := range map[string]string{"nothing": "", "one byte": "12", "channels in a program config": "1200", "ER AAC LD": "b98c00", "frames of 960": "1214", "another rate": "1780002808"} {
		b, _ := hex.DecodeString(config)
		if f, err := ADTSOf(b); err == nil {
			t.Errorf("%s: %+v", name, f)
		}
	}
	var none Framed
	if _, ok := none.Header(300); ok {
		t.Error("without a configuration there is a header")
	}
}
