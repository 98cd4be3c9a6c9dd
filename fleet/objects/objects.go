// Package objects keeps incidents and their recordings off the host: in a folder, as an NFS mount, or in an object
// store that speaks Amazon's S3. Sender puts there what a recorder found; List, Read and Fetch read it, on any host.
package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"time"

	"golang.org/x/time/rate"
)

// Store keeps objects by names with / in them, below the URL that it was opened with.
type Store interface {
	// Put keeps size bytes of r. A reader of the store sees all of them or, until then, what was there before. Its
	// error is a *Failed.
	Put(ctx context.Context, name string, r io.ReadSeeker, size int64) error
	// Get opens one. Its error is a *Failed, and is fs.ErrNotExist where there is none of that name.
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	// List calls each with the names that begin with a prefix, which is "" or ends with /, until it returns false.
	List(ctx context.Context, prefix string, each func(name string) bool) error
	// String is the store's URL, which has no secret.
	String() string
}

// Where says which store, and how it is reached.
type Where struct {
	URL string // file:///srv/incidents or s3://BUCKET/PREFIX
	// Endpoint is the URL of an S3 server other than Amazon's, Region the region that it expects in signatures; "":
	// that of Env, or us-east-1.
	Endpoint, Region string
	// Credentials is a file as ~/.aws/credentials; "": those of Env.
	Credentials string
	Env         func(name string) string // os.Getenv
	// Rate is how many bytes per second Put sends at most; 0: no bound.
	Rate int64
}

// Open reads the URL. It asks no store yet. No error has a secret.
func Open(w Where) (Store, error) {
	u, err := url.Parse(w.URL)
	switch {
	case err != nil:
		return nil, errors.New("not a URL: write it as file:///srv/incidents or s3://BUCKET/PREFIX")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("a URL with a user, a query or a fragment: credentials are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or in the file of --incidents-credentials")
	case u.Scheme == "s3":
		return openBucket(u, w)
	case u.Scheme != "file":
		return nil, errors.New("unknown kind of store: write it as file:///srv/incidents or s3://BUCKET/PREFIX")
	case u.Host != "" || !filepath.IsAbs(u.Path) || filepath.Clean(u.Path) == "/":
		return nil, errors.New("not a folder of this host: write it with three slashes, as file:///srv/incidents")
	case w.Endpoint != "" || w.Region != "" || w.Credentials != "":
		return nil, errors.New("an endpoint, a region or credentials: a folder has none; leave them out, or write s3://BUCKET/PREFIX")
	}
	return folder{dir: filepath.Clean(u.Path), pace: pacer(w.Rate)}, nil
}

// Failed is what a store did not do.
type Failed struct {
	Store, Doing string // its URL; "write edge-7/20261128T141728Z-7/incident.json"
	Why, Cure    string // Cure is what a person may do about it; "": nothing is known
	// Code is equal for failures with the same cause: that of S3, or ours.
	Code string
	// After is how long the store wants to be left alone; 0: it did not say.
	After time.Duration
	// Refused: the same would be refused again, and something else may be taken.
	Refused bool
	// Err is what was wrong on this side; nil: the store answered.
	Err error
}

func (f *Failed) Error() string {
	text := fmt.Sprintf("%s: %s: %s", f.Store, f.Doing, f.Why)
	if f.Cure != "" {
		text += ": " + f.Cure
	}
	return text
}

func (f *Failed) Unwrap() error { return f.Err }

// pacer bounds bytes per second; nil: there is no bound.
func pacer(perSecond int64) *rate.Limiter {
	if perSecond <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(perSecond), pacedAtOnce)
}

const pacedAtOnce = 16 << 10 // bytes

// paced reads r no faster than a limiter allows.
type paced struct {
	ctx  context.Context
	r    io.Reader
	pace *rate.Limiter
}

func (p paced) Read(b []byte) (int, error) {
	if p.pace == nil {
		return p.r.Read(b)
	}
	n, err := p.r.Read(b[:min(len(b), pacedAtOnce)])
	if wait := p.pace.WaitN(p.ctx, n); wait != nil {
		return n, wait
	}
	return n, err
}
