package remotewrite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// outbox keeps requests that no server has taken yet: a file each, in a folder beside the ring's pieces. It outlives
// the process, and who can't write to it goes on without.
type outbox struct {
	dir  string
	most int64 // bytes
}

const requestSuffix = ".write"

// add keeps a request, and returns how many of the oldest had to go for it.
func (o outbox) add(ms int64, body []byte) (lost int, err error) {
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return 0, fmt.Errorf("keep what is to be sent: %w", err)
	}
	name := filepath.Join(o.dir, fmt.Sprintf("%015d%s", ms, requestSuffix))
	// A torn one is never seen: the name comes last.
	if err := os.WriteFile(name+".new", body, 0o600); err != nil {
		return 0, errors.Join(fmt.Errorf("keep what is to be sent: %w", err), os.Remove(name+".new"))
	}
	if err := os.Rename(name+".new", name); err != nil {
		return 0, fmt.Errorf("keep what is to be sent: %w", err)
	}
	return o.shrink()
}

// shrink removes the oldest above the size.
func (o outbox) shrink() (lost int, err error) {
	all, size, err := o.list()
	for _, name := range all {
		if size <= o.most || err != nil {
			break
		}
		st, statErr := os.Stat(name)
		if statErr == nil {
			size -= st.Size()
		}
		if err = os.Remove(name); err == nil {
			lost++
		}
	}
	return lost, err
}

// list returns the files, oldest first, and their size.
func (o outbox) list() (all []string, size int64, err error) {
	entries, err := os.ReadDir(o.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read what is to be sent: %w", err)
	}
	for _, e := range entries {
		number, is := strings.CutSuffix(e.Name(), requestSuffix)
		if _, err := strconv.ParseInt(number, 10, 64); !is || err != nil || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
		all = append(all, filepath.Join(o.dir, e.Name()))
	}
	slices.Sort(all)
	return all, size, nil
}
