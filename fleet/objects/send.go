package objects

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"snag/recorder"
	"snag/recording"
)

// packTime is how long packing a closer look may take.
const packTime = 2 * time.Minute

// source is a file of the ring, and what it is called beside the document.
type source struct{ file, as string }

// send sends one incident: its files, then its document.
func (s *Sender) send(ctx context.Context, i recorder.Incident, over bool) error {
	d := Document{Version: version, Name: nameOf(s.host, i), Host: s.host, Snag: s.p.Snag, Incident: i}
	files, done, err := s.files(ctx, i, &d)
	defer done()
	if err != nil {
		return err
	}
	sum := int64(0)
	for _, f := range files {
		n, err := s.put(ctx, f, &d)
		if err != nil {
			return err
		}
		sum += n
	}
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	if s.gone(i.ID) { // while it was sent: it may be half of what it was
		return nil
	}
	err = s.p.Store.Put(ctx, path.Join(d.Name, documentFile), bytes.NewReader(b), int64(len(b)))
	var f *Failed
	if errors.As(err, &f) && f.Refused {
		s.refused(f)
	} else if err != nil {
		return err
	} else {
		s.add(func(c *Counts) { c.Sent++; c.Bytes += sum + int64(len(b)) })
	}
	o := s.sent.Incidents[i.ID]
	s.sent.Incidents[i.ID] = one{Name: o.Name, Sent: o.Sent + 1, Verdict: verdictOf(i), Over: over}
	s.save()
	return nil
}

// put sends one file, and writes into the document that it is there or why not. An error says that the store is to be
// asked again.
func (s *Sender) put(ctx context.Context, from source, d *Document) (size int64, err error) {
	r, st, err := open(from.file)
	if err != nil { // so it stays; the others and the document are worth sending
		d.LeftOut = append(d.LeftOut, from.as+": "+err.Error())
		return 0, nil
	}
	defer r.Close()
	err = s.p.Store.Put(ctx, path.Join(d.Name, from.as), r, st.Size())
	var f *Failed
	if errors.As(err, &f) && f.Refused {
		d.LeftOut = append(d.LeftOut, from.as+": the store refused it: "+f.Why)
		s.refused(f)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	d.Files = append(d.Files, from.as)
	return st.Size(), nil
}

func open(file string) (*os.File, os.FileInfo, error) {
	r, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	st, err := r.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", file)
	}
	if err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	return r, st, nil
}

func (s *Sender) refused(f *Failed) {
	s.add(func(c *Counts) { c.Refused++ })
	s.note(f.Error() + "; it is not sent again")
}

// files are those of an incident. done removes what was made for it.
func (s *Sender) files(ctx context.Context, i recorder.Incident, d *Document) (out []source, done func(), err error) {
	ring := s.p.Ring
	rec := ring.Recording(i.ID)
	out, done = []source{{rec, recordingFile}}, func() {}
	earlier, err := recording.EarlierFiles(rec)
	if err != nil {
		return nil, done, err
	}
	for _, file := range earlier {
		if as := path.Join(earlierDir, filepath.Base(file)); fileForm.MatchString(as) {
			out = append(out, source{file, as})
		}
	}
	look := ring.Look(i.ID)
	if _, err := os.Stat(look); err != nil {
		return out, done, nil //nolint:nilerr // there was none
	}
	packed := filepath.Join(ring.Dir, packedLook)
	within, cancel := context.WithTimeout(ctx, packTime)
	defer cancel()
	err = s.p.Pack(within, look, packed)
	switch {
	case ctx.Err() != nil:
		return out, done, ctx.Err()
	case err != nil: // a look that cannot be read stays so
		d.LeftOut = append(d.LeftOut, lookFile+": "+err.Error())
		return out, done, nil
	}
	return append(out, source{packed, lookFile}), func() { _ = os.Remove(packed) }, nil // the next one replaces it
}

// packedLook is where a closer look is packed before it is sent, in the ring's folder.
const packedLook = "incidents-look.snag"
