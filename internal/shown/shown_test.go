package shown

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"nginx: worker": "nginx: worker", "µs → Größe 日本": "µs → Größe 日本", "": "", `C:\x`: `C:\x`,
		"a\x1b]0;x\x07b": `a\x1b]0;x\x07b`, "a\nb\tc\r": `a\x0ab\x09c\x0d`, "\x7f": `\x7f`,
		"\u009b31m": `\u{009b}31m`, "\x9b31m": `\x9b31m`, "a\u202eb\u2066\u2069\u200e\u200f\u202a": `a\u{202e}b\u{2066}\u{2069}\u{200e}\u{200f}\u{202a}`,
		"\u200b\u200d\ufeff\u2028\u2029\u00ad": `\u{200b}\u{200d}\u{feff}\u{2028}\u{2029}\u{00ad}`, "\U000e0041": `\u{e0041}`,
		"\xff\xfe": `\xff\xfe`, "\uFFFD": "\uFFFD",
	} {
		got := Text(in)
		if got != want || Text(got) != got {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if Safe(in) != (got == in) {
			t.Errorf("%q: safe %v", in, Safe(in))
		}
	}
}

func TestColoursAreAddedAfter(t *testing.T) {
	var b bytes.Buffer
	line := Paint("1", "a"+Paint("31", "b\x1b[0m")+"c") + "\u202e\t\xffm\n"
	if n := Columns(line[:len(line)-1]); n != 3+4+1+1+1+1 {
		t.Errorf("%d columns", n)
	}
	fmt.Fprint(To(To(&b)), Painted(line[:strings.LastIndex(line, "\t")])+"\t\xffm\n")
	want := "\x1b[1ma\x1b[31mb\\x1b[0m\x1b[0m\x1b[1mc\x1b[0m\\u{202e}\t\\xffm\n"
	if b.String() != want {
		t.Errorf("%q\n%q", b.String(), want)
	}
	if got := Columns(Cut(line, 2)); got != 2 {
		t.Errorf("cut to %d", got)
	}
}

func TestSprintf(t *testing.T) {
	if got := Sprintf("%s\t%v\n%s %d", "a\n", fmt.Errorf("b\x1b"), []string{"\t"}, 3); got != "a\\x0a\tb\\x1b\n[\\x09] 3" {
		t.Errorf("%q", got)
	}
}

// What is escaped means the same to whoever reads it, and to a browser it is visible.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{"a\x1b\u202e\U000e0041b\x00\\u001b\"", "\x7f\u2028\r\n\b", "\xff", "<\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var plain, out bytes.Buffer
		if json.NewEncoder(&plain).Encode(s) != nil || json.NewEncoder(JSON(&out)).Encode(s) != nil {
			t.Fatal("it can't be written")
		}
		var was, is, seen string
		if json.Unmarshal(plain.Bytes(), &was) != nil || json.Unmarshal(out.Bytes(), &is) != nil || was != is {
			t.Errorf("%q became %q", was, is)
		}
		if err := json.Unmarshal(InJSON(plain.Bytes()), &seen); err != nil {
			t.Fatalf("%s: %v", InJSON(plain.Bytes()), err)
		}
		if !Safe(strings.TrimSuffix(out.String(), "\n")) || !Safe(strings.NewReplacer("\n", "", "\t", "").Replace(seen)) {
			t.Errorf("%q and %q hold what is hidden", out.String(), seen)
		}
		if keep := strings.NewReplacer("\n", "", "\t", ""); Text(keep.Replace(was)) != keep.Replace(seen) {
			t.Errorf("%q is shown as %q", was, seen)
		}
	})
}
