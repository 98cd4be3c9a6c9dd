package recording

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// fragment is one of the log, with its length and without a sum that fits.
func fragment(kind byte, body []byte) []byte {
	head := append([]byte{kind}, binary.BigEndian.AppendUint16(nil, uint16(len(body)))...)
	return append(append(head, 0, 0, 0, 0), body...)
}

func TestRecordsThatClaimMuchAreRefused(t *testing.T) {
	long := bytes.Repeat(fragment(3, make([]byte, walPage/2)), 2*maxRecord/walPage+1) // middle after middle
	for name, c := range map[string]struct {
		log  []byte
		says string
	}{
		"none":                   {nil, ""},
		"small":                  {fragment(walFull, []byte("abc")), ""},
		"compressed":             {fragment(walFull|walSnappy, []byte{100, 1, 2}), ""},
		"claims gigabytes":       {fragment(walFull|walSnappy, binary.AppendUvarint(nil, 1<<32)), "a record of over"},
		"without its length":     {fragment(walFull|walSnappy, []byte{255, 255}), "a record of over"},
		"goes on for ever":       {append(fragment(walFirst, []byte("a")), long...), "a record of over"},
		"by another compressor":  {fragment(walFull|16, []byte("abc")), "compressed as snag compresses none"},
		"behind an empty page":   {append(make([]byte, walPage), fragment(walFull|walSnappy, binary.AppendUvarint(nil, 1<<40))...), "a record of over"},
		"cut off":                {fragment(walFull, []byte("abc"))[:8], ""},
		"longer than its page":   {[]byte{walFull, 255, 255, 0, 0, 0, 0}, ""},
		"changes its compressor": {append(fragment(walFirst|walSnappy, []byte{5}), fragment(4, []byte("abc"))...), "compressed as snag compresses none"},
	} {
		err := saneLog(bufio.NewReaderSize(bytes.NewReader(c.log), walPage))
		switch {
		case err == nil && c.says != "":
			t.Errorf("%s is let through", name)
		case err != nil && (c.says == "" || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v", name, err)
		}
	}
}
