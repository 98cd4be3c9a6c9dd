package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"snag/recording"
	"snag/report"
	"snag/verdict"
)

// judgeAll is the way of a stranger's bytes: open, judge, and show in all forms.
func judgeAll(t *testing.T, packed []byte) {
	r, err := recording.OpenPacked(bytes.NewReader(packed), "fuzz")
	if err != nil {
		return
	}
	showAll(t, r)
}

// showAll judges a recording and shows it in all forms. A judging without an end is an
// error after a minute.
func showAll(t *testing.T, r *recording.Recording) {
	late := time.AfterFunc(time.Minute, func() { panic("judging has no end") })
	defer late.Stop()
	v := verdict.Judge(r)
	for _, to := range renderings {
		if to.name == "plan" {
			continue // it asks this host
		}
		var b bytes.Buffer
		if err := to.write(&b, v); err != nil {
			t.Errorf("%s: %v", to.name, err)
		}
		if line := raw(b.String()); line != "" && to.name != "page" {
			t.Errorf("%s: raw in %.300q", to.name, line)
		}
		if to.name == "JSON" && !json.Valid(b.Bytes()) {
			t.Errorf("the JSON is none: %.300q", b.String())
		}
	}
	_ = report.NewDocument(v)
}

// FuzzWholePath takes packed bytes.
func FuzzWholePath(f *testing.F) {
	for _, b := range sickOnes(f, false) {
		one, err := text(b, 3)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packText(one))
	}
	f.Fuzz(judgeAll)
}

// text is a packed recording as text: a line "-- NAME --" before each file, as txtar
// has it, so that a fuzzer changes rows and not what they are packed with.
func text(packed []byte, rows int) ([]byte, error) {
	z, err := zstd.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	var out bytes.Buffer
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return out.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(t)
		if err != nil {
			return nil, err
		}
		if h.Name != "manifest.json" { // some rows of each, so that a run takes no seconds
			b = thinned(b, rows)
		}
		out.WriteString("-- " + h.Name + " --\n")
		out.Write(b)
	}
}

// thinned keeps n lines, of all parts of a table.
func thinned(b []byte, n int) []byte {
	lines := bytes.SplitAfter(b, []byte("\n"))
	if len(lines) <= n {
		return b
	}
	var out []byte
	for i := range n {
		out = append(out, lines[i*len(lines)/n]...)
	}
	return out
}

func packText(text []byte) []byte {
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil
	}
	t := tar.NewWriter(z)
	for _, file := range strings.Split("\n"+string(text), "\n-- ")[1:] {
		name, body, _ := strings.Cut(file, " --\n")
		if len(name) > 90 || strings.ContainsRune(name, 0) {
			continue
		}
		if t.WriteHeader(&tar.Header{Name: path.Clean(name), Mode: 0o644, Size: int64(len(body) + 1), Typeflag: tar.TypeReg}) == nil {
			_, _ = io.WriteString(t, body+"\n")
		}
	}
	_ = t.Close()
	_ = z.Close()
	return out.Bytes()
}

// FuzzRows takes the rows of a recording, as text.
func FuzzRows(f *testing.F) {
	for i, b := range sickOnes(f, true) {
		if i%4 != 0 {
			continue // FuzzFields has them all
		}
		one, err := text(b, 5)
		if err != nil {
			f.Fatal(err)
		}
		if len(one) < 400_000 {
			f.Add(one)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<20 {
			return
		}
		judgeAll(t, packText(text))
	})
}

// FuzzFields turns values of a recording into others: a number into an extreme one, a
// text into one without what rules look for. It is what finds rules that trust a row.
func FuzzFields(f *testing.F) {
	all := sickOnes(f, true)
	var texts [][]byte
	for _, b := range all {
		one, err := text(b, 40)
		if err != nil {
			f.Fatal(err)
		}
		texts = append(texts, one)
	}
	for i := 0; i < len(all); i += 4 {
		f.Add(uint16(i), uint64(i)*7919, uint8(i))
	}
	f.Fuzz(func(t *testing.T, which uint16, seed uint64, changes uint8) {
		judgeAll(t, packText(changed(texts[int(which)%len(texts)], seed, int(changes)%64+1)))
	})
}

// values are what stands in place of another.
var values = []string{`0`, `-1`, `1`, `9223372036854775807`, `-9223372036854775808`, `18446744073709551615`, `1e308`, `-1e308`, `1e-300`, `""`, `"/"`, `"x"`, `":"`, `"[]:0"`, `"."`, `"a.b.c"`,
	`"10.0.0.1:99999999"`, `"::1"`, `" "`, `"-"`, `"é\u202e"`, `null`, `[]`, `{}`, `true`, `[0,0,0]`, `["",""]`, `4194305`, `"0-3,7-"`, `"1000000000000000000000"`}

// changed puts other values behind some colons.
func changed(text []byte, seed uint64, n int) []byte {
	next := func() uint64 { // SplitMix64
		seed += 0x9e3779b97f4a7c15
		z := seed
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	for range n {
		at := int(next() % uint64(len(text)))
		i := bytes.Index(text[at:], []byte(`":`))
		if i < 0 {
			continue
		}
		from := at + i + 2
		end := valueEnd(text, from)
		text = append(append(bytes.Clone(text[:from]), values[next()%uint64(len(values))]...), text[end:]...)
	}
	return text
}

// valueEnd is where a number or a text ends; lists and objects lose their beginning.
func valueEnd(text []byte, from int) int {
	if from < len(text) && text[from] == '"' {
		for i := from + 1; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
	}
	end := bytes.IndexAny(text[from:], ",}]\n")
	if end < 0 {
		return len(text)
	}
	return from + end
}
