package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The sample is real output of tshark 4.0.17 on the incident "Nagle".
func TestReadCapture(t *testing.T) {
	s := span{time.Unix(1795988844, 0), time.Unix(1795988864, 0)}
	got, err := readCapture(splitSections(joinSections([]section{{"tshark -z expert", "Warns (1)\n"}, {"tshark -T fields", sample(t, "tshark.txt")}})), s)
	if err != nil {
		t.Fatal(err)
	}
	const server = "10.88.250.1:9006"
	for name, want := range map[string]float64{
		server + " acknowledges after, ms":                         (2.336652 + 41.520423 + 0.047100) / 3,
		"clients of " + server + " acknowledges after, ms":         0.072007,
		server + " remark: Connection reset (RST)":                 1.0 / 20,
		"clients of " + server + " remark: Connection reset (RST)": 0,
		server + " answers after, ms":                              0,
		"packets with a remark, a second":                          0,
	} {
		if v := got.figures[name]; math.Abs(v-want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", name, v, want)
		}
	}
	early := span{s.From.Add(-time.Minute), s.From}
	if got, _ := readCapture([]section{{"tshark", sample(t, "tshark.txt")}}, early); len(got.figures) != 1 {
		t.Errorf("packets of another time were read: %v", got.figures)
	}
}

func TestCapturesOf(t *testing.T) {
	dir := t.TempDir()
	at := func(word string) time.Time {
		v, err := time.ParseInLocation("20060102150405", word, time.Local)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, word := range []string{"20261129214450", "20261129214455", "20261129214500", "20261129214505"} {
		path := filepath.Join(dir, "capture", "eth0_00001_"+word+".pcapng")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := capturesOf(dir, span{at("20261129214457"), at("20261129214503")})
	if err != nil || len(got) != 2 || filepath.Base(got[0]) != "eth0_00001_20261129214455.pcapng" {
		t.Errorf("got %v, %v: want the files of 21:44:55 and 21:45:00", got, err)
	}
	if _, err := capturesOf(dir, span{at("20261129230000"), at("20261129230010")}); err == nil {
		t.Error("there is no file of that time, and that was no error")
	}
}
