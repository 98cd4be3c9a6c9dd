package readers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"snag/internal/units"
	"snag/readers/reader"
)

// openOne opens a file, and stops waiting when ctx ends: a pipe without a writer
// is waited for.
func openOne(ctx context.Context, path string, head int) (*reader.Input, error) {
	type opened struct {
		in  *reader.Input
		err error
	}
	done := make(chan opened, 1)
	go func() {
		in, err := reader.OpenHead(path, head)
		done <- opened{in, err}
	}()
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("read %s: stopped while it was opened", path)
	case o := <-done:
		return o.in, o.err
	}
}

// headOf bounds what is held of the beginnings of many files.
func headOf(files int) int {
	if files > 64 {
		return reader.HeadSize / 8
	}
	return reader.HeadSize
}

// packers are what snag does not unpack, by their first bytes, and the command that
// does.
var packers = []struct{ magic, name, command string }{
	{"\xfd7zXZ\x00", "xz", "xz -dc"},
	{"BZh", "bzip2", "bzip2 -dc"},
	{"\x04\x22\x4d\x18", "lz4", "lz4 -dc"},
	{"\x1f\x9d", "compress", "gzip -dc"},
	{"PK\x03\x04", "zip", "unzip -p"},
}

// formatOf tells by a file's beginning what it is, or why it can't be read.
func formatOf(head []byte) (f reader.Format, why string) {
	if len(head) == 0 {
		return f, "it is empty"
	}
	for _, p := range packers {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return f, fmt.Sprintf("it is packed by %s: give what it holds (%s FILE | snag read -)", p.name, p.command)
		}
	}
	if len(head) > 262 && string(head[257:262]) == "ustar" { // POSIX.1 pax, "ustar Interchange Format"
		return f, "it is a tar archive: unpack it and give the files in it"
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) { // a byte order mark
		return f, "it is text in UTF-16: iconv -f UTF-16 -t UTF-8 FILE | snag read -"
	}
	for _, f := range Formats {
		if f.Sniff(head) {
			return f, ""
		}
	}
	return f, "unrecognised format (snag read --help lists what it reads)"
}

// doubts says what of one file, or of a set, is not in the recording.
func doubts(set []file, told reader.Told, err error) (out []string) {
	path := nameOf(set)
	if len(set) > 1 && path == set[0].in.Path {
		path = fmt.Sprintf("%s and %d more of its set", path, len(set)-1)
	}
	all := single(err)
	if err == nil { // it took what there was for all
		for _, f := range set {
			if err := f.in.Err(); err != nil {
				all = append(all, err)
			}
		}
	}
	for _, err := range all {
		var torn *reader.Torn
		switch {
		case errors.Is(err, context.Canceled):
			done, all := sizes(set)
			text := units.Bytes(float64(done))
			if all > 0 {
				text = fmt.Sprintf("%s of %s", text, units.Bytes(float64(all)))
			}
			out = append(out, fmt.Sprintf("read %s: stopped after %s: what comes behind it is not judged", path, text))
		case errors.As(err, &torn):
			text := fmt.Sprintf("%v: what comes before is judged", err)
			if told.Lines > 0 {
				text += fmt.Sprintf(", %s lines", units.Count(float64(told.Lines)))
			}
			out = append(out, text)
		default:
			out = append(out, err.Error())
		}
	}
	for _, f := range set {
		if changed := f.in.Changed(); changed != "" {
			out = append(out, fmt.Sprintf("read %s: %s", f.in.Path, changed))
		}
	}
	if 2*told.Foreign > told.Lines {
		out = append(out, fmt.Sprintf("read %s: %s of its %s lines are not of that format (%s), or damaged: they are not judged", path, units.Count(float64(told.Foreign)), units.Count(float64(told.Lines)), set[0].format.Name))
	}
	for _, text := range told.Doubts {
		out = append(out, fmt.Sprintf("read %s: %s", path, text))
	}
	return out
}

// single takes joined errors apart: several files of a set can be damaged.
func single(err error) []error {
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()
	}
	return []error{err}
}

// mostUnread sentences are kept; of further files their number is.
const mostUnread = 20

func shorten(unread []string) []string {
	if n := len(unread) - mostUnread; n > 0 {
		return append(unread[:mostUnread:mostUnread], fmt.Sprintf("and %d more files could not be read, or not to their end", n))
	}
	return unread
}

// named has an error name the file that it is of.
func named(path string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || strings.Contains(err.Error(), path) {
		return err
	}
	return fmt.Errorf("read %s: %w", path, err)
}
