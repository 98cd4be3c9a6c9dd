package compared

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"snag/compare"
	"snag/internal/sorting"
)

// mostNamed are named of what differs in the first line.
const mostNamed = 2

// differs says which files of a party's program are another build in B, and which instructions the CPU lacks there; ""
// for none. Alone they make nothing worse: it is said of answers that take longer.
func (s *Shown) differs(p compare.Party) string {
	if !p.Time.Worse() {
		return ""
	}
	var files []string
	for _, b := range s.Builds {
		if file, its := strings.CutPrefix(b.Name, p.B.Subject.Comm+": "); its {
			files = append(files, file)
		}
	}
	text := ""
	switch {
	case len(files) == 0:
	case len(files) > mostNamed:
		text = fmt.Sprintf("; %d of its files are other builds", len(files))
	case len(files) == mostNamed:
		text = fmt.Sprintf("; its %s are other builds", strings.Join(files, " and "))
	default:
		text = fmt.Sprintf("; its %s is another build", files[0])
	}
	if lacks := s.lacks(); len(lacks) > 0 {
		more := ""
		if n := len(lacks) - mostNamed; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		text += fmt.Sprintf("; the CPU of B lacks %s%s", strings.Join(lacks[:min(len(lacks), mostNamed)], ", "), more)
	}
	return text
}

// lacks are the instructions that A's CPU has and B's has not, those that libraries choose their code by first.
func (s *Shown) lacks() (all []string) {
	for _, set := range s.Settings {
		if set.Name == compare.CPUFlags {
			all = strings.Fields(set.A)
		}
	}
	rank := func(flag string) int {
		at := slices.IndexFunc(fastPaths, func(begins string) bool { return strings.HasPrefix(flag, begins) })
		if at < 0 {
			return len(fastPaths)
		}
		return at
	}
	sorting.StableBy(all, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}

// fastPaths are how the names of such instructions begin, as /proc/cpuinfo has them.
var fastPaths = []string{"avx2", "avx512", "avx", "fma", "sve", "asimd", "sha", "aes", "vaes", "gfni", "bmi", "erms", "fsrm", "sse"}
