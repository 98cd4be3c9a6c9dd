package jvm

import (
	"strings"
	"syscall"
	"testing"
)

func TestCatches(t *testing.T) {
	for status, want := range map[string]bool{
		"Name:\tjava\nSigIgn:\t0000000000000002\nSigCgt:\t0000000101005ccd\nx": true,
		"Name:\tsleep\nSigIgn:\t0000000000000004\nSigCgt:\t0000000000000000\n": false,
		"Name:\tx\n":       false,
		"\nSigCgt:\tzz\nx": false,
	} {
		if got := catches(status, syscall.SIGQUIT); got != want {
			t.Errorf("%q: %v", status, got)
		}
	}
}

func TestWhatJcmdSaysFirst(t *testing.T) {
	out := "4711:\ncom.sun.tools.attach.AttachNotSupportedException: no\n\tat x.y(z)\n"
	if got := firstLine([]byte(out)); !strings.HasPrefix(got, "com.sun") {
		t.Errorf("%q", got)
	}
	if got := firstLine(nil); got != "it said nothing" {
		t.Errorf("%q", got)
	}
}
