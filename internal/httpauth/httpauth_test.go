package httpauth

import (
	"net/url"
	"strings"
	"testing"
)

// The example of RFC 7616 3.9.1, whose method and URI are HTTP's.
func TestDigest(t *testing.T) {
	offers := []string{
		`Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`,
		`Basic realm="x"`,
		`Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`,
	}
	user := url.UserPassword("Mufasa", "Circle of Life")
	const cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
	for _, c := range []struct {
		offers   []string
		response string
	}{
		{offers, "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"},
		{offers[:2], "8ca523f5e9506fed4657c9700eebdbec"},
	} {
		ch, ok := Choose(c.offers)
		if !ok {
			t.Fatal("no way chosen")
		}
		got := ch.Answer(user, "GET", "/dir/index.html", cnonce, 1)
		if !strings.Contains(got, `response="`+c.response+`"`) || !strings.Contains(got, "nc=00000001") || strings.Contains(got, "Circle") {
			t.Errorf("%s", got)
		}
	}
	// RFC 2069's, as many cameras have it: no qop.
	ch, _ := Choose([]string{`Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093"`})
	got := ch.Answer(url.UserPassword("Mufasa", "CircleOfLife"), "GET", "/dir/index.html", cnonce, 1)
	if !strings.Contains(got, `response="1949323746fe6a43ef61f9606e7febea"`) {
		t.Errorf("%s", got)
	}
	ch, _ = Choose([]string{`Basic realm="x"`})
	if got := ch.Answer(user, "", "", "", 1); got != "Basic TXVmYXNhOkNpcmNsZSBvZiBMaWZl" {
		t.Error(got)
	}
	if _, ok := Choose([]string{`NTLM`, `Digest realm="a", nonce="b", algorithm=SHA-512-256`, ``}); ok {
		t.Error("a way that is not known was chosen")
	}
}
