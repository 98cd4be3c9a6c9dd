// Package httpauth answers a server that asks who is there, as HTTP and RTSP have it:
// basic and digest authentication (RFC 2617, RFC 7616).
package httpauth

import (
	"crypto/md5" // what RFC 2617 and most cameras have
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"net/url"
	"strings"
)

// Challenge is how a server wants to know who asks (RFC 2617, RFC 7616).
type Challenge struct {
	Nonce string // of digest; "" of basic
	Stale bool   // the server knows the user, and wants another nonce

	digest        bool
	realm, opaque string
	algorithm     string // as the server wrote it
	make          func() hash.Hash
	qop, session  bool
	hasOpaque     bool
}

// Choose takes the strongest way that a server offers and snag knows: digest with
// SHA-256, with MD5, basic.
func Choose(offers []string) (Challenge, bool) {
	var best Challenge
	rank := 0
	for _, offer := range offers {
		c, r := readChallenge(offer)
		if r > rank {
			best, rank = c, r
		}
	}
	return best, rank > 0
}

func readChallenge(offer string) (Challenge, int) {
	way, rest, _ := strings.Cut(strings.TrimSpace(offer), " ")
	p := parameters(rest)
	c := Challenge{realm: p["realm"], Nonce: p["nonce"], opaque: p["opaque"], algorithm: p["algorithm"]}
	_, c.hasOpaque = p["opaque"]
	c.Stale = strings.EqualFold(p["stale"], "true")
	if strings.EqualFold(way, "Basic") {
		return c, 1
	}
	if !strings.EqualFold(way, "Digest") || c.Nonce == "" {
		return c, 0
	}
	c.digest = true
	for part := range strings.SplitSeq(p["qop"], ",") {
		c.qop = c.qop || strings.EqualFold(strings.TrimSpace(part), "auth")
	}
	algorithm, session := strings.CutSuffix(strings.ToUpper(c.algorithm), "-SESS")
	c.session = session
	switch algorithm {
	case "", "MD5":
		c.make = md5.New
		return c, 2
	case "SHA-256":
		c.make = sha256.New
		return c, 3
	}
	return c, 0
}

// parameters reads name=value, name="value", …
func parameters(s string) map[string]string {
	out := map[string]string{}
	for len(s) > 0 && len(out) < 32 {
		s = strings.TrimLeft(s, " ,\t")
		name, rest, ok := strings.Cut(s, "=")
		if !ok {
			break
		}
		name = strings.ToLower(strings.TrimSpace(name))
		if !strings.HasPrefix(rest, `"`) {
			value, after, _ := strings.Cut(rest, ",")
			out[name], s = strings.TrimSpace(value), after
			continue
		}
		var value strings.Builder
		i := 1
		for ; i < len(rest) && rest[i] != '"'; i++ {
			if rest[i] == '\\' && i+1 < len(rest) {
				i++
			}
			value.WriteByte(rest[i])
		}
		out[name], s = value.String(), rest[min(i+1, len(rest)):]
	}
	return out
}

// Answer is the Authorization field for a request. count is how often the nonce
// was used, this time too; cnonce is random.
func (c *Challenge) Answer(user *url.Userinfo, method, uri, cnonce string, count int) string {
	name := user.Username()
	pass, _ := user.Password()
	if !c.digest {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+pass))
	}
	sum := func(s string) string {
		h := c.make()
		h.Write([]byte(s))
		return hex.EncodeToString(h.Sum(nil))
	}
	secret := sum(name + ":" + c.realm + ":" + pass)
	if c.session {
		secret = sum(secret + ":" + c.Nonce + ":" + cnonce)
	}
	what := sum(method + ":" + uri)
	text := fmt.Sprintf("Digest username=%s, realm=%s, nonce=%s, uri=%s", quote(name), quote(c.realm), quote(c.Nonce), quote(uri))
	if c.qop {
		nc := fmt.Sprintf("%08x", count)
		text += fmt.Sprintf(`, response="%s", qop=auth, nc=%s, cnonce="%s"`, sum(secret+":"+c.Nonce+":"+nc+":"+cnonce+":auth:"+what), nc, cnonce)
	} else {
		text += fmt.Sprintf(`, response="%s"`, sum(secret+":"+c.Nonce+":"+what))
		if c.session {
			text += fmt.Sprintf(`, cnonce="%s"`, cnonce)
		}
	}
	if c.algorithm != "" {
		text += ", algorithm=" + c.algorithm
	}
	if c.hasOpaque {
		text += ", opaque=" + quote(c.opaque)
	}
	return text
}

// quote is a quoted-string (RFC 2616 2.2); line ends in it would end the field.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "", "\n", "").Replace(s) + `"`
}
