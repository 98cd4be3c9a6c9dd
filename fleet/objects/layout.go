package objects

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"snag/recorder"
)

// An incident is a folder of the store, HOST/TIME-ID, as edge-7/20261128T141728Z-7: its host, when it began and its
// number there. In it are the document, the recording, what is kept beside it, and the closer look if there is one. The
// document comes last, so that all it names is there before it.
const (
	documentFile  = "incident.json"
	recordingFile = "recording.snag"
	earlierDir    = "recording.snag.earlier"
	lookFile      = "look.snag"
)

const timeForm = "20060102T150405Z"

// Document is incident.json.
type Document struct {
	Version int    `json:"version"` // 1
	Name    string `json:"name"`    // HOST/TIME-ID
	Host    string `json:"host"`
	Snag    string `json:"snag"` // the version that sent it
	// Files are those beside the document: the recording, recordings of earlier times to compare with, the closer look.
	Files []string `json:"files"`
	// LeftOut says which files are not there, and why.
	LeftOut []string `json:"left_out,omitempty"`
	recorder.Incident
}

const version = 1

// HostName is a host's name as the names of objects have it: characters that need an escape in a URL are _.
func HostName(text string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", r) {
			return r
		}
		return '_'
	}, text)
	if name == "" || name[0] == '.' {
		name = "_" + strings.TrimPrefix(name, ".")
	}
	return name[:min(len(name), mostHostName)]
}

const mostHostName = 253 // of DNS

func nameOf(host string, i recorder.Incident) string {
	return fmt.Sprintf("%s/%s-%d", host, i.Start.UTC().Format(timeForm), i.ID)
}

// Found is an incident in a store.
type Found struct {
	Name, Host string // Name is HOST/TIME-ID
	Start      time.Time
	ID         int
}

var (
	nameForm = regexp.MustCompile(`^([A-Za-z0-9_-][A-Za-z0-9._-]{0,252})/([0-9]{8}T[0-9]{6}Z)-([0-9]{1,9})$`)
	fileForm = regexp.MustCompile(`^(recording\.snag|recording\.snag\.earlier/[0-9]{1,3}\.snag|look\.snag)$`)
)

// ParseName reads HOST/TIME-ID.
func ParseName(text string) (Found, bool) {
	m := nameForm.FindStringSubmatch(text)
	if m == nil {
		return Found{}, false
	}
	start, err := time.Parse(timeForm, m[2])
	id, idErr := strconv.Atoi(m[3])
	return Found{Name: text, Host: m[1], Start: start, ID: id}, err == nil && idErr == nil
}
