package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"snag/internal/private"
)

// lineStore stores the samples of a short recording as lines (samples.jsonl), as in a packed recording.
// It needs far less memory than a TSDB head and no block at the end. While recording, each line holds
// one value; after seal, each line holds one series.
type lineStore struct {
	dir  string
	file *os.File
	all  map[*series]*Series
	line []byte
}

func openLines(dir string) (sampleStore, error) {
	f, err := os.OpenFile(filepath.Join(dir, packedSamples), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND|unix.O_NOFOLLOW, private.FileMode())
	if err != nil {
		return nil, fmt.Errorf("open the lines of samples: %w", err)
	}
	return &lineStore{dir: dir, file: f, all: map[*series]*Series{}}, nil
}

func (s *lineStore) commit(batch []sample) (refused int, err error) {
	if len(batch) == 0 {
		return 0, nil
	}
	s.line = s.line[:0]
	for _, one := range batch {
		into := s.all[one.of]
		if into == nil {
			into = &Series{Name: one.of.name, Labels: one.of.labels}
			s.all[one.of] = into
		}
		if n := len(into.Points); n > 0 && millis(into.Points[n-1].T) >= one.ms {
			refused++
			continue
		}
		head, known := one.of.handle.([]byte)
		if !known {
			if head, err = lineHead(into); err != nil {
				return refused, err
			}
			one.of.handle = head
		}
		into.Points = append(into.Points, Point{fromMillis(one.ms), one.v})
		s.line = append(s.line, head...)
		s.line = strconv.AppendInt(s.line, one.ms, 10)
		s.line = append(append(append(s.line, `],"v":[`...), encodeValue(one.v)...), "]}\n"...)
	}
	n, err := s.file.Write(s.line)
	if err == nil {
		return refused, nil
	}
	if st, serr := s.file.Stat(); serr == nil && n > 0 { // whole lines only
		err = errors.Join(err, s.file.Truncate(st.Size()-int64(n)))
	}
	return refused, fmt.Errorf("write samples: %w", err)
}

// lineHead is the beginning of a series' line, up to its first time.
func lineHead(s *Series) ([]byte, error) {
	b, err := json.Marshal(seriesLine{Name: s.Name, Labels: s.Labels, T: []int64{}, V: []json.RawMessage{}})
	if err != nil {
		return nil, fmt.Errorf("series %s: %w", s.Name, err)
	}
	const rest = `],"v":[]}`
	return b[:len(b)-len(rest)], nil
}

// seal rewrites the file with one line per series.
func (s *lineStore) seal() error {
	all := make([]Series, 0, len(s.all))
	for _, one := range s.all {
		all = append(all, *one)
	}
	text, err := encodeAllSeries(all, &Written{})
	if err != nil {
		return errors.Join(err, s.close())
	}
	name := filepath.Join(s.dir, packedSamples)
	if err := private.Write(name, text); err != nil {
		return errors.Join(fmt.Errorf("write the samples again: %w", err), s.close())
	}
	return s.close()
}

func (s *lineStore) close() error { return s.file.Close() }
