package words

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"":                              nil,
		" \t ":                          nil,
		"curl -s http://a/":             {"curl", "-s", "http://a/"},
		`wrk -H 'Host: a b' "x y"`:      {"wrk", "-H", "Host: a b", "x y"},
		`a '' ""`:                       {"a", "", ""},
		`a\ b c\\d`:                     {"a b", `c\d`},
		`"a\"b\\c\d" 'a\b'`:             {`a"b\c\d`, `a\b`},
		`pre'mid'"post"`:                {"premidpost"},
		"a; rm -rf $HOME `b` $(c) > d&": {"a;", "rm", "-rf", "$HOME", "`b`", "$(c)", ">", "d&"},
	} {
		got, err := Split(line)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", line, got, err, want)
		}
	}
}

func TestWhatIsNoCommand(t *testing.T) {
	for _, line := range []string{"", "   ", "'' a", `a 'b`, `a "b`, `a \`, "a\x00b"} {
		if got, err := Command(line); err == nil {
			t.Errorf("%q: %q", line, got)
		}
	}
	if _, err := Split(`"`); !errors.Is(err, ErrOpenQuote) {
		t.Error(err)
	}
}

// What is quoted comes out as it was put in.
func FuzzSplit(f *testing.F) {
	f.Add("a 'b c' \"d\\\"e\" f\\ g")
	f.Add("'")
	f.Fuzz(func(t *testing.T, line string) {
		all, err := Split(line)
		if err != nil {
			return
		}
		var quoted []string
		for _, w := range all {
			quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
		}
		again, err := Split(strings.Join(quoted, " "))
		if err != nil || !slices.Equal(all, again) {
			t.Errorf("%q: %q, %v; want %q", line, again, err, all)
		}
	})
}
