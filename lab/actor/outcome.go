package actor

import (
	"errors"
	"net"
	"os"

	"snag/lab/clientlog"
)

func hangUp(c net.Conn) {
	if c != nil {
		c.Close()
	}
}

// outcome of a request: no answer in time is another harm than a refusal.
func outcome(err error) clientlog.Outcome {
	switch {
	case err == nil:
		return clientlog.OK
	case errors.Is(err, os.ErrDeadlineExceeded):
		return clientlog.Lost
	}
	return clientlog.Failed
}
