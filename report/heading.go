package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"snag/recording"
)

// subjectOf says of what a recording is: its host and kernel, or the files that it was
// made of and their hosts.
func subjectOf(m recording.Manifest) string {
	if len(m.Files) == 0 {
		return m.Host + " · kernel " + m.Kernel
	}
	var hosts, formats, names []string
	for _, f := range m.Files {
		if !slices.Contains(names, f.Name) { // one may be of several hosts
			names = append(names, f.Name)
		}
		if f.Host != "" && !slices.Contains(hosts, f.Host) {
			hosts = append(hosts, f.Host)
		}
		if !slices.Contains(formats, f.Format) {
			formats = append(formats, f.Format)
		}
	}
	text := ""
	switch {
	case len(hosts) > 1:
		text = fmt.Sprintf("%d hosts: %s · ", len(hosts), few(hosts))
	case len(hosts) == 1:
		text = hosts[0] + " · "
	}
	if len(hosts) == 1 && m.Kernel != "" {
		text += "kernel " + m.Kernel + " · "
	}
	if len(names) == 1 {
		return text + filepath.Base(names[0]) + " (" + formats[0] + ")"
	}
	return text + fmt.Sprintf("%d files (%s)", len(names), few(formats))
}

func few(names []string) string {
	if len(names) > 4 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
	}
	return strings.Join(names, ", ")
}

// lengthWord: a host is recorded for a while, files hold one.
func lengthWord(m recording.Manifest) string {
	if len(m.Files) > 0 {
		return ""
	}
	return " recorded"
}

// spanOf is when it was. Of files, which may be of any day, with the date.
func spanOf(m recording.Manifest) string {
	day := ""
	if len(m.Files) > 0 {
		day = "2006-01-02 "
	}
	end := "15:04:05"
	if day != "" && m.Start.Wall().Format(day) != m.End.Wall().Format(day) {
		end = day + end
	}
	return m.Start.Wall().Format(day+"15:04:05") + "–" + m.End.Wall().Format(end) + " UTC"
}

// filesText lists the files with their times, and what was guessed of each.
func filesText(m recording.Manifest) (out [][2]string) {
	for _, f := range m.Files {
		text := f.Format
		if f.Host != "" {
			text += " of " + f.Host
		}
		if f.First != 0 {
			text += ", " + spanOf(recording.Manifest{Start: f.First, End: f.Last, Files: m.Files[:1]})
		} else {
			text += ", without times"
		}
		for _, d := range f.Doubts {
			text += "; " + d
		}
		out = append(out, [2]string{f.Name, text})
	}
	return out
}
