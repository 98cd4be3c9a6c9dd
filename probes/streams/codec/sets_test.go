package codec

import (
	"bytes"
	"testing"
)

func TestSets(t *testing.T) {
	avc := []byte{1, 100, 0, 31, 0xff, 0xe1, 0, 3, 0x67, 1, 2, 1, 0, 2, 0x68, 9}
	hevc := append(make([]byte, 21), 3, 2, 32, 0, 1, 0, 2, 0x40, 1, 33, 0, 1, 0, 3, 0x42, 1, 7)
	for name, c := range map[string]struct {
		codec  string
		b      []byte
		want   []byte
		length int
	}{
		"avcC":               {H264, avc, []byte{0, 0, 0, 1, 0x67, 1, 2, 0, 0, 0, 1, 0x68, 9}, 4},
		"avcC without a set": {H264, []byte{1, 100, 0, 31, 0xfd, 0xe0, 0}, nil, 2},
		"hvcC":               {HEVC, hevc, []byte{0, 0, 0, 1, 0x40, 1, 0, 0, 0, 1, 0x42, 1, 7}, 4},
	} {
		got, length, err := Sets(c.codec, c.b)
		if err != nil || length != c.length || !bytes.Equal(got, c.want) {
			t.Errorf("%s: % x, %d, %v", name, got, length, err)
		}
		for n := range c.b { // whatever is cut off, it ends
			if got, _, err := Sets(c.codec, c.b[:n]); err == nil && len(got) > len(c.want) {
				t.Errorf("%s, %d bytes: % x", name, n, got)
			}
		}
	}
	if _, _, err := Sets(AV1, avc); err == nil {
		t.Error("AV1 has none")
	}
}

func TestByteStream(t *testing.T) {
	sets := []byte{0, 0, 0, 1, 0x67}
	if got := ByteStream(sets, []byte{0, 2, 0x65, 1, 0, 1, 0x65}, 2); !bytes.Equal(got, []byte{0, 0, 0, 1, 0x67, 0, 0, 0, 1, 0x65, 1, 0, 0, 0, 1, 0x65}) {
		t.Errorf("% x", got)
	}
	for _, b := range [][]byte{{0, 9, 0x65}, {0}, {0, 2, 0x65, 1, 0, 9, 1}} {
		if got := ByteStream(sets, b, 2); got != nil {
			t.Errorf("a length beyond the end: % x", got)
		}
	}
}
