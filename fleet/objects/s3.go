package objects

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// bucket is a store in an object store that speaks S3. Each object is one PUT with the hash of its bytes, which S3
// takes whole or not at all: nothing of an upload that was cut off is left there, as it would be of one in parts.
type bucket struct {
	name, prefix, region string
	where                Where
	base                 *url.URL // of the bucket
	http                 http.Client
	pace                 *rate.Limiter
}

// mostPut is what S3 takes in one PUT.
const mostPut = 5 << 30

func (b *bucket) String() string { return strings.TrimSuffix("s3://"+b.name+"/"+b.prefix, "/") }

func (b *bucket) key(name string) string { return strings.TrimPrefix(b.prefix+"/"+name, "/") }

// Put implements Store.
func (b *bucket) Put(ctx context.Context, name string, r io.ReadSeeker, size int64) error {
	doing := "write " + name
	if size > mostPut {
		return &Failed{Store: b.String(), Doing: doing, Why: fmt.Sprintf("it has %d bytes, and S3 takes %d at once", size, int64(mostPut)), Code: "EntityTooLarge", Refused: true}
	}
	sum := sha256.New()
	n, err := io.Copy(sum, r)
	if err == nil && n != size {
		err = fmt.Errorf("it has %d bytes and not %d: it was changed meanwhile", n, size)
	}
	if err == nil {
		_, err = r.Seek(0, io.SeekStart)
	}
	if err != nil {
		return &Failed{Store: b.String(), Doing: doing, Why: err.Error(), Code: "Read", Err: err}
	}
	slow := int64(slowestWay)
	if b.pace != nil {
		slow = min(slow, int64(b.pace.Limit())/2+1)
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime+time.Duration(size/slow)*time.Second)
	defer cancel()
	resp, err := b.ask(ctx, doing, call{method: http.MethodPut, key: b.key(name), body: paced{ctx, io.LimitReader(r, size), b.pace}, size: size, hash: hex.EncodeToString(sum.Sum(nil))})
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Get implements Store.
func (b *bucket) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	resp, err := b.ask(ctx, "read "+name, call{method: http.MethodGet, key: b.key(name), hash: hashOfNothing})
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// listed is a page of ListObjectsV2.
type listed struct {
	Contents []struct{ Key string }
	Next     string `xml:"NextContinuationToken"`
	More     bool   `xml:"IsTruncated"`
}

const mostPage = 8 << 20 // bytes: 1,000 names of 1,024 bytes, escaped

// List implements Store.
func (b *bucket) List(ctx context.Context, prefix string, each func(name string) bool) error {
	below := b.key(prefix)
	if below != "" && !strings.HasSuffix(below, "/") {
		below += "/"
	}
	next := ""
	for {
		page, err := b.page(ctx, below, next)
		if err != nil {
			return err
		}
		for _, o := range page.Contents {
			name, ours := strings.CutPrefix(o.Key, b.key(""))
			if ours && !each(strings.TrimPrefix(name, "/")) {
				return nil
			}
		}
		if !page.More || page.Next == "" || page.Next == next {
			return nil
		}
		next = page.Next
	}
}

func (b *bucket) page(ctx context.Context, prefix, next string) (page listed, err error) {
	const doing = "list the incidents"
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	query := url.Values{"list-type": {"2"}, "prefix": {prefix}}
	if next != "" {
		query.Set("continuation-token", next)
	}
	resp, err := b.ask(ctx, doing, call{method: http.MethodGet, query: query, hash: hashOfNothing})
	if err != nil {
		return page, err
	}
	defer resp.Body.Close()
	if err := xml.NewDecoder(io.LimitReader(resp.Body, mostPage)).Decode(&page); err != nil {
		return page, &Failed{Store: b.String(), Doing: doing, Why: "its answer is not a list of S3: " + err.Error(), Cure: "check that the endpoint is that of S3", Code: "NotS3", Err: err}
	}
	return page, nil
}
