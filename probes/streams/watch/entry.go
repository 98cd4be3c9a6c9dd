package watch

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Entry is one stream that somebody wants watched.
type Entry struct {
	Name      string // as a person calls it; cleaned, never empty
	URL       *url.URL
	Threshold time.Duration // no frame for so long is a freeze; 0: by the stream's own frame rate
	Layer     string        // ingest, origin, edge; "" where there are no layers
	Labels    Labels        // what it is grouped by; nil: none
	From      string        // who asked: "the command line", "cams.txt:12", "nginx http://…/stat"

	places *places // that its layer is one of; nil where there are no layers
}

// key tells entries apart: the same URL under the same layer is the same stream.
func (e Entry) key() string { return e.Layer + " " + e.URL.String() }

// Bounds of a threshold that is asked for: below, every stream on a busy machine
// is frozen (healthy ones show gaps of 0.35 s); above, nobody waits.
const (
	minThreshold = 300 * time.Millisecond
	maxThreshold = 10 * time.Minute
)

// NewEntry makes an entry of a URL as a person writes it.
func NewEntry(raw, from string) (Entry, error) {
	if len(raw) > maxURL {
		return Entry{}, fmt.Errorf("the URL is %d bytes long, more than %d", len(raw), maxURL)
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil: // url's own error quotes all of it, credentials too
		return Entry{}, fmt.Errorf("%s is not a URL: it holds a space, a control character or a broken %%-escape, or its port is not a number", Clean(hideUser(raw), 80))
	case u.Scheme == "":
		return Entry{}, fmt.Errorf("%s has no protocol: write rtmp://…, rtsp://…, http://….m3u8, udp://…", Clean(raw, 80))
	case u.Host == "" && u.Opaque == "" && strings.Trim(u.Path, "/") == "":
		return Entry{}, fmt.Errorf("%s names no server", Clean(hideUser(raw), 80))
	}
	return Entry{Name: nameOf(u), URL: u, From: from}, nil
}

// hideUser takes what stands before an @ out of something that may be a URL, and
// what follows a question mark.
func hideUser(raw string) string {
	raw, _, asked := strings.Cut(raw, "?")
	if asked {
		raw += "?…"
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		scheme, rest = "", raw
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = "…" + rest[at:]
	}
	if !ok {
		return rest
	}
	return scheme + "://" + rest
}

// nameOf is what a URL's stream is called where nobody gave it a name.
func nameOf(u *url.URL) string {
	name := strings.Trim(u.Path, "/")
	if name == "" {
		name = u.Host + u.Opaque
	}
	return Clean(name, maxName)
}

// set takes one field=value of a list's line.
func (e *Entry) set(field string) error {
	key, value, ok := strings.Cut(field, "=")
	switch {
	case !ok:
		return fmt.Errorf("%q is not a field: after the URL come name=…, threshold=… and label.KEY=…", Clean(field, 40))
	case key == "name" && strings.TrimSpace(value) == "":
		return fmt.Errorf("name= is empty")
	case key == "name":
		e.Name = Clean(strings.TrimSpace(value), maxName)
		return nil
	case key == "threshold":
		d, err := seconds(value)
		if err != nil {
			return fmt.Errorf("threshold=%s: %w", Clean(value, 40), err)
		}
		e.Threshold = d
		return nil
	case strings.HasPrefix(key, "label."):
		return e.label(strings.TrimPrefix(key, "label."), value)
	}
	return fmt.Errorf("there is no field %s=: there are name=, threshold= and label.KEY=", Clean(key, 40))
}

// seconds reads 1.5, 1.5s or 800ms.
func seconds(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		f, ferr := strconv.ParseFloat(s, 64)
		if ferr != nil || !(f >= 0 && f < 1e6) {
			return 0, fmt.Errorf("it is a number of seconds, or a length as 1.5s or 800ms")
		}
		d = time.Duration(f * float64(time.Second))
	}
	if d < minThreshold || d > maxThreshold {
		return 0, fmt.Errorf("from %s to %s", minThreshold, maxThreshold)
	}
	return d, nil
}
