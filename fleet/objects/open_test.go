package objects

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// with makes an environment.
func with(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

var keysInEnv = with("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY", "s3cret")

func TestURLsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		where Where
		want  string
	}{
		{Where{URL: "/srv/incidents"}, "unknown kind of store"},
		{Where{URL: "gs://bucket"}, "unknown kind of store"},
		{Where{URL: "file://srv/incidents"}, "three slashes"},
		{Where{URL: "file:///"}, "three slashes"},
		{Where{URL: "file:///srv", Region: "eu"}, "a folder has none"},
		{Where{URL: "s3://key:s3cret@bucket/a"}, "a URL with a user"},
		{Where{URL: "s3://bucket/a?secret=s3cret"}, "a query"},
		{Where{URL: "s3://"}, "no bucket"},
		{Where{URL: "s3://b/a"}, "no bucket"},
		{Where{URL: "s3://bucket/a b"}, "its prefix has other characters"},
		{Where{URL: "s3://bucket/../a"}, "its prefix has other characters"},
		{Where{URL: "s3://bucket", Endpoint: "minio:9000"}, "its endpoint is not"},
		{Where{URL: "s3://bucket", Endpoint: "https://a:s3cret@minio:9000"}, "its endpoint has a user"},
		{Where{URL: "s3://bucket", Endpoint: "https://minio:9000/path"}, "its endpoint has a user, a path"},
		{Where{URL: "s3://bucket", Region: "eu west"}, "the region is not one"},
		{Where{URL: "s3://bucket", Env: with()}, "no credentials: set AWS_ACCESS_KEY_ID"},
		{Where{URL: "s3://bucket", Env: with("AWS_SECRET_ACCESS_KEY", "s3cret")}, "set both"},
		{Where{URL: "s3://bucket", Env: with("AWS_ACCESS_KEY_ID", "a", "AWS_SECRET_ACCESS_KEY", "s3cret\n")}, "cannot have"},
		{Where{URL: "s3://bucket", Credentials: "/nowhere"}, "read the credentials"},
	} {
		if c.where.Env == nil {
			c.where.Env = keysInEnv
		}
		s, err := Open(c.where)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%+v: %v, %v, want %q", c.where, s, err, c.want)
		}
	}
}

// Where the requests of a bucket go.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		where      Where
		base, text string
	}{
		{Where{URL: "s3://bucket/a/b/"}, "https://bucket.s3.us-east-1.amazonaws.com", "s3://bucket/a/b"},
		{Where{URL: "s3://bucket", Region: "eu-central-1"}, "https://bucket.s3.eu-central-1.amazonaws.com", "s3://bucket"},
		{Where{URL: "s3://my.bucket"}, "https://s3.us-east-1.amazonaws.com/my.bucket", "s3://my.bucket"},
		{Where{URL: "s3://bucket", Endpoint: "http://127.0.0.1:9000/"}, "http://127.0.0.1:9000/bucket", "s3://bucket"},
		{Where{URL: "s3://bucket", Endpoint: "https://{bucket}.oss.example"}, "https://bucket.oss.example", "s3://bucket"},
		{Where{URL: "s3://bucket", Env: with("AWS_ACCESS_KEY_ID", "a", "AWS_SECRET_ACCESS_KEY", "b", "AWS_REGION", "eu-west-1")}, "https://bucket.s3.eu-west-1.amazonaws.com", "s3://bucket"},
	} {
		if c.where.Env == nil {
			c.where.Env = keysInEnv
		}
		s, err := Open(c.where)
		if err != nil {
			t.Errorf("%+v: %v", c.where, err)
			continue
		}
		if b := s.(*bucket); b.base.String() != c.base || s.String() != c.text {
			t.Errorf("%+v: %s, %s", c.where, b.base, s)
		}
	}
}

func TestCredentialsOfAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "credentials")
	text := "# of the store\n[default]\naws_access_key_id = AKID\naws_secret_access_key=s3cret=\n\n[other]\naws_access_key_id=B\naws_secret_access_key=C\naws_session_token=D\n[empty]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for profile, want := range map[string]credentials{"": {"AKID", "s3cret=", ""}, "other": {"B", "C", "D"}, "empty": {}, "none": {}} {
		for _, w := range []Where{{Credentials: file, Env: with("AWS_PROFILE", profile)}, {Env: with("AWS_PROFILE", profile, "AWS_SHARED_CREDENTIALS_FILE", file)}} {
			got, err := w.credentials()
			if got != want || (err == nil) != (want.key != "") {
				t.Errorf("%q: %+v, %v", profile, got, err)
			}
			if err != nil && (strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), file)) {
				t.Errorf("%q: %v", profile, err)
			}
		}
	}
}
