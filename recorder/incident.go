package recorder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"snag/internal/private"
	"snag/recording"
)

// Incident is a period in which clients or streams were affected.
type Incident struct {
	ID    int       `json:"id"` // from 1
	Start time.Time `json:"start"`
	End   time.Time `json:"end,omitzero"` // zero: not over, or the recorder stopped first
	// Noticed is why the trigger fired; "" if the periodic judgement found it.
	Noticed string `json:"noticed,omitempty"`
	Finding
	Judgements int `json:"judgements"`
	// Known are the streams that were still wrong when it ended: they start no other until they are well.
	Known []string `json:"known_streams,omitempty"`
}

// Finding is the short form of a verdict.
type Finding struct {
	Standing string  `json:"standing"` // docs/json.md
	Hurt     bool    `json:"hurt"`
	Culprits []Named `json:"culprits,omitempty"` // in the order of the verdict
	// Looked: the closer look proved the culprits, the recording alone did not.
	Looked   bool    `json:"looked,omitempty"`
	Symptoms []Named `json:"symptoms,omitempty"`
}

// Named is a culprit or a symptom: its name in the catalogue, its subject and its text.
type Named struct {
	Name    string `json:"name"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	Harm    string `json:"harm,omitempty"` // of a culprit: what it cost; "" if nobody can tell
	// Beyond is the address of another host that a culprit's cause is at or behind; "" of one on this host.
	Beyond string `json:"beyond,omitempty"`
}

// GroupKey is equal for incidents with the same culprits or, without a culprit, the same symptoms.
func (i Incident) GroupKey() string {
	all := i.Culprits
	if len(all) == 0 {
		all = i.Symptoms
	}
	var names []string
	for _, n := range all {
		names = append(names, n.Name)
	}
	slices.Sort(names)
	return fmt.Sprint(len(i.Culprits) > 0, slices.Compact(names))
}

const (
	incidentsDir  = "incidents"
	incidentFile  = "incident.json"
	recordingFile = "recording" + suffix
	mostIncidents = 500
	incidentsPart = 4 // incidents take at most 1/4 of the ring's size
)

func (r Ring) folder(id int) string {
	return filepath.Join(r.Dir, incidentsDir, fmt.Sprintf("%06d", id))
}

// Recording is the path of an incident's recording.
func (r Ring) Recording(id int) string { return filepath.Join(r.folder(id), recordingFile) }

// Incidents returns the saved incidents, oldest first. Unreadable ones are skipped and named in the
// error.
func (r Ring) Incidents() ([]Incident, error) {
	if _, err := os.Stat(r.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil, &NoneError{r.Dir}
	}
	entries, err := os.ReadDir(filepath.Join(r.Dir, incidentsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the incidents: %w", err)
	}
	var out []Incident
	var errs []error
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil || !e.IsDir() {
			continue
		}
		i, err := r.Incident(id)
		switch {
		case errors.Is(err, fs.ErrNotExist): // its first judgement is in progress
		case err != nil:
			errs = append(errs, err)
		default:
			out = append(out, i)
		}
	}
	return out, errors.Join(errs...)
}

// Incident reads one.
func (r Ring) Incident(id int) (i Incident, err error) {
	name := filepath.Join(r.folder(id), incidentFile)
	b, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(b, &i)
	}
	if err == nil && i.ID != id {
		err = fmt.Errorf("it is of incident %d", i.ID)
	}
	if err != nil {
		return i, fmt.Errorf("read incident %d (%s): %w", id, name, err)
	}
	return i, nil
}

func (r Ring) put(i Incident) error {
	b, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return err
	}
	if err := private.Write(filepath.Join(r.folder(i.ID), incidentFile), append(b, '\n')); err != nil {
		return fmt.Errorf("note incident %d: %w", i.ID, err)
	}
	return nil
}

// nextIncident creates the folder of a new incident.
func (r Ring) nextIncident() (int, error) {
	entries, err := os.ReadDir(filepath.Join(r.Dir, incidentsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("note an incident: %w", err)
	}
	id := 1
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			id = max(id, n+1)
		}
	}
	if err := os.MkdirAll(r.folder(id), private.FolderMode()); err != nil {
		return 0, fmt.Errorf("note an incident: %w", err)
	}
	return id, nil
}

// forget deletes the oldest incidents if there are too many or they take too much space.
func (r Ring) forget(size int64) error {
	entries, err := os.ReadDir(filepath.Join(r.Dir, incidentsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove old incidents: %w", err)
	}
	sum := int64(0)
	for n := range entries {
		e := entries[len(entries)-1-n] // newest first
		dir := filepath.Join(r.Dir, incidentsDir, e.Name())
		if sum += folderSize(dir); n > 0 && (n >= mostIncidents || sum > size) {
			if err := os.RemoveAll(dir); err != nil {
				return fmt.Errorf("remove old incidents: %w", err)
			}
		}
	}
	return nil
}

func wall(t recording.Time) time.Time { return t.Wall() }
