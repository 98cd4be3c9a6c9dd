package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"snag/remedies/journal"
	"snag/remedies/plan"
)

// stagedSuffix is of a folder that is being made: nothing was changed for it.
const stagedSuffix = ".new"

// room is how many bytes a plan's whole life writes, with two undos that fail: for each
// change some lines with its values and an error of 1,000 characters.
func room(p *plan.Plan) int64 {
	n := 8192
	for _, c := range p.Changes {
		n += 5120 + 6*(len(c.Now)+len(c.Then)+len(c.Target.String()))
	}
	return int64(n+4095) / 4096 * 4096
}

// begin makes a plan's folder: the plan, its journal with the room for a complete undo,
// and the record of its beginning. It has its name only when all of it is on disk: a
// folder without a journal, or with an empty one, is damaged.
func (s *Store) begin(p *plan.Plan, within time.Duration) (dir string, j *journal.Journal, deadline time.Time, err error) {
	text, err := p.Text()
	if err != nil {
		return "", nil, deadline, err
	}
	serial, err := s.nextSerial()
	if err != nil {
		return "", nil, deadline, err
	}
	dir = s.newFolder()
	staged := dir + stagedSuffix
	defer func() {
		if err != nil {
			if j != nil {
				_ = j.Close()
			}
			_ = os.RemoveAll(staged)
		}
	}()
	if err := os.Mkdir(staged, 0o700); err != nil {
		return "", nil, deadline, fmt.Errorf("make %s: %w", staged, cause(err))
	}
	for name, b := range map[string][]byte{planFile: text, guardFile: nil, holderFile: nil} { // locks too: later the disk may be full
		if err := write(filepath.Join(staged, name), b); err != nil {
			return "", nil, deadline, err
		}
	}
	j, err = journal.Create(staged, room(p))
	if errors.Is(err, journal.ErrNoRoom) {
		s.tell("%s: %v: if the disk is full later, undo restores all settings and can't note it", s.Dir, err)
		err = nil
	}
	if err != nil {
		return "", nil, deadline, err
	}
	deadline = time.Now().Add(within)
	sum := sha256.Sum256(text)
	err = s.log(j).Append(journal.Record{Step: journal.Begun, Boot: s.Boot, Deadline: deadline, DeadlineBoot: int64(s.uptime() + within), Serial: serial, Sum: hex.EncodeToString(sum[:])})
	if err == nil {
		err = os.Rename(staged, dir)
	}
	if err == nil {
		j.Moved(dir)
		err = errors.Join(journal.SyncDir(dir), journal.SyncDir(s.Dir), s.register(dir))
	}
	if err != nil {
		return "", nil, deadline, fmt.Errorf("make %s: %w", dir, err)
	}
	return dir, j, deadline, nil
}

// newFolder is one that is not there yet: after a clock step back an older one may have
// the name.
func (s *Store) newFolder() string {
	for at := time.Now().UTC(); ; at = at.Add(time.Microsecond) {
		dir := filepath.Join(s.Dir, at.Format("20060102-150405.000000"))
		_, err := os.Lstat(dir)
		if _, err2 := os.Lstat(dir + stagedSuffix); err != nil && err2 != nil {
			return dir
		}
	}
}

// nextSerial is the number of the next plan; folders that were never finished go.
func (s *Store) nextSerial() (next uint64, err error) {
	dirs, err := os.ReadDir(s.Dir)
	if err != nil {
		return 0, fmt.Errorf("list %s: %w", s.Dir, cause(err))
	}
	for _, d := range dirs {
		if d.IsDir() && strings.HasSuffix(d.Name(), stagedSuffix) {
			_ = os.RemoveAll(filepath.Join(s.Dir, d.Name()))
		}
	}
	all, err := s.All()
	for _, e := range all {
		next = max(next, e.State.Serial)
	}
	return next + 1, err
}
