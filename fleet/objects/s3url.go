package objects

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// bucketName are the names of S3, and those of its likes, which also take capitals and _.
var bucketName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$`)

// prefixName are prefixes whose characters need no escape in a URL: signatures of servers differ in how they escape.
var prefixName = regexp.MustCompile(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`)

const inHost = "{bucket}" // in the endpoint: the bucket is part of the host's name

// openBucket reads s3://BUCKET/PREFIX.
func openBucket(u *url.URL, w Where) (*bucket, error) {
	prefix := strings.Trim(u.Path, "/")
	switch {
	case !bucketName.MatchString(u.Host):
		return nil, errors.New("no bucket: write it as s3://BUCKET/PREFIX; a bucket has 3 to 63 letters, digits, . and -")
	case prefix != "" && (!prefixName.MatchString(prefix) || path.Clean("/"+prefix) != "/"+prefix):
		return nil, errors.New("its prefix has other characters than letters, digits, . _ - and /")
	}
	if _, err := w.credentials(); err != nil {
		return nil, err
	}
	b := &bucket{name: u.Host, prefix: prefix, where: w, pace: pacer(w.Rate)}
	b.region = cmp.Or(w.Region, w.Env("AWS_REGION"), w.Env("AWS_DEFAULT_REGION"), "us-east-1")
	if !bucketName.MatchString(b.region) {
		return nil, errors.New("the region is not one: write it as eu-central-1")
	}
	var err error
	if b.base, err = w.base(b.name, b.region); err != nil {
		return nil, err
	}
	b.http = newHTTP()
	return b, nil
}

// base is the URL of a bucket.
func (w Where) base(bucket, region string) (*url.URL, error) {
	endpoint := w.Endpoint
	if endpoint == "" {
		endpoint = fmt.Sprintf("https://%s.s3.%s.amazonaws.com", inHost, region)
		if strings.Contains(bucket, ".") { // Amazon's certificate is of one name below its own
			endpoint = fmt.Sprintf("https://s3.%s.amazonaws.com", region)
		}
	}
	text, below := strings.ReplaceAll(endpoint, inHost, bucket), ""
	if text == endpoint {
		below = "/" + bucket
	}
	at, err := url.Parse(text)
	switch {
	case err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https":
		return nil, errors.New("its endpoint is not an http:// or https:// URL: write it as https://minio.example:9000, or https://{bucket}.example for a server that has buckets in its host's name")
	case at.User != nil || at.RawQuery != "" || at.Fragment != "" || strings.Trim(at.Path, "/") != "":
		return nil, errors.New("its endpoint has a user, a path, a query or a fragment: write it as https://minio.example:9000")
	}
	at.Path = below
	return at, nil
}
