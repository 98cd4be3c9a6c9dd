package agent

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"snag/report"
)

// mostKept recordings have an ID at a time. Those that the server made and that are beyond that are removed: an agent
// that records again and again must not fill the disk.
const mostKept = 20

// kept is a recording that this session knows.
type kept struct {
	ID, Path string
	Of       string // what it is of, for a list of resources
	Own      bool   // the server made the folder
	Verdict  *report.Document
}

// recordings are those of the session, oldest first.
type recordings struct {
	mu      sync.Mutex
	all     []*kept
	last    int
	changed chan struct{} // has room for one
}

// add gives a recording an ID; one that is known keeps its own, and takes the new verdict.
func (r *recordings) add(path, of string, own bool, verdict *report.Document) *kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, k := range r.all {
		if k.Path == path {
			again := *k // who has the old one reads it
			again.Of, again.Verdict = of, verdict
			r.all[i] = &again
			return &again
		}
	}
	r.last++
	k := &kept{fmt.Sprintf("r%d", r.last), path, of, own, verdict}
	r.all = append(r.all, k)
	if len(r.all) > mostKept {
		if old := r.all[0]; old.Own {
			_ = os.RemoveAll(old.Path) // a folder that this process made
		}
		r.all = r.all[1:]
	}
	select {
	case r.changed <- struct{}{}:
	default:
	}
	return k
}

func (r *recordings) list() []*kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*kept{}, r.all...)
}

func (r *recordings) byID(id string) *kept {
	for _, k := range r.list() {
		if k.ID == id {
			return k
		}
	}
	return nil
}

// path is where a recording is that a client names by its ID or its path.
func (r *recordings) path(name string) (string, error) {
	if k := r.byID(strings.TrimPrefix(name, scheme)); k != nil {
		return k.Path, nil
	}
	return recordingAt(name)
}

// folder makes a folder for a recording, and returns what removes it again.
func (d *desk) folder() (dir string, remove func(), err error) {
	dir, err = d.NewFolder()
	return dir, func() { _ = os.RemoveAll(dir) }, err
}

// duration reads a time as the commands do, so that progress is known; 0 where they will refuse it.
func duration(text string, otherwise time.Duration) time.Duration {
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}
