package streams

import (
	"fmt"
	"slices"
	"strings"
)

// unknown is the error for a URL that no reader takes: its scheme is not known, or the
// scheme's readers want another end of the path.
func unknown(scheme string) error {
	all := known("")
	if of := known(scheme); len(of) > 0 {
		return fmt.Errorf("no reader for this path: of %s:// there are %s", scheme, strings.Join(of, ", "))
	}
	hint := ""
	if like := alike(scheme); like != "" {
		hint = fmt.Sprintf("; did you mean %q?", like)
	}
	return fmt.Errorf("unknown scheme %q%s (there are %s)", scheme, hint, strings.Join(all, ", "))
}

// known are the URLs that are read, as a person writes them: of one scheme, or of all ("").
func known(scheme string) []string {
	var out []string
	for _, p := range protocols {
		for _, s := range p.schemes {
			if text := s + "://…" + p.suffix; (scheme == "" || s == scheme) && !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// alike is a scheme that one letter more, less or other makes of this one; "" if there is none.
func alike(scheme string) string {
	for _, p := range protocols {
		for _, s := range p.schemes {
			if oneLetter(scheme, s) {
				return s
			}
		}
	}
	return ""
}

// oneLetter reports whether a and b differ in one letter: one is other, missing or added.
func oneLetter(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 || len(b) < 3 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) {
		return i < len(a) && a[i+1:] == b[i+1:]
	}
	return a[i:] == b[i+1:]
}
