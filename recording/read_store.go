package recording

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"

	"snag/recording/block"
)

// ulidLen is the length of a block's name, a ULID.
const ulidLen = 26

// readStore reads the samples of a folder: its blocks and, where the writer did
// not come to seal it, its log. found is false when there is neither.
func readStore(all *seriesSet, dir string) (found bool, damage []string, err error) {
	store := filepath.Join(dir, samplesDir)
	if err := onlyRegular(store, all.meter); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil, nil
		}
		return false, nil, fmt.Errorf("samples can't be read: %w", err)
	}
	entries, err := os.ReadDir(store)
	if err != nil {
		return false, nil, fmt.Errorf("samples can't be read: %w", err)
	}
	for _, e := range entries {
		if len(e.Name()) != ulidLen || !e.IsDir() {
			continue // wal, chunks_head, a block that was never finished (.tmp-…)
		}
		found = true
		if err := guard(func() error { return readBlock(all, filepath.Join(store, e.Name())) }); err != nil {
			damage = append(damage, fmt.Sprintf("%s/%s: the block can't be read whole: %v", samplesDir, e.Name(), err))
		}
	}
	var more []string
	logged := false
	err = guard(func() (err error) {
		logged, more, err = readLog(all, filepath.Join(store, "wal"))
		return err
	})
	if err != nil {
		more = append(more, fmt.Sprintf("%s/wal: can't be read whole: %v", samplesDir, err))
	}
	return found || logged, append(damage, more...), nil
}

// guard turns a panic into an error: the engine checks sums, but not everything
// that a damaged or made-up file can say.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged: %v", p)
		}
	}()
	return f()
}

// onlyRegular refuses links and special files before the engine opens them, and more
// bytes than are read: a file with holes takes no disk.
func onlyRegular(dir string, m *meter) error {
	return filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !e.IsDir() && !e.Type().IsRegular() {
			rel, _ := filepath.Rel(filepath.Dir(dir), p)
			return fmt.Errorf("%s is a link or a special file, which a recording has not", rel)
		}
		if e.IsDir() || m == nil {
			return nil
		}
		st, err := e.Info()
		if err != nil {
			return err
		}
		return m.unpack(st.Size())
	})
}

// readBlock reads the samples of a block.
func readBlock(all *seriesSet, dir string) error {
	return block.Read(dir, func(l labels.Labels) (func(ms int64, v float64) error, error) {
		name, own := ownLabels(l)
		if name == "" {
			return func(int64, float64) error { return nil }, nil
		}
		s := all.series(name, own)
		return func(ms int64, v float64) error {
			if value.IsStaleNaN(v) {
				return nil
			}
			return all.add(s, Point{fromMillis(ms), v})
		}, all.full()
	})
}

func fromMillis(ms int64) Time {
	const most = math.MaxInt64 / 1_000_000
	return Time(min(max(ms, -most), most) * 1_000_000)
}

// ownLabels copies: the engine's strings lie in a file that is about to close.
func ownLabels(ls labels.Labels) (name string, l Labels) {
	l = Labels{}
	ls.Range(func(x labels.Label) {
		if x.Name == model.MetricNameLabel {
			name = strings.Clone(x.Value)
			return
		}
		l[strings.Clone(x.Name)] = strings.Clone(x.Value)
	})
	return name, l
}

// segments lists the numbered files of a log, in order; those after a gap too.
func segments(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		digits := strings.Trim(e.Name(), "0123456789") == ""
		if digits && e.Name() != "" && e.Type().IsRegular() {
			out = append(out, e.Name())
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if len(out[i]) != len(out[j]) {
			return len(out[i]) < len(out[j])
		}
		return out[i] < out[j]
	})
	return slices.Clip(out)
}
