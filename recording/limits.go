package recording

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"
	"unsafe"

	"snag/internal/units"
)

// What is read of a recording for each gigabyte of SNAG_MAX_MEMORY: whoever sent it may
// have made it so that some kilobytes fill the memory. Each bound lies far above what snag
// writes (docs/recording.md).
const (
	maxUnpacked = 256 << 20 // bytes of tables and samples as text
	maxRows     = 2_000_000 // of one table
	maxAllRows  = 4_000_000
	maxSeries   = 100_000
	maxMemory   = 340 << 20 // bytes that rows, series and samples take, as counted below
	maxParts    = 256
	lastDay     = 200 * 365 // since 1970, and before it: Time ends in 2262
	maxDamage   = 200       // sentences on what was lost before
	maxText     = 64 << 10  // bytes of one text in a row
	maxDepth    = 32        // objects and lists inside each other
	maxWindow   = 32 << 20  // bytes that zstd may look back; packWindow is what Pack takes
)

// MaxDays is how long a recording's window may be for each gigabyte, days: ten years, as far as
// logs of quiet services go back.
const MaxDays = 3660

// MemoryEnv is the environment variable with the memory that a recording of others may
// take: it raises all bounds.
const MemoryEnv = "SNAG_MAX_MEMORY"

// MaxMemory is what MemoryEnv says, bytes: 1 GB where it is not set, or wrong.
func MaxMemory() (int64, error) {
	text := os.Getenv(MemoryEnv)
	if text == "" {
		return 1 << 30, nil
	}
	if n, err := units.ParseBytes(text); err == nil && n >= 16<<20 && n <= 1<<46 {
		return n, nil
	}
	return 1 << 30, fmt.Errorf("%s=%s: give a number and MB or GB, from 16MB on", MemoryEnv, text)
}

// LimitError reports that a recording is larger than what is read of one.
type LimitError struct {
	Path string
	What string // "has over 2,000,000 rows in the table sockets"
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("open %s: it %s, the bound for recordings that others may have made: if you trust who made it and the machine has the memory, set %s=4GB (it is 1GB without)", e.Path, e.What, MemoryEnv)
}

// meter counts what is read against the bounds; the first that is passed ends it.
type meter struct {
	factor   float64
	unpacked int64
	rows     int
	table    map[string]int
	series   int
	memory   int64
	copies   int64 // of each row: the parts' and the whole's
	over     *LimitError
}

func newMeter() *meter {
	memory, _ := MaxMemory() // what is wrong with it is said by the command
	return &meter{factor: float64(memory) / (1 << 30), table: map[string]int{}, copies: 1}
}

// noBounds is for what this program has just written itself.
func noBounds() *meter { return &meter{factor: 1 << 20, table: map[string]int{}, copies: 1} }

// begin takes note of what is read.
func (m *meter) begin(r *Recording) {
	n := len(r.Manifest.Parts)
	_ = m.pass(int64(n), maxParts, fmt.Sprintf("has over %d parts", m.most(maxParts)))
	if n >= 2 {
		m.copies = 2
	}
}

// window refuses times that no host and no log has: rules and charts go through the
// window second by second.
func (m *meter) window(r *Recording) error {
	for _, one := range append([]*Recording{r}, r.Parts...) {
		start, end := float64(one.Manifest.Start), float64(one.Manifest.End)
		if most := int64(MaxDays * max(m.factor, 1)); m.over == nil && (end-start)/float64(24*time.Hour) > float64(most) {
			m.over = &LimitError{What: fmt.Sprintf("has a window of over %d days", most)}
			return m.over
		}
		if far := int64(max(math.Abs(start), math.Abs(end)) / float64(24*time.Hour)); far > lastDay {
			m.over = &LimitError{What: "has a window outside of the years 1770 to 2170"}
			return m.over
		}
	}
	return nil
}

// text counts what is read of a file in a folder; of a packed one it was counted when it
// was unpacked.
func (m *meter) text(f io.ReadCloser) io.Reader {
	if _, ok := f.(*os.File); !ok {
		return f
	}
	return &metered{f, m}
}

type metered struct {
	r io.Reader
	m *meter
}

func (r *metered) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	return n, errors.Join(r.m.unpack(int64(n)), err)
}

// most is a bound, raised as the user says.
func (m *meter) most(n int64) int64 { return int64(float64(n) * m.factor) }

func (m *meter) pass(n int64, bound int64, what string) error {
	if m.over == nil && n > m.most(bound) {
		m.over = &LimitError{What: what}
	}
	if m.over != nil {
		return m.over
	}
	return nil
}

// room is how many bytes may still be unpacked.
func (m *meter) room() int64 { return max(m.most(maxUnpacked)-m.unpacked, 0) }

func (m *meter) unpack(n int64) error {
	m.unpacked += n
	return m.pass(m.unpacked, maxUnpacked, fmt.Sprintf("has over %d MB of tables and samples", m.most(maxUnpacked)>>20))
}

// takes counts memory, bytes.
func (m *meter) takes(n int64) error {
	if m.memory += n; m.memory < 0 {
		m.memory = math.MaxInt64
	}
	return m.pass(m.memory, maxMemory, fmt.Sprintf("has rows and samples that take over %d MB of memory", m.most(maxMemory)>>20))
}

// row counts one row: what its struct takes, its texts, and what is allocated for each
// object and each list inside it.
func (m *meter) row(table string, size int64, line []byte) error {
	const object, list, manyPairs = 300, 32, 200 // the larger of a map with an entry and of tcp_info
	m.rows++
	m.table[table]++
	if err := m.pass(int64(m.table[table]), maxRows, fmt.Sprintf("has over %d rows in the table %s", m.most(maxRows), table)); err != nil {
		return err
	}
	if err := m.pass(int64(m.rows), maxAllRows, fmt.Sprintf("has over %d rows in all tables", m.most(maxAllRows))); err != nil {
		return err
	}
	inside := max(int64(bytes.Count(line, []byte{'{'}))-1, 0)
	lists := int64(bytes.Count(line, []byte{'['}))
	cost := size*3/2 + int64(len(line)) + object*inside + list*lists // tables grow by copying
	if lists > 0 {                                                   // numbers of eight bytes, texts of sixteen and their own
		cost += 16 * int64(bytes.Count(line, []byte{','}))
	}
	if pairs := int64(bytes.Count(line, []byte{':'})); pairs > manyPairs { // no row has so many columns
		cost += 80 * pairs
	}
	return m.takes(m.copies * cost)
}

// newSeries counts a series that was not there yet.
func (m *meter) newSeries(name string, l Labels) error {
	m.series++
	if err := m.pass(int64(m.series), maxSeries, fmt.Sprintf("has over %d series", m.most(maxSeries))); err != nil {
		return err
	}
	if len(l) > 2*maxLabels && m.over == nil {
		m.over = &LimitError{What: fmt.Sprintf("has a series with over %d labels", 2*maxLabels)}
	}
	if m.over != nil {
		return m.over
	}
	n := int64(512 + len(name))
	for k, v := range l {
		n += int64(64 + len(k) + len(v))
	}
	return m.takes(n)
}

// points counts values of series.
func (m *meter) points(n int) error {
	return m.takes(int64(n) * int64(unsafe.Sizeof(Point{})) * 5 / 4) // as slices grow
}

// tooOdd says why a line is not looked at: it has a text that no name is as long as, or
// is as deep as no row is.
func tooOdd(line []byte) error {
	if len(line) > maxText && longestText(line) > maxText {
		return fmt.Errorf("a text over %d KB", maxText>>10)
	}
	if bytes.Count(line, []byte{'{'})+bytes.Count(line, []byte{'['}) > maxDepth && depth(line) > maxDepth {
		return fmt.Errorf("over %d objects inside each other", maxDepth)
	}
	return nil
}

// longestText is the longest stretch without a quote.
func longestText(line []byte) int {
	longest := 0
	for len(line) > 0 {
		i := bytes.IndexByte(line, '"')
		if i < 0 {
			i = len(line) - 1
		}
		if text := line[:i]; i > longest && !isNumbers(text) {
			longest = i
		}
		line = line[i+1:]
	}
	return longest
}

// isNumbers tells a list of numbers from a text.
func isNumbers(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && !bytes.ContainsRune([]byte(" ,.:-+eE[]{}"), rune(c)) {
			return false
		}
	}
	return true
}

// depth is how many objects and lists lie inside each other.
func depth(line []byte) int {
	now, most, quoted := 0, 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			most = max(most, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return most
}
