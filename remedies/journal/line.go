package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// sumLength of a checksum, as hexadecimal digits: the first 16 bytes of a SHA-256.
const sumLength = 32

// line is one record with what proves it.
type line struct {
	n         uint64
	prev, sum string
	record    Record
}

func sumOf(n uint64, prev string, record []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "record %d\n%s\n", n, prev)
	h.Write(record)
	return hex.EncodeToString(h.Sum(nil))[:sumLength]
}

// The parts of a line between its numbers.
const lineBegin, linePrev, lineSum, lineRecord, lineEnd = `{"n":`, `,"prev":"`, `","sum":"`, `","record":`, `}`

// encode writes a record as a line, with its end, and gives its checksum.
func encode(n uint64, prev string, r Record) (text []byte, sum string, err error) {
	record, err := json.Marshal(r)
	if err != nil {
		return nil, "", err
	}
	sum = sumOf(n, prev, record)
	text = fmt.Appendf(nil, "%s%d%s%s%s%s%s%s%s\n", lineBegin, n, linePrev, prev, lineSum, sum, lineRecord, record, lineEnd)
	return text, sum, nil
}

// decode reads a line, without its end. It takes what encode writes and nothing else: all
// bytes of a line are covered by its checksum or by its form.
func decode(text []byte) (l line, err error) {
	rest, ok := bytes.CutPrefix(text, []byte(lineBegin))
	number, rest, ok2 := bytes.Cut(rest, []byte(linePrev))
	prev, rest, ok3 := bytes.Cut(rest, []byte(lineSum))
	sum, rest, ok4 := bytes.Cut(rest, []byte(lineRecord))
	record, ok5 := bytes.CutSuffix(rest, []byte(lineEnd))
	if !ok || !ok2 || !ok3 || !ok4 || !ok5 {
		return l, errors.New("it has not the form of a record")
	}
	l.prev, l.sum = string(prev), string(sum)
	if l.n, err = strconv.ParseUint(string(number), 10, 63); err != nil || strconv.FormatUint(l.n, 10) != string(number) {
		return l, errors.New("its number is none")
	}
	if sumOf(l.n, l.prev, record) != l.sum {
		return l, errors.New("its checksum does not match")
	}
	l.record, err = decodeRecord(record)
	return l, err
}

func decodeRecord(text []byte) (r Record, err error) {
	if err := json.Unmarshal(text, &r); err != nil {
		return r, errors.New("it is not a record")
	}
	switch r.Step {
	case "":
		return r, errors.New("it has no step")
	case Will:
		if r.Target == nil || r.Change == "" {
			return r, errors.New("it does not say which setting it is about")
		}
	}
	return r, nil
}

// headLength of the first line, with its end.
var headLength = len(encodeHead(0, ""))

// encodeHead writes the first line: how many records there are, and the checksum of the
// last. Its length is always the same: it is written over.
func encodeHead(n uint64, last string) []byte {
	body := fmt.Sprintf(`{"journal":2,"records":%10d,"last":"%*s"`, n, sumLength, last)
	sum := sha256.Sum256([]byte(body))
	return fmt.Appendf(nil, "%s,\"sum\":\"%s\"}\n", body, hex.EncodeToString(sum[:])[:sumLength])
}

// decodeHead reads the first line.
func decodeHead(text []byte) (n uint64, last string, ok bool) {
	if len(text) < headLength {
		return 0, "", false
	}
	var h struct {
		Records uint64 `json:"records"`
		Last    string `json:"last"`
	}
	if json.Unmarshal(text[:headLength], &h) != nil {
		return 0, "", false
	}
	if len(h.Last) == sumLength && h.Last[0] == ' ' { // none yet
		h.Last = ""
	}
	return h.Records, h.Last, bytes.Equal(text[:headLength], encodeHead(h.Records, h.Last))
}
