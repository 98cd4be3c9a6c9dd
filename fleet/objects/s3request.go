package objects

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/signer"
)

// Bounds in time: what a request may take beside its bytes, and the slowest way that is waited for.
const (
	requestTime = time.Minute
	slowestWay  = 32 << 10 // bytes per second
	goOnTime    = 2 * time.Second
)

// newHTTP follows no redirect and asks no proxy of the environment: what is sent goes where the user said.
func newHTTP() http.Client {
	return http.Client{
		Transport: &http.Transport{
			MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
			ResponseHeaderTimeout: requestTime, ExpectContinueTimeout: goOnTime,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// call is a request.
type call struct {
	method, key, hash string // of the body, SHA-256
	query             url.Values
	body              io.Reader // nil: none
	size              int64
}

var hashOfNothing = hex.EncodeToString(sha256.New().Sum(nil))

// ask sends a request. The answer is one that says that it was done.
func (b *bucket) ask(ctx context.Context, doing string, c call) (*http.Response, error) {
	keys, err := b.where.credentials()
	if err != nil {
		return nil, &Failed{Store: b.String(), Doing: doing, Why: err.Error(), Code: "Credentials", Err: err}
	}
	req, err := b.request(ctx, c, keys)
	if err != nil {
		return nil, &Failed{Store: b.String(), Doing: doing, Why: err.Error(), Code: "Request", Err: err}
	}
	resp, err := b.http.Do(req)
	if err != nil {
		return nil, b.unanswered(doing, err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	f := answered(resp, keys, b, time.Now())
	f.Store, f.Doing = b.String(), doing
	if resp.StatusCode == http.StatusNotFound && f.Code != noBucket {
		f.Err = fs.ErrNotExist
	}
	return nil, f
}

// expectFrom is the size in bytes from which the store is asked before they are sent: what it refuses costs little.
const expectFrom = 64 << 10

func (b *bucket) request(ctx context.Context, c call, keys credentials) (*http.Request, error) {
	at := *b.base
	at.Path = strings.TrimSuffix(at.Path, "/") + "/" + c.key
	at.RawQuery = c.query.Encode()
	req, err := http.NewRequestWithContext(ctx, c.method, at.String(), c.body)
	if err != nil {
		return nil, err
	}
	if c.body != nil {
		req.ContentLength = c.size
		req.Header.Set("Content-Type", contentType(c.key))
	}
	sign(req, c.hash, keys, b.region)
	if c.size >= expectFrom {
		req.Header.Set("Expect", "100-continue") // after the signature: a proxy may take it away
	}
	req.Header.Set("User-Agent", "snag")
	return req, nil
}

// sign signs a request by Amazon's Signature Version 4, at the present time.
func sign(req *http.Request, hash string, keys credentials, region string) {
	req.Header.Set("X-Amz-Content-Sha256", hash)
	signed := signer.SignV4(*req, keys.key, keys.secret, keys.token, region)
	req.Header, req.URL = signed.Header, signed.URL
}

func contentType(key string) string {
	if strings.HasSuffix(key, ".json") {
		return "application/json"
	}
	return "application/octet-stream"
}

// unanswered is a request that got no answer.
func (b *bucket) unanswered(doing string, err error) *Failed {
	var with *url.Error
	if errors.As(err, &with) {
		err = with.Err
	}
	return &Failed{Store: b.String(), Doing: doing, Why: "no answer of " + b.base.Host + ": " + err.Error(), Cure: cureOfNetwork(err), Code: "NoAnswer", Err: err}
}
