package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// aBucket is one whose server is a function.
func aBucket(t *testing.T, serve http.HandlerFunc) Store {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	s, err := Open(Where{URL: "s3://bucket/fleet", Endpoint: server.URL, Env: keysInEnv})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func xmlError(code, message, more string) string {
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>%s</Message>%s</Error>`, code, message, more)
}

// What a person has to do is in the error, by the answers as Amazon documents them.
func TestAnswersThatAreErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status  int
		body    string
		header  http.Header
		want    string
		code    string
		refused bool
	}{
		{404, xmlError("NoSuchBucket", "The specified bucket does not exist", ""), nil, "make the bucket bucket, or correct the URL", "NoSuchBucket", false},
		{404, xmlError("NoSuchKey", "The specified key does not exist.", ""), nil, "NoSuchKey", "NoSuchKey", false},
		{403, xmlError("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.", ""), nil, "check AWS_ACCESS_KEY_ID", "InvalidAccessKeyId", false},
		{403, xmlError("SignatureDoesNotMatch", "it does not match s3cret", "<StringToSign>x</StringToSign>"), nil, "check AWS_SECRET_ACCESS_KEY", "SignatureDoesNotMatch", false},
		{403, xmlError("AccessDenied", "Access Denied", ""), nil, "allow s3:PutObject", "AccessDenied", false},
		{403, xmlError("RequestTimeTooSkewed", "The difference is too large.", ""), http.Header{"Date": {time.Now().Add(-2 * time.Hour).UTC().Format(http.TimeFormat)}}, "this host's clock is 2h0m", "RequestTimeTooSkewed", false},
		{403, xmlError("RequestTimeTooSkewed", "The difference is too large.", ""), http.Header{"Date": {time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}}, "behind the store's; set it (timedatectl", "RequestTimeTooSkewed", false},
		{400, xmlError("AuthorizationHeaderMalformed", "the region 'us-east-1' is wrong; expecting 'eu-west-1'", "<Region>eu-west-1</Region>"), nil, "the bucket is in the region eu-west-1: give it with --incidents-region", "AuthorizationHeaderMalformed", false},
		{301, xmlError("PermanentRedirect", "use the other endpoint", ""), http.Header{"X-Amz-Bucket-Region": {"eu-west-3"}}, "the bucket is in the region eu-west-3", "PermanentRedirect", false},
		{302, "", http.Header{"Location": {"http://elsewhere"}}, "redirects are not followed", "HTTP 302", false},
		{503, xmlError("SlowDown", "Reduce your request rate.", ""), http.Header{"Retry-After": {"7"}}, "growing pauses", "SlowDown", false},
		{400, xmlError("EntityTooLarge", "too large", ""), nil, "EntityTooLarge: too large", "EntityTooLarge", true},
		{413, "no", nil, "HTTP 413: no", "HTTP 413", true},
		{500, "<html>\x1b[31mbroken s3cret", nil, `HTTP 500: <html>\x1b[31mbroken [secret]`, "HTTP 500", false},
	} {
		s := aBucket(t, func(w http.ResponseWriter, _ *http.Request) {
			for name, values := range c.header {
				w.Header()[name] = values
			}
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		})
		err := s.Put(t.Context(), "web1/a", strings.NewReader("abc"), 3)
		var f *Failed
		if !errors.As(err, &f) || f.Code != c.code || f.Refused != c.refused || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%d %s:\n%+v\n%v", c.status, c.body, f, err)
		}
		if !strings.HasPrefix(err.Error(), "s3://bucket/fleet: write web1/a: ") {
			t.Errorf("%v", err)
		}
		if absent := errors.Is(err, fs.ErrNotExist); absent != (c.code == "NoSuchKey") {
			t.Errorf("%s: absent: %v", c.code, absent)
		}
		if c.code == "SlowDown" && f.After != 7*time.Second {
			t.Errorf("after %s", f.After)
		}
	}
}

// A server that is not S3 is named as such, and pages of a list follow each other.
func TestLists(t *testing.T) {
	t.Parallel()
	s := aBucket(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	if err := s.List(t.Context(), "", func(string) bool { return true }); err == nil || !strings.Contains(err.Error(), "check that the endpoint is that of S3") {
		t.Errorf("%v", err)
	}
	asked := 0
	s = aBucket(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		q := r.URL.Query()
		if r.URL.Path != "/bucket/" || q.Get("prefix") != "fleet/web1/" || q.Get("list-type") != "2" {
			t.Errorf("%s", r.URL)
		}
		more := "<IsTruncated>true</IsTruncated><NextContinuationToken>a+b/c</NextContinuationToken>"
		if q.Get("continuation-token") == "a+b/c" {
			more = ""
		}
		fmt.Fprintf(w, `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Contents><Key>fleet/web1/%d</Key></Contents>%s</ListBucketResult>`, asked, more)
	})
	var names []string
	if err := s.List(t.Context(), "web1/", func(name string) bool { names = append(names, name); return true }); err != nil || strings.Join(names, " ") != "web1/1 web1/2" {
		t.Errorf("%q, %v", names, err)
	}
}

// No answer: the host is named, and a certificate that nobody trusts has a cure.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	for at, want := range map[string]string{server.URL: "SSL_CERT_FILE", "http://127.0.0.1:1": "no answer of 127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused"} {
		s, err := Open(Where{URL: "s3://bucket", Endpoint: at, Env: keysInEnv})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Put(t.Context(), "a", strings.NewReader(""), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v", err)
		}
	}
}
