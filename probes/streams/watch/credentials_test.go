package watch

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadCredentials(t *testing.T) {
	path := filepath.Join(t.TempDir(), "servers")
	put := func(text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	put("# servers\norigin:8087 user=me password='s3 #cret'  # Wowza\n\nOrigin user=other password=x\n[fd00::1]:80 token=eyJ.a-b_c\nempty user=me\n", 0o400)
	c, err := ReadCredentials(path)
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]string{
		"http://origin:8087/v2":  "me:s3%20%23cret ",
		"https://origin/":        "other:x ",
		"http://ORIGIN:9997/":    "other:x ",
		"http://[fd00::1]/":      " eyJ.a-b_c",
		"http://[fd00::1]:8080/": "",
		"http://empty/":          "me: ",
		"http://origin.example/": "",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		found, ok := c.forServer(u)
		got := ""
		if ok {
			got = found.user.String() + " " + found.token
		}
		if got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
	if text := fmt.Sprint(c); strings.Contains(text, "cret") {
		t.Errorf("printed as %s", text)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620} {
		put("origin user=me password=hunter2", mode)
		if _, err := ReadCredentials(path); err == nil || !strings.Contains(err.Error(), "chmod 600 "+path) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%o: %v", mode, err)
		}
	}
	put(strings.Repeat("#", maxCredentials+1), 0o600)
	if _, err := ReadCredentials(path); err == nil || !strings.Contains(err.Error(), "more than 64 KiB") {
		t.Error(err)
	}
	if _, err := ReadCredentials(filepath.Dir(path)); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
	if _, err := ReadCredentials(path + ".not"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}

// Whatever is wrong with a line, the error has nothing of it.
func TestBadCredentialsAreNotQuoted(t *testing.T) {
	for line, says := range map[string]string{
		"hunter2":                              "a line has user=",
		"origin me hunter2":                    "after the server come",
		"origin user=me password=hunter2 more": "after the server come",
		"origin user=me password='hunter2":     "a quote is opened",
		"origin user=me user=hunter2":          "each once",
		"origin password=hunter2":              "a line has user=",
		"origin user=me token=hunter2":         "a line has user=",
		"origin token=hunter2\u00e4":           "no token has",
		"http://me:hunter2@origin user=a":      "without http://",
		"me:hunter2@origin user=a":             "without http://",
		"origin/hunter2 user=a":                "without http://",
		"origin passwort=hunter2":              "after the server come",
		"o user=a password=b\no user=hunter2":  "has a line already",
	} {
		_, err := parseCredentials("servers", line)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter2") || !strings.HasPrefix(err.Error(), "servers:") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// The file's user and token are used where the URL has none, and for that server alone.
func TestDiscoverWithCredentials(t *testing.T) {
	for _, auth := range []string{"basic", "digest"} {
		s, raw := newWowza(t, auth)
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		for text, works := range map[string]bool{
			u.Host + " user=me password='s3 cret'":       true,
			u.Hostname() + " user=me password='s3 cret'": true,
			"elsewhere user=me password='s3 cret'":       false,
			u.Host + " user=me password=hunter2":         false,
			u.Host + " token=s3cret":                     false,
		} {
			d, err := ParseDiscovery("wowza:" + raw)
			if err != nil {
				t.Fatal(err)
			}
			c, err := parseCredentials("servers", text)
			if err != nil {
				t.Fatal(err)
			}
			d.With(c)
			s.refused = 0
			entries, _, err := d.Ask(context.Background())
			if s.refused > 2 || strings.Contains(text, "token=") && s.refused != 1 {
				t.Errorf("%s, %s: asked %d times", auth, text, s.refused)
			}
			if works != (err == nil) || works != (len(entries) == 3) || err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "cret")) {
				t.Errorf("%s, %s: %d streams, %v", auth, text, len(entries), err)
			}
			for _, e := range entries {
				if e.URL.User != nil {
					t.Errorf("%s is read with the API's user", e.URL)
				}
			}
		}
		s.seen = nil
		d, err := ParseDiscovery("wowza:" + strings.Replace(raw, "//", "//me:s3%20cret@", 1))
		if err != nil {
			t.Fatal(err)
		}
		c, err := parseCredentials("servers", u.Host+" user=me password=hunter2")
		if err != nil {
			t.Fatal(err)
		}
		d.With(c)
		if _, _, err := d.Ask(context.Background()); err != nil {
			t.Errorf("the URL's own user does not hold: %v", err)
		}
	}
	api := antMedia(t, []string{`{"streamId":"cam1","status":"broadcasting"}`}, 50, "eyJ.a.b")
	u, err := url.Parse(api)
	if err != nil {
		t.Fatal(err)
	}
	for token, works := range map[string]bool{"eyJ.a.b": true, "eyJ.other": false} {
		d, err := ParseDiscovery("antmedia:" + api + "/live")
		if err != nil {
			t.Fatal(err)
		}
		c, err := parseCredentials("servers", u.Host+" token="+token)
		if err != nil {
			t.Fatal(err)
		}
		d.With(c)
		if entries, _, err := d.Ask(context.Background()); works != (len(entries) == 1) || works != (err == nil) || err != nil && strings.Contains(err.Error(), "eyJ") {
			t.Errorf("%s: %v, %v", token, entries, err)
		}
	}
}

func FuzzCredentials(f *testing.F) {
	f.Add("origin:8087 user=me password='s3 cret' # x\n[::1] token=a\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCredentials("servers", text)
		if err != nil {
			return
		}
		for server, one := range c.of {
			if (one.user == nil) == (one.token == "") || strings.ContainsAny(one.token, "\r\n ") || strings.ContainsAny(server, "/@ ") {
				t.Errorf("%q: %v", server, one)
			}
		}
	})
}
