package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Name is the journal's file in its folder.
const Name = "journal.jsonl"

// maxJournal bounds what is read: a plan has at most some hundred changes.
const maxJournal = 16 << 20

// longest text of an error or a reason: what undo writes must fit into its room.
const longest = 1000

// Journal is open for writing.
type Journal struct {
	f       *os.File
	path    string
	content Content
	at      int64 // where the next record goes
	dirty   int64 // up to where a record that failed may have been written
	endless bool  // the damaged line before it has no end
	readErr error // why nothing can be written
}

// ErrNoRoom is of a file system that does not keep the room for an undo.
var ErrNoRoom = errors.New("the file system does not keep room for what undo writes (it compresses, or writes each block to another place)")

// Create makes a folder's journal, with room for so many bytes of records. The room is
// written, and synced: it is there. ErrNoRoom beside a journal: the file system can't
// keep room, and the journal can be used all the same.
func Create(dir string, room int64) (*Journal, error) {
	j := &Journal{path: filepath.Join(dir, Name), content: Content{Format: 2}, at: int64(headLength)}
	f, err := OpenFile(j.path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, fmt.Errorf("make the journal %s: %w", j.path, err)
	}
	j.f = f
	noCopyOnWrite(f)
	_, err = f.Write(append(encodeHead(0, ""), bytes.Repeat([]byte{'\n'}, int(room))...))
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = SyncDir(dir)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("there is no room for the journal of a complete undo (%d bytes for %s): %w", room, j.path, cause(err))
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err == nil && st.Blocks*512 < st.Size || copiesOnWrite(f) {
		return j, ErrNoRoom
	}
	return j, nil
}

// Open opens a folder's journal to go on with it. Of a file system that is read-only it
// is open all the same, and Append says so.
func Open(dir string) (*Journal, error) {
	j := &Journal{path: filepath.Join(dir, Name)}
	var err error
	j.f, err = OpenFile(j.path, os.O_RDWR)
	if errors.Is(err, unix.EROFS) {
		j.readErr = err
		j.f, err = OpenFile(j.path, os.O_RDONLY)
	}
	if err != nil {
		return nil, fmt.Errorf("open the journal %s: %w", j.path, err)
	}
	text, err := readAll(j.f)
	if err != nil {
		_ = j.f.Close()
		return nil, fmt.Errorf("open the journal %s: %w", j.path, err)
	}
	j.content = parse(text)
	j.at, j.dirty = int64(j.content.end), int64(len(bytes.TrimRight(text, "\n")))
	j.endless = j.at > 0 && text[j.at-1] != '\n'
	return j, nil
}

// Content is what the file holds, with what was appended since.
func (j *Journal) Content() Content { return j.content }

// Append puts a record on disk. After an error nothing may be done that the record is
// for: it is not known whether it is there. The next one takes its place.
func (j *Journal) Append(r Record) error {
	if j.readErr != nil {
		return fmt.Errorf("write the journal %s: %w", j.path, j.readErr)
	}
	if r.At.IsZero() {
		r.At = time.Now()
	}
	r.Error, r.Why = shortened(r.Error), shortened(r.Why)
	if j.content.Format == 1 {
		return j.appendOld(r)
	}
	n := max(j.content.last.n, j.content.want) + 1
	text, sum, err := encode(n, j.content.last.sum, r)
	if err != nil {
		return fmt.Errorf("write the journal %s: %w", j.path, err)
	}
	if err := j.put(text); err != nil {
		return err
	}
	// It is on disk: from here on it counts. Where the count can't be written over, it
	// stays one behind, which a reader knows of.
	_, err = j.f.WriteAt(encodeHead(n, sum), 0)
	j.content.last, j.content.want = line{n: n, prev: j.content.last.sum, sum: sum, record: r}, n
	j.content.Records = append(j.content.Records, r)
	if err != nil {
		return fmt.Errorf("write the journal %s: %w", j.path, cause(err))
	}
	return nil
}

func (j *Journal) appendOld(r Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the journal %s: %w", j.path, err)
	}
	if err := j.f.Truncate(j.at); err != nil {
		return fmt.Errorf("write the journal %s: %w", j.path, cause(err))
	}
	j.dirty = j.at
	if err := j.put(append(text, '\n')); err != nil {
		return err
	}
	j.content.Records = append(j.content.Records, r)
	return nil
}

// put writes a line where the next one goes, blanks what is left of one that failed
// there, and syncs.
func (j *Journal) put(text []byte) error {
	if j.endless {
		text = append([]byte{'\n'}, text...)
	}
	end := j.at + int64(len(text))
	if more := j.dirty - end; more > 0 {
		text = append(text, bytes.Repeat([]byte{'\n'}, int(more))...)
	}
	j.dirty = max(j.dirty, end)
	if _, err := j.f.WriteAt(text, j.at); err != nil {
		return fmt.Errorf("write the journal %s: %w", j.path, cause(err))
	}
	if err := unix.Fdatasync(int(j.f.Fd())); err != nil {
		return fmt.Errorf("sync the journal %s: %w", j.path, err)
	}
	j.at, j.dirty, j.endless = end, end, false
	return nil
}

// Moved reports where the folder is now.
func (j *Journal) Moved(dir string) { j.path = filepath.Join(dir, Name) }

// Close ends the writing.
func (j *Journal) Close() error { return j.f.Close() }

// Read reads a folder's journal. A damaged one is no error: Content.Damage tells.
func Read(dir string) (Content, error) {
	path := filepath.Join(dir, Name)
	f, err := OpenFile(path, os.O_RDONLY)
	if err != nil {
		return Content{}, fmt.Errorf("read the journal %s: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	var c Content
	// Another may write at this moment: what is not whole then is whole at the next look.
	for range 3 {
		// The count first: what is appended between the two looks must not seem missing.
		head := make([]byte, headLength)
		n, _ := f.ReadAt(head, 0)
		text, err := readAll(f)
		if err != nil {
			return c, fmt.Errorf("read the journal %s: %w", path, err)
		}
		if _, _, ok := decodeHead(head[:n]); ok && len(text) >= headLength {
			copy(text, head)
		}
		if c = parse(text); c.Damage == nil {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	return c, nil
}

func readAll(f *os.File) ([]byte, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, cause(err)
	}
	if st.Size() > maxJournal {
		return nil, fmt.Errorf("it has %d bytes: it is not a journal of snag's", st.Size())
	}
	text, err := io.ReadAll(io.NewSectionReader(f, 0, maxJournal+1))
	if err != nil {
		return nil, cause(err)
	}
	return text, nil
}

func shortened(s string) string {
	if len(s) <= longest {
		return s
	}
	return s[:longest] + " …"
}

// cause is the error below a *fs.PathError.
func cause(err error) error {
	if e := errors.Unwrap(err); e != nil {
		return e
	}
	return err
}
