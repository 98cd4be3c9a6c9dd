package web

import (
	"crypto/x509"
	"net"
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	for text, want := range map[string]struct {
		at       string
		loopback bool
	}{
		":8099": {"127.0.0.1:8099", true}, "localhost:1": {"localhost:1", true}, "[::1]:8099": {"[::1]:8099", true}, "127.1.2.3:65535": {"127.1.2.3:65535", true},
		"0.0.0.0:8099": {"0.0.0.0:8099", false}, "10.0.0.7:8099": {"10.0.0.7:8099", false}, "cams.example:8099": {"cams.example:8099", false}, "[::ffff:127.0.0.1]:80": {"[::ffff:127.0.0.1]:80", true},
	} {
		a, err := ParseAddress(text)
		if err != nil || a.String() != want.at || a.Loopback() != want.loopback {
			t.Errorf("%s: %s, for this host alone %t (%v)", text, a, a.Loopback(), err)
		}
	}
	for _, text := range []string{"", "8099", ":", ":0", ":-1", ":99999", ":http", "1.2.3.4", "\x1b[31m", "::1:80:x"} {
		if a, err := ParseAddress(text); err == nil || strings.Contains(err.Error(), "\x1b") || !strings.Contains(err.Error(), ":8099") {
			t.Errorf("%q is %s (%v)", text, a, err)
		}
	}
}

func TestWhoMayAsk(t *testing.T) {
	named, err := ParseAddress("cams.example:8099")
	if err != nil {
		t.Fatal(err)
	}
	for host, may := range map[string]bool{
		"127.0.0.1:8099": true, "127.0.0.1": true, "[::1]:8099": true, "[::1]": true, "10.1.2.3:8099": true, "localhost:8099": true, "LOCALHOST": true,
		"cams.example:8099": true, "CAMS.example": true, "evil.example:8099": false, "127.0.0.1.evil.example": false, "localhost.evil.example:8099": false, "": false, "a:b:c": false,
	} {
		if err := named.MayAsk(host); (err == nil) != may {
			t.Errorf("%q: %v", host, err)
		}
	}
}

// A host is asked by its name: one of its certificate, and no other.
func TestTheNamesOfACertificate(t *testing.T) {
	plain, err := ParseAddress("10.0.0.7:9849")
	if err != nil {
		t.Fatal(err)
	}
	a := plain.Certified(&x509.Certificate{DNSNames: []string{"web1", "*.shop.example"}})
	for host, may := range map[string]bool{"web1:9849": true, "WEB1": true, "db.shop.example:9849": true, "web2:9849": false, "shop.example": false, "": false} {
		if err := a.MayAsk(host); (err == nil) != may {
			t.Errorf("%q: %v", host, err)
		}
	}
	if plain.MayAsk("web1:9849") == nil {
		t.Error("a name without a certificate")
	}
}

func TestAPortInUseIsOneClearError(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := ParseAddress(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Listen("the page")
	if err == nil || !strings.Contains(err.Error(), a.String()) || !strings.Contains(err.Error(), "choose another") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}
