package objects

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"snag/internal/private"
	"snag/recorder"
)

// sent is which incidents of a ring a store has. It is a small file in the ring's folder, written at once or not at all
// after each incident, so that a recorder that was killed goes on where it was.
type sent struct {
	file string
	// Store is whose it is: another one has nothing yet.
	Store     string      `json:"store"`
	Incidents map[int]one `json:"incidents"` // by their number in the ring
}

const sentFile = "incidents-sent.json"

// readSent reads the file. One that is damaged counts as none: incidents are sent again.
func readSent(dir, store string) (*sent, error) {
	s := &sent{file: filepath.Join(dir, sentFile)}
	b, err := os.ReadFile(s.file)
	if err == nil {
		err = json.Unmarshal(b, s)
	}
	if err != nil || s.Store != store || s.Incidents == nil {
		s.Store, s.Incidents = store, map[int]one{}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read which incidents were sent: %w: all are sent again", err)
	}
	return s, nil
}

func (s *sent) save() error {
	b, err := json.MarshalIndent(s, "", " ")
	if err == nil {
		err = private.Write(s.file, append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep which incidents were sent: %w: after a restart some are sent again", err)
	}
	return nil
}

// match makes the incidents those of the ring. It returns the names of those that are gone and that the store does not
// have to their end, and whether anything changed. gone reports whether an incident that could not be read is gone.
func (s *sent) match(host string, all []recorder.Incident, gone func(id int) bool) (lost []string, changed bool) {
	there := map[int]bool{}
	for _, i := range all {
		there[i.ID] = true
		name := nameOf(host, i)
		o, known := s.Incidents[i.ID]
		if known && o.Name == name {
			continue
		}
		if known && !o.Over {
			lost = append(lost, o.Name)
		}
		s.Incidents[i.ID], changed = one{Name: name}, true
	}
	for id, o := range s.Incidents {
		if there[id] || !gone(id) {
			continue
		}
		if !o.Over {
			lost = append(lost, o.Name)
		}
		delete(s.Incidents, id)
		changed = true
	}
	return lost, changed
}
