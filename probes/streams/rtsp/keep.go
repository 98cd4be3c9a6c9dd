package rtsp

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"snag/internal/httpauth"
)

// keeper keeps the session alive (RFC 2326 10.8): a server ends one that it does
// not hear of for its timeout, even while packets flow over UDP.
type keeper struct {
	*play
	next    time.Time
	asked   time.Time // when the oldest request without an answer was sent; 0: none
	options bool      // GET_PARAMETER is not known there
	again   bool      // a new nonce was given: asked once more already
}

// keep sends a request when it is time, half the timeout after the last.
func (k *keeper) keep(now time.Time) error {
	if !k.asked.IsZero() && now.Sub(k.asked) > k.timeout {
		return fmt.Errorf("the keep-alive was not answered for %s", k.timeout)
	}
	if now.Before(k.next) {
		return nil
	}
	k.next = now.Add(k.timeout / 2)
	return k.request(now)
}

func (k *keeper) request(now time.Time) error {
	method := "GET_PARAMETER"
	if k.options || !strings.Contains(k.public, method) {
		method = "OPTIONS"
	}
	if k.asked.IsZero() {
		k.asked = now
	}
	_, err := k.send(method, resolve(k.base, k.d.Control))
	return err
}

// answer takes the answer to a keep-alive.
func (k *keeper) answer(m message) error {
	k.asked = time.Time{}
	switch m.status {
	case 454:
		return errors.New("454 " + m.reason + ": the server has forgotten the session")
	case 405, 501, 551:
		k.options = true
	case 401:
		if c, ok := httpauth.Choose(m.all("WWW-Authenticate")); ok && k.user != nil && !k.again {
			k.challenge, k.uses, k.again = &c, 0, true
			return k.request(time.Now())
		}
	default:
		k.again = false
	}
	return nil
}
