package rtmp

import "testing"

// always wants all that may be kept, which is mostKey bytes here.
type always struct{}

func (always) Wanted() bool { return true }

const mostKey = 4 << 20

// video is a message of video on a chunk stream.
func video(chunk byte, body []byte) []byte { return message(chunk, TypeVideo, body) }

// message is one on a chunk stream, in chunks of 128 bytes.
func message(chunk, kind byte, body []byte) (out []byte) {
	n := len(body)
	out = append(out, chunk, 0, 0, 40, byte(n>>16), byte(n>>8), byte(n), kind, 1, 0, 0, 0)
	for i := 0; i < n; i += FirstChunkSize {
		if i > 0 {
			out = append(out, 0xc0|chunk)
		}
		out = append(out, body[i:min(n, i+FirstChunkSize)]...)
	}
	return out
}

// Many messages that are begun and not ended hold one picture, and one that says to be larger than
// may be is not kept.
func TestKeyPicturesAreBounded(t *testing.T) {
	p := NewParser()
	p.Keys = Wanting{always{}, mostKey}
	for chunk := byte(3); chunk < 60; chunk++ {
		b := video(chunk, append([]byte{0x17, 1}, make([]byte, 5000)...))
		if _, _, err := p.Next(b[:12+FirstChunkSize]); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	for i := range p.streams {
		if p.streams[i].whole != nil {
			kept++
		}
	}
	if kept != 1 {
		t.Errorf("%d pictures are kept at once", kept)
	}
	p = NewParser()
	p.Keys = Wanting{always{}, mostKey}
	b := video(6, make([]byte, 300))
	n := mostKey + 1
	b[4], b[5], b[6], b[12] = byte(n>>16), byte(n>>8), byte(n&0xff), 0x17
	if _, _, err := p.Next(b); err != nil || p.streams[0].whole != nil {
		t.Errorf("a picture of %d bytes is kept: %v", n, err)
	}
}
