package rtmp

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"snag/internal/amf"
)

// says makes a command of a server.
func says(b []byte, values ...any) []byte {
	return AppendMessage(b, Header{Chunk: 3, Type: TypeCommandAMF0}, FirstChunkSize, amf.Append(nil, values...))
}

func status1(code string) amf.Object {
	level := "status"
	if strings.HasSuffix(code, "BadName") {
		level = "error"
	}
	return amf.Object{{Name: "level", Value: level}, {Name: "code", Value: code}, {Name: "description", Value: "words"}}
}

// A publisher asks for what encoders ask for, and its messages are what a server reads.
func TestAPublisher(t *testing.T) {
	c := NewPublisher(Target{App: "live", TCURL: "rtmp://h/live", Name: "cam-1"})
	b := says(nil, "_result", 1, nil, status1("NetConnection.Connect.Success"))
	b = says(b, "_error", 3, nil, nil) // releaseStream is unknown to many
	b = says(b, "_result", 2, nil, 9)
	if err := c.Feed(b, 0); err != nil || c.Phase != Asking || c.Published {
		t.Fatalf("%v, phase %d, published %v", err, c.Phase, c.Published)
	}
	if err := c.Feed(says(nil, "onStatus", 0, nil, status1("NetStream.Publish.Start")), 0); err != nil || c.Phase != Playing || !c.Published {
		t.Fatalf("%v, phase %d, published %v", err, c.Phase, c.Published)
	}
	c.Publish(TypeVideo, 0x1000000, make([]byte, 9000)) // an extended timestamp, in three chunks
	c.Publish(TypeAudio, 40, []byte("\xaf\x01sound"))
	c.Unpublish()
	p := NewParser()
	p.Strict = true
	got, err := feed(t, p, c.Out, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range got {
		switch m.Type {
		case TypeCommandAMF0:
			values, err := amf.Decode([]byte(m.head))
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, values[0].(string))
			if values[0] == "publish" && (m.Stream != 9 || values[3] != "cam-1" || values[4] != "live") {
				t.Errorf("on stream %d: %v", m.Stream, values)
			}
		case TypeSetChunkSize:
			said = append(said, "chunks")
			if binary.BigEndian.Uint32([]byte(m.head)) != publishChunkSize {
				t.Errorf("chunks of % x", m.head)
			}
		case TypeVideo, TypeAudio:
			said = append(said, map[uint8]string{TypeVideo: "video", TypeAudio: "audio"}[m.Type])
			if m.Stream != 9 || m.Type == TypeVideo && (m.Length != 9000 || m.Timestamp != 0x1000000) || m.Type == TypeAudio && m.Timestamp != 40 {
				t.Errorf("%+v", m.Header)
			}
		}
	}
	if words := strings.Join(said, " "); words != "connect chunks releaseStream FCPublish createStream publish video audio FCUnpublish deleteStream" {
		t.Errorf("it says %s", words)
	}
}

func TestAPublisherIsRefused(t *testing.T) {
	for name, transaction := range map[string]int{"onStatus": 0, "_error": transactionPublish} {
		c := NewPublisher(Target{App: "live", Name: "cam-1"})
		b := says(nil, "_result", 1, nil, status1("NetConnection.Connect.Success"))
		b = says(b, "_result", 2, nil, 1)
		b = says(b, name, transaction, nil, status1("NetStream.Publish.BadName"))
		var refused *Refused
		if err := c.Feed(b, 0); !errors.As(err, &refused) || refused.Why != "NetStream.Publish.BadName: words" || refused.Connect {
			t.Errorf("%s: %v", name, err)
		}
	}
}
