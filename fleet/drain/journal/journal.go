// Package journal is what a drain did, on disk before it is done: who comes after a kill -9 reads there where to go on.
//
// It has a line of JSON for each record, with its number and a checksum that covers the record, its number and the
// checksum before it. A line is written and synced before Append returns, and only then its action is carried out. So a
// last line that is not whole was never acted on, and is cut off; anything else that does not fit is damage.
package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// maxFile bounds what is read, bytes: a drain of ten thousand peers has a tenth of it.
const maxFile = 64 << 20

// ErrLocked is of a journal that another drain writes.
var ErrLocked = errors.New("a drain of this plan is running: wait for its end, or stop it (SIGTERM)")

// Journal is open for writing, and locked.
type Journal struct {
	f       *os.File
	path    string
	last    string // the checksum of the last record
	Records []Record
	broken  error // why nothing can be appended any more
}

type line struct {
	N      int             `json:"n"`
	Sum    string          `json:"sum"`
	Record json.RawMessage `json:"record"`
}

// Open opens a plan's journal, makes it if there is none, and locks it. Only its owner can read it.
func Open(path string) (*Journal, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_APPEND|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the journal %s: %w", path, err)
	}
	j := &Journal{f: os.NewFile(uintptr(fd), path), path: path}
	if err := j.open(); err != nil {
		_ = j.f.Close()
		return nil, fmt.Errorf("open the journal %s: %w", path, err)
	}
	return j, nil
}

func (j *Journal) open() error {
	st, err := j.f.Stat()
	switch {
	case err != nil:
		return err
	case !st.Mode().IsRegular() || st.Size() > maxFile:
		return errors.New("it is not a journal of snag drain: name another with --journal")
	}
	if err := unix.Flock(int(j.f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			return ErrLocked
		}
		return err
	}
	text, err := io.ReadAll(io.NewSectionReader(j.f, 0, maxFile+1))
	if err != nil {
		return err
	}
	records, whole, last, err := Parse(text)
	if err != nil {
		return err
	}
	j.Records, j.last = records, last
	if whole < len(text) { // it was being written at a kill
		if err := j.f.Truncate(int64(whole)); err != nil {
			return err
		}
	}
	if err := j.f.Sync(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(j.path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	return d.Sync()
}

// Read reads a plan's journal as it is, without its lock: before a drain goes on it must know its peers.
func Read(path string) ([]Record, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	records, _, _, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read the journal %s: %w", path, err)
	}
	return records, nil
}

// Parse reads a journal's text. whole is the length of what is whole; the rest was being written at a kill.
func Parse(text []byte) (records []Record, whole int, last string, err error) {
	for n := 1; whole < len(text); n++ {
		one, _, ended := bytes.Cut(text[whole:], []byte("\n"))
		if !ended {
			return records, whole, last, nil
		}
		r, sum, err := decode(one, n, last)
		if err != nil {
			return nil, 0, "", fmt.Errorf("line %d is damaged (%w): what was done is not known; look at the peers, then remove the file", n, err)
		}
		records, last = append(records, r), sum
		whole += len(one) + 1
	}
	return records, whole, last, nil
}

func decode(text []byte, n int, last string) (r Record, sum string, err error) {
	var l line
	switch err := json.Unmarshal(text, &l); {
	case err != nil:
		return r, "", errors.New("it is not a record")
	case l.N != n:
		return r, "", fmt.Errorf("it is record %d", l.N)
	case l.Sum != sumOf(n, last, l.Record):
		return r, "", errors.New("its checksum does not match")
	}
	// Go's JSON takes keys in other letters too: only what Append writes is a record.
	if same, err := json.Marshal(l); err != nil || !bytes.Equal(same, text) {
		return r, "", errors.New("it is not a record")
	}
	if err := json.Unmarshal(l.Record, &r); err != nil || r.Step == "" {
		return r, "", errors.New("it is not a record of this version")
	}
	return r, l.Sum, nil
}

func sumOf(n int, last string, record []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d\n%s\n", n, last)
	h.Write(record)
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// Append puts a record on disk. After an error nothing may be done that it is for.
func (j *Journal) Append(r Record) error {
	if j.broken != nil {
		return j.broken
	}
	r.At = time.Now().UTC()
	record, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the journal %s: %w", j.path, err)
	}
	n := len(j.Records) + 1
	sum := sumOf(n, j.last, record)
	text, err := json.Marshal(line{n, sum, record})
	if err == nil {
		_, err = j.f.Write(append(text, '\n'))
	}
	if err == nil {
		err = j.f.Sync()
	}
	if err != nil { // a line may be there in part: nothing can follow it
		j.broken = fmt.Errorf("write the journal %s: %w: nothing more is done", j.path, err)
		return j.broken
	}
	j.Records, j.last = append(j.Records, r), sum
	return nil
}

// Close ends the writing, and the lock.
func (j *Journal) Close() error { return j.f.Close() }
