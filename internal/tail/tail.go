// Package tail keeps the end of what a command prints: that is where it says why it
// ended, and a command that prints for hours must not take memory for it.
package tail

import "strings"

// Buffer is an io.Writer. Its zero value keeps nothing: Most says how many bytes.
type Buffer struct {
	Most int
	b    []byte
	cut  bool
}

// Write implements io.Writer. It cuts when there is twice as much as is kept, so that a
// byte is moved once.
func (t *Buffer) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if len(t.b) > 2*t.Most {
		t.cutOff()
	}
	return len(p), nil
}

func (t *Buffer) cutOff() {
	if over := len(t.b) - t.Most; over > 0 {
		t.b, t.cut = append(t.b[:0], t.b[over:]...), true
	}
}

// Bytes are the last Most that were written, until the next Write.
func (t *Buffer) Bytes() []byte {
	t.cutOff()
	return t.b
}

// Cut reports whether there were more.
func (t *Buffer) Cut() bool {
	t.cutOff()
	return t.cut
}

// String is the same as text, without blanks at its ends.
func (t *Buffer) String() string {
	return strings.TrimSpace(strings.ToValidUTF8(string(t.Bytes()), "�"))
}
