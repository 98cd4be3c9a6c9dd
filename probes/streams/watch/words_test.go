package watch

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		``:                               nil,
		`  one   two `:                   {"one", "two"},
		`systemctl restart 'cam 1'`:      {"systemctl", "restart", "cam 1"},
		`say "a \"b\" \\ $HOME"`:         {"say", `a "b" \ $HOME`},
		`a'b'"c"d`:                       {"abcd"},
		`''`:                             {""},
		`rm\ -rf $(reboot) ; echo | cat`: {"rm -rf", "$(reboot)", ";", "echo", "|", "cat"},
		`'# no comment' #neither`:        {"# no comment", "#neither"},
		"tab\tand\nnewline":              {"tab", "and", "newline"},
		`'it'\''s'`:                      {"it's"},
	} {
		got, err := Words(line)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
	for _, line := range []string{`'open`, `"open`, `"open\"`, `end\`} {
		if got, err := Words(line); err == nil {
			t.Errorf("%s: taken as %q", line, got)
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add(`a 'b c' "d\"e" \f`)
	f.Add(`'`)
	f.Fuzz(func(t *testing.T, line string) {
		words, err := Words(line)
		if err != nil {
			return
		}
		n := 0
		for _, w := range words {
			n += len(w)
		}
		if n > len(line) {
			t.Errorf("%q grew to %q", line, words)
		}
	})
}
