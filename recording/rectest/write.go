package rectest

import (
	"fmt"

	"snag/recording"
)

// Write makes a recording's folder out of a case's file.
func Write(file, dir string) error {
	c, err := Load(file)
	if err != nil {
		return err
	}
	r := c.Recording
	w, err := recording.Create(dir, r.Manifest, recording.Options{})
	if err != nil {
		return err
	}
	for _, name := range recording.TableNames() {
		rows, _ := r.Rows(name)
		for _, row := range rows {
			w.Append(row)
		}
	}
	for _, s := range r.Series {
		for _, p := range s.Points {
			w.Sample(p.T, s.Name, s.Labels, p.V)
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("write %s as a recording: %w", file, err)
	}
	return nil
}
