package trial

import (
	"context"
	"errors"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"snag/load"
)

type handshakeError struct{ error }

func (e *handshakeError) Unwrap() error { return e.error }

// kindOf says why an attempt failed.
func kindOf(p parts, err error) string {
	var handshake *handshakeError
	var late net.Error
	switch {
	case errors.Is(err, unix.ECONNREFUSED):
		return string(load.Refused)
	case errors.Is(err, unix.ECONNRESET), errors.Is(err, unix.EPIPE):
		return string(load.Reset)
	case errors.Is(err, io.EOF):
		return string(load.Closed)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), errors.As(err, &late) && late.Timeout():
		if p.connect == 0 {
			return string(load.NoConnect)
		}
		return string(load.NoAnswer)
	case errors.As(err, &handshake):
		return "TLS handshake: " + handshake.Error()
	}
	return err.Error()
}
