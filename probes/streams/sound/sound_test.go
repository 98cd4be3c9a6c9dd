package sound

import (
	"fmt"
	"testing"
	"time"
)

func TestLevels(t *testing.T) {
	for l, silent := range map[Level]bool{0: true, 1: true, 32: true, 33: false, 104: false, full: false} {
		if l.Silent() != silent {
			t.Errorf("%d, %.1f dBFS: silent %v", l, l.DBFS(), l.Silent())
		}
	}
}

// The loudest sample is found however its bytes come.
func TestLoudest(t *testing.T) {
	b := []byte{1, 0, 0xfe, 0xff, 0, 0x80, 9, 0}
	for n := 1; n <= len(b); n++ {
		var w loudest
		for i := 0; i < len(b); i += n {
			if _, err := w.Write(b[i:min(len(b), i+n)]); err != nil {
				t.Fatal(err)
			}
		}
		if w.level != full || w.n != 4 {
			t.Errorf("in pieces of %d bytes: %d of %d samples", n, w.level, w.n)
		}
	}
}

// What begins and ends of a row of seconds, ten seconds apart: s is silent, m is not.
func TestJudge(t *testing.T) {
	for row, want := range map[string]string{
		"mmmmmmmm":   "[]",
		"mmsssmmm":   "[]",
		"mmssssmm":   "[+@3(4)=6 -@3-7(4)=7]",
		"ssss":       "[+@1(4)=4]",
		"sssmssssss": "[+@5(4)=8]",
		"mssssssmss": "[+@2(4)=5 -@2-8(6)=8]",
	} {
		var j Judge
		got := []string{}
		for i := range len(row) {
			l := Level(5000)
			if row[i] == 's' {
				l = 3
			}
			for _, c := range j.Next(int64(i+1)*10e9, l) {
				text := fmt.Sprintf("+@%d(%d)=%d", c.Start/10e9, c.N, i+1)
				if c.Ended {
					text = fmt.Sprintf("-@%d-%d(%d)=%d", c.Start/10e9, c.End/10e9, c.N, i+1)
				}
				got = append(got, text)
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %s, want %s", row, got, want)
		}
	}
}

// A second each second is silent for half a minute until that is told; a stream that ends, ends it.
func TestJudgeTakesItsTime(t *testing.T) {
	var j Judge
	for s := int64(1); s <= 40; s++ {
		for _, c := range j.Next(s*int64(time.Second), 0) {
			if s != 31 || c.N != 31 || c.Start != int64(time.Second) {
				t.Errorf("after %d s: %+v", s, c)
			}
		}
	}
	var rare Judge
	for i := int64(1); i <= 4; i++ {
		if c := rare.Next(i*20e9, 0); (len(c) > 0) != (i == 4) {
			t.Errorf("20 s apart, the second number %d: %+v", i, c)
		}
	}
	if n, last := j.Seen(); !j.Silent() || n != 40 || last != 40e9 {
		t.Errorf("silent %v, %d seen", j.Silent(), n)
	}
	if c := j.Forget(50e9); len(c) != 1 || !c[0].Ended || c[0].N != 40 || c[0].End != 50e9 {
		t.Errorf("%+v", c)
	}
	if c := j.Forget(51e9); len(c) != 0 || j.Silent() {
		t.Errorf("%+v", c)
	}
}
