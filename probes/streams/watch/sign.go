package watch

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Bounds of a secret that signs, in bytes.
const (
	leastSecret = 16
	mostSecret  = 4096
)

// identify sets the headers that tell one message from another, and with a secret
// who sent it and when, as standardwebhooks.com has them. A request that is sent
// again has the same id and a time of its own.
func identify(h http.Header, id string, now time.Time, body, secret []byte) {
	h.Set("Idempotency-Key", id)
	h.Set("webhook-id", id)
	stamp := strconv.FormatInt(now.Unix(), 10)
	h.Set("webhook-timestamp", stamp)
	if len(secret) > 0 {
		h.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(signature(id, stamp, body, secret)))
	}
}

func signature(id, stamp string, body, secret []byte) []byte {
	m := hmac.New(sha256.New, secret)
	fmt.Fprintf(m, "%s.%s.", id, stamp)
	m.Write(body)
	return m.Sum(nil)
}

// ReadSecret reads a secret from a file: all of it but blanks at its ends. One that
// begins with whsec_ is base64 after that, as the receivers' libraries have it.
func ReadSecret(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO must not hold the watch up
	if err != nil {
		return nil, fmt.Errorf("read the secret: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostSecret+1))
	if err != nil {
		return nil, fmt.Errorf("read the secret: %w", err)
	}
	if len(b) > mostSecret {
		return nil, fmt.Errorf("read the secret: %s has more than %d bytes: is it the right file?", path, mostSecret)
	}
	secret := bytes.TrimSpace(b)
	if encoded, ok := strings.CutPrefix(string(secret), "whsec_"); ok {
		if secret, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return nil, fmt.Errorf("read the secret: %s: what follows whsec_ is not base64", path)
		}
	}
	if len(secret) < leastSecret {
		return nil, fmt.Errorf("read the secret: %s has %d bytes, fewer than %d: openssl rand -hex 32 makes one", path, len(secret), leastSecret)
	}
	return secret, nil
}
