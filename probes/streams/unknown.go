package streams

import (
	"fmt"
	"slices"
	"strings"

	"snag/internal/nearest"
)

// unknown is the error for a URL that no reader takes: its scheme is not known, or the
// scheme's readers want another end of the path.
func unknown(scheme string) error {
	all := known("")
	if of := known(scheme); len(of) > 0 {
		return fmt.Errorf("no reader for this path: of %s:// there are %s", scheme, strings.Join(of, ", "))
	}
	hint := ""
	if like := nearest.Names(scheme, schemes()); len(like) > 0 {
		hint = fmt.Sprintf("; did you mean %q?", like[0])
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

// schemes are all that are known.
func schemes() (out []string) {
	for _, p := range protocols {
		out = append(out, p.schemes...)
	}
	return out
}
