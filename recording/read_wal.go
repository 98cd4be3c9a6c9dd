package recording

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/record"

	"snag/recording/wal"
)

// readLog replays the write-ahead log of a writer that was killed, record by
// record and read-only. (A tsdb head would repair, truncate and map files in the
// recording.) found: there was something in it. A torn end is the last commit
// of a kill -9 and costs at most that.
func readLog(all *seriesSet, dir string) (found bool, damage []string, err error) {
	replay := newReplay(all)
	// A log that was cut short begins with a checkpoint (a watch's; a find never
	// cuts its log).
	from := -1
	checkpoint, upTo, err := lastCheckpoint(dir)
	if err != nil {
		return false, nil, err
	}
	if checkpoint != "" {
		found, from = true, upTo
		damage = append(damage, replay.files(checkpoint, segments(checkpoint), samplesDir+"/wal/"+filepath.Base(checkpoint))...)
	}
	var names []string
	for _, n := range segments(dir) {
		var k int
		if _, err := fmt.Sscanf(n, "%d", &k); err == nil && k > from {
			names = append(names, n)
		}
	}
	damage = append(damage, replay.files(dir, names, samplesDir+"/wal")...)
	if replay.orphans > 0 {
		damage = append(damage, fmt.Sprintf("%s/wal: %d values of series whose names are lost", samplesDir, replay.orphans))
	}
	return found || len(names) > 0, damage, nil
}

// lastCheckpoint returns the newest checkpoint of a log, "" if there is none, and the last segment that it stands for.
func lastCheckpoint(dir string) (path string, upTo int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return "", 0, err
	}
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), "checkpoint.")
		if n, err := strconv.Atoi(number); ok && err == nil && e.IsDir() && (path == "" || n > upTo) {
			path, upTo = filepath.Join(dir, e.Name()), n
		}
	}
	return path, upTo, nil
}

type walReplay struct {
	all     *seriesSet
	dec     record.Decoder
	refs    map[chunks.HeadSeriesRef]*Series
	orphans int

	samples []record.RefSample
}

func newReplay(all *seriesSet) *walReplay {
	return &walReplay{all: all, dec: record.NewDecoder(nil, nil), refs: map[chunks.HeadSeriesRef]*Series{}}
}

// files replays segments in order and goes on after a damaged one: records do
// not reach over the end of a segment.
func (w *walReplay) files(dir string, names []string, shown string) (damage []string) {
	for i, n := range names {
		err := w.file(filepath.Join(dir, n))
		if err == nil {
			continue
		}
		where := "what follows in this file is lost"
		if i == len(names)-1 {
			where = "its end is cut off: at most the last commits are lost"
		}
		damage = append(damage, fmt.Sprintf("%s/%s: %s (%s)", shown, n, where, cut(err.Error(), 160)))
	}
	return damage
}

func (w *walReplay) file(path string) (err error) {
	// It was seen to be a regular file; it may have been replaced since.
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return wal.Read(f, w.record)
}

func (w *walReplay) record(rec []byte) (err error) {
	switch w.dec.Type(rec) {
	case record.Series:
		err := decodeSeriesRecord(rec, func(ref uint64, name string, l Labels) {
			w.refs[chunks.HeadSeriesRef(ref)] = w.all.series(name, l)
		})
		return errors.Join(err, w.all.full())
	case record.Samples, record.SamplesV2:
		if w.samples, err = w.dec.Samples(rec, w.samples[:0]); err != nil {
			return err
		}
		for _, p := range w.samples {
			s := w.refs[p.Ref]
			if s == nil {
				w.orphans++
				continue
			}
			if !value.IsStaleNaN(p.V) {
				if err := w.all.add(s, Point{fromMillis(p.T), p.V}); err != nil {
					return err
				}
			}
		}
	}
	return nil // other records hold nothing that snag writes
}

var errShortRecord = errors.New("a record of series is cut off")

// decodeSeriesRecord reads a record of series (tsdb/docs/format/wal.md): a type
// byte, then ref (8 bytes, big-endian), count, and name and value of each label,
// with lengths as uvarints. tsdb's own decoder believes the count: a made-up
// record of 20 bytes keeps it busy until memory ends.
func decodeSeriesRecord(rec []byte, add func(ref uint64, name string, l Labels)) error {
	rec = rec[1:]
	number := func() (uint64, error) {
		v, n := binary.Uvarint(rec)
		if n <= 0 {
			return 0, errShortRecord
		}
		rec = rec[n:]
		return v, nil
	}
	text := func() (string, error) {
		n, err := number()
		if err != nil || n > uint64(len(rec)) {
			return "", errShortRecord
		}
		s := string(rec[:n])
		rec = rec[n:]
		return s, nil
	}
	for len(rec) > 0 {
		if len(rec) < 8 {
			return errShortRecord
		}
		ref := binary.BigEndian.Uint64(rec)
		rec = rec[8:]
		count, err := number()
		if err != nil {
			return err
		}
		if count > 2*maxLabels {
			return fmt.Errorf("a series with %d labels", count)
		}
		name, l := "", Labels{}
		for range count { // ends at the record's end at the latest
			n, err1 := text()
			v, err2 := text()
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			if n == "__name__" {
				name = v
			} else {
				l[n] = v
			}
		}
		add(ref, name, l)
	}
	return nil
}
