package pcapfilter

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Parse reads an expression. Its errors say what of it is not understood.
func Parse(text string) (Filter, error) {
	p := &parser{words: words(text)}
	if len(p.words) == 0 {
		return nil, errors.New("the filter is empty")
	}
	f, err := p.all()
	if err == nil && p.at < len(p.words) {
		err = fmt.Errorf("%q stands alone", p.words[p.at])
	}
	if err != nil {
		return nil, fmt.Errorf("filter %q: %w", text, err)
	}
	return f, nil
}

type parser struct {
	words []string
	at    int
	last  *qualifiers // of the value before: "port 80 or 443"
	depth int
}

// mostDepth of brackets.
const mostDepth = 50

func (p *parser) next() string {
	if p.at < len(p.words) {
		return p.words[p.at]
	}
	return ""
}

// all reads terms with "and" and "or" between them. Both bind alike, from left to right
// (pcap-filter(7)).
func (p *parser) all() (Filter, error) {
	f, err := p.term()
	for err == nil {
		word := p.next()
		if word != "and" && word != "or" {
			return f, nil
		}
		p.at++
		var g Filter
		if g, err = p.term(); err != nil {
			break
		}
		before := f
		if word == "and" {
			f = func(k *Packet) bool { return before(k) && g(k) }
		} else {
			f = func(k *Packet) bool { return before(k) || g(k) }
		}
	}
	return nil, err
}

func (p *parser) term() (Filter, error) {
	if p.depth++; p.depth > mostDepth {
		return nil, errors.New("too many brackets within each other")
	}
	defer func() { p.depth-- }()
	switch p.next() {
	case "":
		return nil, errors.New("it ends where something is missing")
	case "not":
		p.at++
		f, err := p.term()
		if err != nil {
			return nil, err
		}
		return func(k *Packet) bool { return !f(k) }, nil
	case "(":
		p.at++
		f, err := p.all()
		if err != nil {
			return nil, err
		}
		if p.next() != ")" {
			return nil, errors.New("a bracket is not closed")
		}
		p.at++
		return f, nil
	}
	return p.primitive()
}

// primitive reads qualifiers and a value.
func (p *parser) primitive() (Filter, error) {
	var q qualifiers
	given := p.qualify(&q)
	word := p.next()
	switch word {
	case "less", "greater":
		return p.length(word)
	case "", "and", "or", ")":
		switch {
		case q.kind != "" || q.direction != "":
			return nil, fmt.Errorf("a value is missing behind %q", p.words[p.at-1])
		case !given:
			return nil, fmt.Errorf("%q where a term is due", word)
		}
		return q.base(), nil
	}
	if !given {
		switch _, err := netip.ParseAddr(strings.SplitN(word, "/", 2)[0]); {
		case p.last != nil:
			q = *p.last
		case err != nil:
			return nil, fmt.Errorf("%q is not known: write host, net, port, portrange, proto, src, dst, tcp, udp, icmp, ip, ip6, less or greater before a value, joined by and, or, not and brackets", word)
		}
	}
	p.at++
	f, err := p.value(&q, word)
	p.last = &q
	return f, err
}

// qualify takes the words before a value; false: there are none.
func (p *parser) qualify(q *qualifiers) (given bool) {
	for ; ; p.at++ {
		word := p.next()
		_, proto := protocols[word]
		switch {
		case word == "ip" || word == "ip6":
			q.family = word
		case proto && q.kind != protocol: // "proto tcp" has it as its value
			q.proto = word
		case word == "src" || word == "dst":
			q.direction = word
			if p.at+2 < len(p.words) && word == "src" && p.words[p.at+2] == "dst" && (p.words[p.at+1] == "or" || p.words[p.at+1] == "and") {
				q.direction = "src " + p.words[p.at+1] + " dst"
				p.at += 2
			}
		case word == host || word == network || word == port || word == portRange || word == protocol:
			q.kind = word
		default:
			return given
		}
		given = true
	}
}

func (p *parser) value(q *qualifiers, word string) (Filter, error) {
	if q.kind == "" {
		if q.kind = host; strings.Contains(word, "/") {
			q.kind = network
		}
	}
	switch q.kind {
	case host:
		a, err := netip.ParseAddr(word)
		if err != nil {
			return nil, fmt.Errorf("%q is not an address: snag asks no name server for it", word)
		}
		return q.prefix(netip.PrefixFrom(a, a.BitLen())), nil
	case network:
		n, err := p.network(word)
		if err != nil {
			return nil, err
		}
		return q.prefix(n), nil
	case port:
		n, err := portOf(word, q.proto)
		return q.ports(n, n), err
	case portRange:
		low, high, ok := strings.Cut(word, "-")
		a, err := portOf(low, q.proto)
		b, err2 := portOf(high, q.proto)
		if !ok || err != nil || err2 != nil || a > b {
			return nil, fmt.Errorf("%q is not a port range, as 6000-6008", word)
		}
		return q.ports(a, b), nil
	}
	if n, ok := protocols[word]; ok {
		return q.number(n), nil
	}
	n, err := strconv.ParseUint(word, 10, 8)
	if err != nil {
		return nil, fmt.Errorf("%q is not a protocol", word)
	}
	return q.number(uint8(n)), nil
}

// network reads 10.0.0.0/8, 10.0.0.0 mask 255.0.0.0, and 10 for all of 10.0.0.0/8.
func (p *parser) network(word string) (netip.Prefix, error) {
	bad := fmt.Errorf("%q is not a network, as 10.0.0.0/8", word)
	if n, err := netip.ParsePrefix(word); err == nil {
		return n.Masked(), nil
	}
	bits := 8 * (strings.Count(word, ".") + 1)
	if !strings.Contains(word, ":") && bits < 32 {
		word += strings.Repeat(".0", (32-bits)/8)
	}
	a, err := netip.ParseAddr(word)
	if err != nil {
		return netip.Prefix{}, bad
	}
	if a.Is6() {
		bits = 128
	}
	if p.next() == "mask" && p.at+1 < len(p.words) {
		mask, err := netip.ParseAddr(p.words[p.at+1])
		if err != nil || !mask.Is4() || !a.Is4() {
			return netip.Prefix{}, bad
		}
		four := mask.As4()
		bits, _ = net.IPMask(four[:]).Size()
		p.at += 2
	}
	return a.Prefix(bits)
}

// portOf reads a number, or a name of /etc/services.
func portOf(word, proto string) (uint16, error) {
	if n, err := strconv.ParseUint(word, 10, 16); err == nil {
		return uint16(n), nil
	}
	for _, of := range []string{"tcp", "udp"} {
		if proto != "" && proto != of {
			continue
		}
		if n, err := net.LookupPort(of, word); err == nil {
			return uint16(n), nil
		}
	}
	return 0, fmt.Errorf("%q is not a port", word)
}

// length reads "less 128" and "greater 128", of the IP packet: tcpdump counts the link's header too.
func (p *parser) length(word string) (Filter, error) {
	p.at++
	n, err := strconv.Atoi(p.next())
	if err != nil || n < 0 {
		return nil, fmt.Errorf("%q is not a length", p.next())
	}
	p.at++
	if word == "less" {
		return func(k *Packet) bool { return k.Len <= n }, nil
	}
	return func(k *Packet) bool { return k.Len >= n }, nil
}
