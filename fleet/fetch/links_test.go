package fetch

import "testing"

func TestLinks(t *testing.T) {
	for _, c := range []struct{ template, host, address, want string }{
		{"https://{address}:9849", "edge-1", "10.0.1.1", "https://10.0.1.1:9849"},
		{"https://{address}:9849", "edge-1", "2001:db8::1", "https://[2001:db8::1]:9849"},
		{"https://{address}:9849", "edge-1", "", ""},
		{"https://{address}:9849", "edge-1", "evil.example/", ""},
		{"https://{host}:9849", "edge-1", "", "https://edge-1:9849"},
		{"https://{host}.example:9849/", "10.0.1.1:9848", "", "https://10.0.1.1.example:9849/"},
		{"https://{host}:9849", "evil.example/?", "", ""},
		{"https://{host}:9849", "me@evil.example", "", ""},
		{"https://{host}:9849", "javascript:alert(1)", "", ""},
		{"https://{host}:9849", "", "", ""},
	} {
		l, err := ParseLinks(c.template)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.To(c.host, c.address); got != c.want {
			t.Errorf("%s of %q %q: %q, want %q", c.template, c.host, c.address, got, c.want)
		}
	}
	for _, template := range []string{"", "https://host:9849", "/srv/{host}", "javascript:{host}", "https://u:p@{host}", "https://{host}/?token=x", "https://{host}/#x"} {
		if _, err := ParseLinks(template); err == nil {
			t.Errorf("%q is no template of links", template)
		}
	}
}
