package pcapfilter

import (
	"net/netip"
	"strings"
	"testing"

	"snag/internal/packet"
)

func TestFilters(t *testing.T) {
	packets := map[string]*Packet{}
	add := func(name, src, dst string, proto uint8) {
		a, b := netip.MustParseAddrPort(src), netip.MustParseAddrPort(dst)
		packets[name] = &Packet{Src: a.Addr(), Dst: b.Addr(), SrcPort: a.Port(), DstPort: b.Port(), Proto: proto, Len: 100}
	}
	add("web", "10.0.0.5:40000", "192.0.2.1:443", packet.TCP)
	add("back", "192.0.2.1:443", "10.0.0.5:40000", packet.TCP)
	add("dns", "10.0.0.5:40001", "10.0.0.53:53", packet.UDP)
	add("six", "[2001:db8::5]:40000", "[2001:db8::1]:80", packet.TCP)
	add("ping", "10.0.0.5:0", "10.1.0.1:0", packet.ICMP)
	for _, c := range []struct{ text, want string }{
		{"host 10.0.0.5 and port 443", "back web"},
		{"10.0.0.5 and not port 443", "dns ping"},
		{"src host 10.0.0.5", "dns ping web"},
		{"dst 10.0.0.5", "back"},
		{"src or dst port 443", "back web"},
		{"src and dst net 10.0.0.0/24", "dns"},
		{"src and dst net 10", "dns ping"},
		{"net 10.0.0.0 mask 255.255.255.0", "back dns ping web"},
		{"net 2001:db8::/32", "six"},
		{"tcp", "back six web"},
		{"tcp port 80", "six"},
		{"udp port domain", "dns"},
		{"ip6", "six"}, {"ip and tcp", "back web"},
		{"icmp or udp", "dns ping"},
		{"ip proto 1", "ping"}, {`ip proto \udp`, "dns"}, {"proto tcp", "back six web"},
		{"port 80 or 443", "back six web"},
		{"portrange 50-90", "dns six"},
		{"not (port 443 or 80)", "dns ping"},
		{"!(tcp) && !icmp", "dns"},
		// both bind alike: (udp or tcp) and port 80
		{"udp or tcp and port 80", "six"},
		{"greater 101", ""}, {"less 100 and icmp", "ping"},
		{"host 2001:db8::5", "six"},
	} {
		f, err := Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		var got []string
		for _, name := range []string{"back", "dns", "ping", "six", "web"} {
			if f(packets[name]) {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s matches %v, want %s", c.text, got, c.want)
		}
	}
}

func TestBadFilters(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "empty",
		"host":                  "a value is missing",
		"host example.com":      "asks no name server",
		"port 70000":            "is not a port",
		"portrange 9-1":         "not a port range",
		"(tcp":                  "not closed",
		"tcp)":                  "stands alone",
		"tcp and":               "ends where",
		"and tcp":               "where a term is due",
		"tcp[tcpflags] & 2":     "is not known",
		"net 10.0.0.0.0":        "not a network",
		"less x":                "not a length",
		strings.Repeat("(", 99): "too many",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("host 10.0.0.5 and not (port 80 or 443)")
	f.Add("src or dst net 10 mask 255.0.0.0 || less 5")
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := Parse(text)
		if (filter == nil) == (err == nil) {
			t.Fatal(err)
		}
		if err == nil {
			filter(&Packet{})
		}
	})
}
