package recording

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/record"
	"github.com/prometheus/prometheus/tsdb/wlog"
)

// readLog replays the write-ahead log of a writer that was killed, record by
// record and read-only. (A tsdb head would repair, truncate and map files in the
// recording.) found: there was something in it. A torn end is the last commit
// of a kill -9 and costs at most that.
func readLog(all *seriesSet, dir string) (found bool, damage []string, err error) {
	replay := newReplay(all)
	// A log that was cut short begins with a checkpoint (a watch's; a find never
	// cuts its log).
	checkpoint, from, err := wlog.LastCheckpoint(dir)
	switch {
	case errors.Is(err, record.ErrNotFound), errors.Is(err, os.ErrNotExist):
		from = -1
	case err != nil:
		return false, nil, err
	default:
		found = true
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
	if err := saneSegment(path); err != nil {
		return err
	}
	seg, err := wlog.OpenReadSegment(path)
	if err != nil {
		return err
	}
	in := wlog.NewSegmentBufReader(seg)
	defer func() { err = errors.Join(err, in.Close()) }()
	r := wlog.NewReader(in)
	for r.Next() {
		if err := w.record(r.Record()); err != nil {
			return err
		}
	}
	if err := r.Err(); err != nil {
		var corrupt *wlog.CorruptionErr
		if errors.As(err, &corrupt) {
			err = corrupt.Err // without the path on this machine
		}
		return err
	}
	return nil
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
