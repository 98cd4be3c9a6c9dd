package rtmp

import (
	"bytes"
	"strings"
	"testing"
)

// flvFile is one of tags as they are given.
func flvFile(tags ...Tag) []byte {
	b := []byte("FLV\x01\x05\x00\x00\x00\x09\x00\x00\x00\x00")
	for _, t := range tags {
		n := len(t.Body)
		b = append(b, t.Type, byte(n>>16), byte(n>>8), byte(n), byte(t.Stamp>>16), byte(t.Stamp>>8), byte(t.Stamp), byte(t.Stamp>>24), 0, 0, 0)
		b = append(b, t.Body...)
		n += tagHeader
		b = append(b, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return b
}

func TestReadFLV(t *testing.T) {
	tags := []Tag{{TypeDataAMF0, 0, []byte("meta")}, {TypeVideo, 0, []byte("\x17\x00config")}, {TypeVideo, 0x01020304, bytes.Repeat([]byte("v"), 70_000)}, {TypeAudio, 0x01020310, []byte("\xaf\x01a")}}
	file := flvFile(tags...)
	for cut, want := range map[int]int{0: 4, 4: 4, 5: 3, len("\xaf\x01a") + 4 + tagHeader: 3} {
		got, err := ReadFLV(file[:len(file)-cut])
		if err != nil || len(got) != want {
			t.Errorf("%d bytes cut off: %d tags, want %d, %v", cut, len(got), want, err)
			continue
		}
		for i, g := range got {
			if g.Type != tags[i].Type || g.Stamp != tags[i].Stamp || !bytes.Equal(g.Body, tags[i].Body) {
				t.Errorf("tag %d: type %d at %d, %d bytes", i, g.Type, g.Stamp, len(g.Body))
			}
		}
	}
	for want, b := range map[string][]byte{
		"not an FLV file": []byte("RIFF....WAVE"), "neither audio nor video": flvFile(Tag{TypeDataAMF0, 0, []byte("meta")}),
		"is encrypted": flvFile(Tag{TypeVideo | 0x20, 0, []byte("x")}), "says that it is 4294967295 bytes long": []byte("FLV\x01\x05\xff\xff\xff\xff"),
	} {
		if _, err := ReadFLV(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestFramesAndConfigurations(t *testing.T) {
	for _, c := range []struct {
		kind  uint8
		head  string
		frame bool
	}{
		{TypeVideo, "\x17\x01\x00\x00\x00p", true}, {TypeVideo, "\x27\x01\x00\x00\x00p", true}, {TypeVideo, "\x17\x00\x00\x00\x00c", false}, {TypeVideo, "\x17\x02\x00\x00\x00", false},
		{TypeVideo, "\x57\x00", false}, {TypeVideo, "\x12p", true}, {TypeVideo, "\x90hvc1c", false}, {TypeVideo, "\xa1hvc1\x00\x00\x00p", true}, {TypeVideo, "\x93av01p", true},
		{TypeVideo, "\x92hvc1", false}, {TypeVideo, "\x97\x02\x00\xf4\x24\x03hvc1p", true}, {TypeVideo, "\x97\x02\x00\xf4\x24\x00hvc1c", false}, {TypeVideo, "\x97\xff", false}, {TypeVideo, "\x96\x01hvc1\x00p", true},
		{TypeAudio, "\xaf\x01a", true}, {TypeAudio, "\xaf\x00c", false}, {TypeAudio, "\x2fa", true}, {TypeAudio, "\x90Opusc", false}, {TypeAudio, "\x91Opusa", true}, {TypeAudio, "", false},
		{TypeDataAMF0, "\x02\x00", false},
	} {
		m := Message{Header: Header{Type: c.kind, Length: uint32(len(c.head))}, Head: []byte(c.head)}
		if got := m.Picture() || m.Sound(); got != c.frame {
			t.Errorf("type %d, %q: a frame: %v", c.kind, c.head, got)
		}
	}
}

func FuzzReadFLV(f *testing.F) {
	f.Add(flvFile(Tag{TypeVideo, 40, []byte("\x17\x01\x00\x00\x00p")}))
	f.Add([]byte("FLV\x01\x05\x00\x00\x00\x09\x00\x00\x00\x00\x09\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		tags, err := ReadFLV(b)
		if err != nil {
			return
		}
		sum := 0
		for _, tag := range tags {
			sum += len(tag.Body) + tagHeader
			m := Message{Header: Header{Type: tag.Type, Length: uint32(len(tag.Body))}, Head: tag.Body}
			m.Picture()
			m.Sound()
		}
		if sum > len(b) {
			t.Fatalf("%d bytes of tags in %d", sum, len(b))
		}
	})
}
