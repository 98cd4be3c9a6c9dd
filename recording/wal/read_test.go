package wal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/golang/snappy"
)

// fragment is one of the log, with its length and its checksum.
func fragment(kind byte, body []byte) []byte {
	head := append([]byte{kind}, binary.BigEndian.AppendUint16(nil, uint16(len(body)))...)
	return append(binary.BigEndian.AppendUint32(head, crc32.Checksum(body, castagnoli)), body...)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func flipped(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 1
	return b
}

func TestReadRefuses(t *testing.T) {
	long := bytes.Repeat(fragment(typeMiddle, make([]byte, pageSize/2)), 2*maxRecord/pageSize+1)
	abc := fragment(typeFull, []byte("abc"))
	for name, c := range map[string]struct {
		log     []byte
		records string // of those that come before the error
		says    string
	}{
		"none":                          {nil, "", ""},
		"small":                         {abc, "abc", ""},
		"two fragments":                 {join(fragment(typeFirst, []byte("a")), fragment(typeLast, []byte("b")), abc), "ab,abc", ""},
		"compressed":                    {fragment(typeFull|flagSnappy, snappy.Encode(nil, []byte("aaaa"))), "aaaa", ""},
		"compressed badly":              {fragment(typeFull|flagSnappy, []byte{100, 1, 2}), "", "corrupt"},
		"claims gigabytes":              {fragment(typeFull|flagSnappy, binary.AppendUvarint(nil, 1<<32)), "", "a record of over"},
		"without its length":            {fragment(typeFull|flagSnappy, []byte{255, 255}), "", "a record of over"},
		"goes on for ever":              {join(fragment(typeFirst, []byte("a")), long), "", "a record of over"},
		"by another compressor":         {fragment(typeFull|16, []byte("abc")), "", "compressed as snag compresses none"},
		"behind an empty page":          {join(make([]byte, pageSize), abc), "abc", ""},
		"much behind an empty page":     {join(make([]byte, pageSize), fragment(typeFull|flagSnappy, binary.AppendUvarint(nil, 1<<40))), "", "a record of over"},
		"an empty page that is not":     {join(flipped(make([]byte, pageSize), 99), abc), "", "not empty"},
		"ends in an empty page":         {join(abc, make([]byte, 99)), "abc", ""},
		"cut off":                       {join(abc, abc[:8]), "abc", "torn"},
		"cut off in its head":           {join(abc, abc[:3]), "abc", "torn"},
		"cut off between its fragments": {join(abc, fragment(typeFirst, []byte("a"))), "abc", "torn"},
		"another byte":                  {join(abc, flipped(abc, 8)), "abc", "the checksum is"},
		"longer than its page":          {[]byte{typeFull, 255, 255, 0, 0, 0, 0}, "", "longer than its page"},
		"changes its compressor":        {join(fragment(typeFirst|flagSnappy, []byte{5}), fragment(typeLast, []byte("abc"))), "", "compressed as snag compresses none"},
		"begins in the middle":          {fragment(typeMiddle, []byte("abc")), "", "wrong order"},
		"begins twice":                  {join(fragment(typeFirst, []byte("a")), abc), "", "wrong order"},
		"of no type":                    {fragment(5, []byte("abc")), "", "of type 5"},
	} {
		var got []string
		err := Read(bytes.NewReader(c.log), func(rec []byte) error { got = append(got, string(rec)); return nil })
		switch {
		case err == nil && c.says != "":
			t.Errorf("%s is let through", name)
		case err != nil && (c.says == "" || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v", name, err)
		case strings.Join(got, ",") != c.records:
			t.Errorf("%s: records %q, want %q", name, got, c.records)
		}
	}
}

// Whatever a segment holds, reading it ends, in bounded memory.
func FuzzRead(f *testing.F) {
	f.Add(fragment(typeFull, []byte("abc")))
	f.Add(join(fragment(typeFirst, []byte("a")), fragment(typeLast, []byte("b"))))
	f.Add(fragment(typeFull|flagSnappy, snappy.Encode(nil, []byte("aaaa"))))
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = Read(bytes.NewReader(b), func(rec []byte) error {
			if len(rec) > maxRecord {
				t.Errorf("a record of %d bytes", len(rec))
			}
			return nil
		})
	})
}
