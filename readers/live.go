package readers

import (
	"os"
	"path/filepath"

	"snag/readers/reader"
	"snag/recording"
)

// isRecording reports whether a path is a recording of snag's: its folder, or packed.
func isRecording(path string) bool {
	st, err := os.Stat(path)
	if err != nil {
		return false
	}
	if st.IsDir() {
		_, err := os.Lstat(filepath.Join(path, "manifest.json"))
		return err == nil
	}
	return st.Mode().IsRegular() && filepath.Ext(path) == ".snag"
}

// takeRecording joins a recording of snag's own: each of its parts is a source.
func (in *intake) takeRecording(path string, r *recording.Recording, asked settings, clocks hostClocks) {
	parts := r.Parts
	if len(parts) == 0 {
		parts = []*recording.Recording{r}
	}
	for _, p := range parts {
		m := p.Manifest
		s := in.add(&source{name: path, format: "recording", host: m.Host, live: &m, zone: guess{sure: true}})
		clocks.tell(s, path)
		if host := asked.hostOf(path); host != "" {
			s.host, s.asked = host, true
		} else if m.Host == "files" && len(m.Files) > 0 {
			s.host = ""
		}
		k := in.sink(s)
		told := reader.Told{First: m.Start, Last: m.End, Coverage: p.Coverage}
		for _, name := range recording.TableNames() {
			if name == "coverage" {
				continue
			}
			rows, _ := p.Rows(name)
			for _, row := range rows {
				k.Append(row)
			}
		}
		for _, series := range p.Series {
			for _, point := range series.Points {
				k.Sample(point.T, series.Name, series.Labels, point.V)
			}
		}
		k.ended(told, nil)
		s.doubts = append(s.doubts, r.Damage...)
	}
}
