package post

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"

	"golang.org/x/net/http/httpguts"
)

const mostHeaders = 64 << 10 // bytes of a file

// ours are the headers that the protocols set.
var ours = map[string]bool{"User-Agent": true, "X-Prometheus-Remote-Write-Version": true, "Content-Type": true, "Content-Length": true, "Content-Encoding": true, "Transfer-Encoding": true, "Host": true, "Connection": true}

// Headers reads headers: each text is one as "Name: value", or @FILE, a file with one in each line; its empty lines and
// those that begin with # are skipped. No error has a value: values are secrets.
func Headers(texts []string) (http.Header, error) {
	out := http.Header{}
	for _, text := range texts {
		file, is := strings.CutPrefix(text, "@")
		if !is {
			if err := addHeader(out, text); err != nil {
				return nil, err
			}
			continue
		}
		b, err := ReadSmall(file)
		if err != nil {
			return nil, fmt.Errorf("read the headers: %w", err)
		}
		n := 0
		for line := range strings.Lines(string(b)) {
			n++
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			if err := addHeader(out, line); err != nil {
				return nil, fmt.Errorf("read the headers: %s, line %d: %w", file, n, err)
			}
		}
	}
	return out, nil
}

func addHeader(to http.Header, text string) error {
	name, value, found := strings.Cut(text, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch {
	case !found || !httpguts.ValidHeaderFieldName(name):
		return fmt.Errorf("not a header: write it as 'Name: value', or as @FILE, a file with one in each line")
	case !httpguts.ValidHeaderFieldValue(value) || value == "":
		return fmt.Errorf("the value of %s is empty or has characters that no header can have", name)
	case ours[http.CanonicalHeaderKey(name)]:
		return fmt.Errorf("%s is set by snag itself: leave it out", http.CanonicalHeaderKey(name))
	}
	to.Add(name, value)
	return nil
}

// ReadSmall reads a file of at most 64 KB, as one with secrets is. A FIFO does not make it wait.
func ReadSmall(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostHeaders+1))
	if err == nil && len(b) > mostHeaders {
		err = fmt.Errorf("%s has more than %d bytes: is it the right file?", path, mostHeaders)
	}
	return b, err
}

// Token reads a file that has one token. No error has it.
func Token(path string) (string, error) {
	b, err := ReadSmall(path)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if token == "" || strings.ContainsAny(token, "\r\n") || !httpguts.ValidHeaderFieldValue(token) {
		return "", fmt.Errorf("read the token: %s is to have one line, the token", path)
	}
	return token, nil
}
