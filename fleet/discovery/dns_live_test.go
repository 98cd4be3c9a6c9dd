package discovery

import (
	"fmt"
	"maps"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// A real name server: dnsmasq on loopback.
func TestDNS(t *testing.T) {
	t.Parallel()
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := l.LocalAddr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(server)
	cmd := exec.Command("dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--user=root", "--pid-file=", "--bind-interfaces",
		"--listen-address=127.0.0.1", "--port="+port, "--local=/example.test/", "--host-record=origin.example.test,10.1.0.1,fd00::1", "--host-record=origin.example.test,10.1.0.2",
		"--srv-host=_rtmp._tcp.example.test,edge1.example.test,1935", "--srv-host=_rtmp._tcp.example.test,edge2.example.test,1936", "--mx-host=example.test,mail.example.test,10")
	if err := cmd.Start(); err != nil {
		t.Fatalf("start dnsmasq (make setup installs it): %v", err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for range 100 {
		if _, err = Targets(t.Context(), "dns:A:origin.example.test:80?server="+server); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	for spec, want := range map[string][]string{
		"_rtmp._tcp.example.test":       {"edge1.example.test:1935", "edge2.example.test:1936"},
		"srv:_rtmp._tcp.example.test":   {"edge1.example.test:1935", "edge2.example.test:1936"},
		"A:origin.example.test:8080":    {"10.1.0.1:8080", "10.1.0.2:8080"},
		"AAAA:origin.example.test:8080": {"[fd00::1]:8080"},
		"MX:example.test:25":            {"mail.example.test:25"},
	} {
		l, err := Targets(t.Context(), fmt.Sprintf("dns:%s?server=%s", spec, server))
		if err != nil || !slices.Equal(addresses(l.Targets), want) {
			t.Errorf("%s: %v %v, want %v", spec, addresses(l.Targets), err, want)
			continue
		}
		if spec == "_rtmp._tcp.example.test" && !maps.Equal(l.Targets[0].Labels, map[string]string{"__meta_dns_name": spec,
			"__meta_dns_srv_record_target": "edge1.example.test.", "__meta_dns_srv_record_port": "1935"}) {
			t.Errorf("%v", l.Targets[0].Labels)
		}
	}
	for _, spec := range []string{"_none._tcp.example.test", "A:none.example.test:1"} {
		if _, err := Targets(t.Context(), "dns:"+spec+"?server="+server); err == nil || !strings.Contains(err.Error(), "records: is the name right?") {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

func TestDNSThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	_, err = Targets(t.Context(), "dns:A:x.example.test:1?server="+silent.LocalAddr().String())
	if err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Error(err)
	}
}
