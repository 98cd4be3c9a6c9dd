package rtmp

import (
	"errors"
	"fmt"
)

// Tag is a tag of an FLV file, which is a message of RTMP (FLV 10.1, E.4.1).
type Tag struct {
	Type  uint8
	Stamp uint32 // ms
	Body  []byte
}

// Sizes of an FLV file's parts (E.2 and E.3).
const (
	flvHeader = 9
	tagHeader = 11
	backPoint = 4 // the length of the tag before
)

// ReadFLV splits an FLV file into its audio, video and data, in their order. Their bodies lie in b. A file that
// was cut off has the tags before its end.
func ReadFLV(b []byte) (out []Tag, err error) {
	if len(b) < flvHeader || string(b[:3]) != "FLV" {
		return nil, errors.New("not an FLV file")
	}
	head := int(b[5])<<24 | int(b[6])<<16 | int(b[7])<<8 | int(b[8])
	if head < flvHeader || head > len(b) {
		return nil, fmt.Errorf("the FLV header says that it is %d bytes long", head)
	}
	media := false
	for b = b[head:]; len(b) >= backPoint+tagHeader; {
		b = b[backPoint:]
		size := int(uint24(b[1:]))
		if len(b) < tagHeader+size {
			break
		}
		t := Tag{Type: b[0] & 0x1f, Stamp: uint24(b[4:]) | uint32(b[7])<<24, Body: b[tagHeader : tagHeader+size]}
		if b[0]&0x20 != 0 {
			return nil, errors.New("the FLV file is encrypted")
		}
		if b = b[tagHeader+size:]; size == 0 {
			continue
		}
		switch t.Type {
		case TypeAudio, TypeVideo:
			media = true
			out = append(out, t)
		case TypeDataAMF0:
			out = append(out, t)
		}
	}
	if !media {
		return nil, errors.New("the FLV file has neither audio nor video")
	}
	return out, nil
}
