package recording

import (
	"fmt"
	"sort"
	"strings"
	"time"
	"unicode/utf8"
)

// What a recording takes. A probe that meets a host it did not expect (a
// namespace per request, a command line as a label) must not fill the disk.
const (
	defaultMaxSeries = 50_000
	maxLabelValue    = 256 // bytes
	maxLabels        = 24
	maxLine          = 1 << 20 // bytes of one row
	// Samples outside [start − maxBefore, now + maxAhead] are refused: one wild
	// time would make the store refuse all that follow.
	maxBefore = time.Hour
	maxAhead  = 24 * time.Hour
)

// refusals counts what the writer would not take, by reason.
type refusals struct {
	n     uint64
	why   map[string]uint64
	first map[string]string // an example of each
}

func (r *refusals) add(why, example string) { r.addN(1, why, example) }

func (r *refusals) addN(n uint64, why, example string) {
	if n == 0 {
		return
	}
	if r.why == nil {
		r.why, r.first = map[string]uint64{}, map[string]string{}
	}
	if _, ok := r.why[why]; !ok {
		r.first[why] = cut(example, 120)
	}
	r.n += n
	r.why[why] += n
}

// String is the damage sentence: "1,204 samples beyond 50,000 series (first: …)".
func (r *refusals) String() string {
	whys := make([]string, 0, len(r.why))
	for w := range r.why {
		whys = append(whys, w)
	}
	sort.Strings(whys)
	for i, w := range whys {
		whys[i] = fmt.Sprintf("%d %s (first: %s)", r.why[w], w, r.first[w])
	}
	return "refused " + strings.Join(whys, "; ")
}

// cut shortens s to at most n bytes on a rune's border.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// badSeries says why a series can't be kept, or "". Names are held to the form
// that Prometheus 2 reads (prometheus.io/docs/concepts/data_model).
func badSeries(name string, l Labels) string {
	if !validName(name, true) {
		return "samples whose metric name Prometheus would not read"
	}
	if len(l) > maxLabels {
		return fmt.Sprintf("samples with more than %d labels", maxLabels)
	}
	for n, v := range l {
		switch {
		case !validName(n, false) || strings.HasPrefix(n, "__"):
			return "samples with a label name that Prometheus would not read"
		case len(v) > maxLabelValue:
			return fmt.Sprintf("samples with a label value over %d bytes", maxLabelValue)
		case !utf8.ValidString(v):
			return "samples with a label value that is not UTF-8"
		}
	}
	return ""
}

func validName(s string, colon bool) bool {
	if s == "" || len(s) > maxLabelValue {
		return false
	}
	for i, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c == ':' && colon:
		case c >= '0' && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return true
}
