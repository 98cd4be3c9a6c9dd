package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"

	"github.com/spf13/cobra"

	"snag/internal/private"
	"snag/report/page"
	"snag/report/page/streams"
	"snag/verdict"
)

// pageWriter puts a page into a file. By root it is a process of its own, begun before
// the privileges are given up: the folder may be another user's. It gets the bytes of
// the page, and knows nothing of the recording.
type pageWriter struct {
	file string
	cmd  *exec.Cmd
	in   io.WriteCloser
	said bytes.Buffer
}

const (
	pageWriterName = "write-page"
	mostPage       = 16 << 20
)

func newPageWriter(file string) (*pageWriter, error) {
	w := &pageWriter{file: file}
	if file == "" || file == "-" || os.Geteuid() != 0 {
		return w, nil
	}
	args := []string{pageWriterName}
	if private.FileMode() != 0o600 {
		args = append(args, "--shared")
	}
	w.cmd = exec.Command("/proc/self/exe", append(args, "--", file)...)
	w.cmd.Args[0] = os.Args[0]
	w.cmd.Stdout, w.cmd.Stderr = os.Stdout, &w.said // the file may be /dev/stdout
	in, err := w.cmd.StdinPipe()
	if err == nil {
		w.in = in
		err = w.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("write the page to %s: %w", file, err)
	}
	return w, nil
}

// write makes the page of a verdict.
func (w *pageWriter) write(v *verdict.Verdict) error { return w.writeWith(v, nil) }

// writeWith makes it with the single frames of streams; nil is none.
func (w *pageWriter) writeWith(v *verdict.Verdict, frames *streams.Frames) error {
	var b bytes.Buffer
	if err := page.WriteHTMLWith(&b, v, frames); err != nil {
		return err
	}
	return w.put(b)
}

// writeCompared makes it with how the recording differs from another one.
func (w *pageWriter) writeCompared(v *verdict.Verdict, c *page.Comparison) error {
	var b bytes.Buffer
	if err := page.WriteHTMLCompared(&b, v, c); err != nil {
		return err
	}
	return w.put(b)
}

// textBeside is where text goes that a page accompanies: --html - has standard output for the page alone.
func textBeside(html string) *os.File {
	if html == "-" {
		return os.Stderr
	}
	return os.Stdout
}

func (w *pageWriter) put(b bytes.Buffer) error {
	if w.file == "-" {
		_, err := os.Stdout.Write(b.Bytes())
		return err
	}
	if w.cmd == nil {
		return putPage(w.file, b.Bytes())
	}
	_, err := fmt.Fprintf(w.in, "%d\n%s", b.Len(), b.Bytes())
	err = errors.Join(err, w.in.Close(), w.cmd.Wait())
	w.cmd = nil
	if said := bytes.TrimSpace(bytes.TrimPrefix(w.said.Bytes(), []byte("snag: "))); len(said) > 0 {
		return errors.New(string(said))
	}
	return err
}

// close ends the process where it got no page.
func (w *pageWriter) close() {
	if w.cmd != nil {
		w.in.Close()
		_ = w.cmd.Wait() // it wrote nothing
	}
}

// pageWriterCommand is that process.
func pageWriterCommand() *cobra.Command {
	cmd := &cobra.Command{Use: pageWriterName + " FILE", Hidden: true, Args: cobra.ExactArgs(1), RunE: func(_ *cobra.Command, args []string) error {
		all, err := io.ReadAll(io.LimitReader(os.Stdin, mostPage))
		if err != nil {
			return err
		}
		head, body, _ := bytes.Cut(all, []byte("\n"))
		if n, err := strconv.Atoi(string(head)); err != nil || n != len(body) {
			return nil //nolint:nilerr // there was no page: whoever was to make it has said why
		}
		return putPage(args[0], body)
	}}
	registerShared(cmd)
	return cmd
}
