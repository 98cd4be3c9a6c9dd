package actor

import (
	"bytes"
	"encoding/binary"
	"io"
	"path/filepath"
	"testing"
	"testing/iotest"
	"time"

	"snag/lab/clientlog"
)

// Chunks are recognised wherever the stream is cut.
func TestStamps(t *testing.T) {
	const chunk = 21
	var stream bytes.Buffer
	start := time.Now().Add(-5 * time.Second)
	for i := range 10 {
		b := make([]byte, chunk)
		binary.BigEndian.PutUint64(b, uint64(start.Add(time.Duration(i)*time.Second/4).UnixNano()))
		stream.Write(b)
	}
	path := filepath.Join(t.TempDir(), "log")
	log, err := clientlog.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	in := &stamps{from: iotest.HalfReader(&stream), chunk: chunk, log: log}
	buf := make([]byte, 64)
	if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, in, buf); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := clientlog.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Requests) != 10 || len(l.Delivered) != 1 || l.Delivered[0].N != 10*chunk {
		t.Fatalf("%+v", l)
	}
	if first := l.Requests[0]; !first.Start.Equal(time.Unix(0, start.UnixNano())) || first.Length < 5*time.Second || first.Length > time.Minute {
		t.Errorf("the first chunk %+v, due %v", first, start)
	}
}
