package watch

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// How a webhook that fails is posted again.
const (
	firstRepeat = time.Second      // after the first request; doubled with each
	mostRepeat  = 16 * time.Second // … up to this
	lastRepeat  = time.Minute      // after the first request none is begun
)

// unreached is a request without an answer. What it quotes of the URL is not shown.
type unreached struct{ err error }

func (e *unreached) Error() string { return Clean(bare(e.err).Error(), maxShownWhy) }

// answered is an answer that is no yes.
type answered struct {
	code       int
	status     string
	said       string
	retryAfter string // the header's value
}

func (e *answered) Error() string {
	if e.said == "" {
		return "it answered " + e.status
	}
	return fmt.Sprintf("it answered %s: %s", e.status, e.said)
}

// again reports whether to post again may help: not where the server says that the
// request is wrong, nor where it is not the one that is meant.
func again(err error) bool {
	var a *answered
	if errors.As(err, &a) {
		return a.code == http.StatusTooManyRequests || a.code/100 == 5
	}
	var u *unreached
	var cert *tls.CertificateVerificationError
	return errors.As(err, &u) && !errors.As(u.err, &cert)
}

// repeat says how long to wait before what failed as the nth request is posted again;
// left is what is left of the time for all of them, and why is set where that is too
// little. spread, from 0 to 1, keeps many who fail together from coming together.
func repeat(err error, n int, first, left time.Duration, now time.Time, spread float64) (wait time.Duration, why string) {
	wait = min(first<<min(n-1, 10), mostRepeat)
	wait = wait/2 + time.Duration(spread*float64(wait/2))
	var a *answered
	if errors.As(err, &a) {
		if asked := retryAfter(a.retryAfter, now); asked > max(left, 0) {
			return 0, fmt.Sprintf("it asks to wait for %s, longer than is left", short(asked))
		} else if asked > wait {
			wait = asked
		}
	}
	if wait > left {
		return 0, "the time for it is over"
	}
	return wait, ""
}

// retryAfter reads the header: seconds, or a date. What can't be read asks for nothing.
func retryAfter(value string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(value, 10, 32); err == nil {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(value); err == nil {
		return max(t.Sub(now), 0)
	}
	return 0
}
