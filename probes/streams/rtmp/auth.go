package rtmp

import (
	"crypto/md5" // the servers' own, not a choice
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"

	"snag/internal/rtmp"
)

// challenge is a server that wants a user and a password: not in the URL's
// query but by Adobe's or Limelight's exchange, each step a connection of its own
// (as in libavformat/rtmpproto.c; there is no specification).
type challenge struct {
	mode  string // adobe or llnw
	words string
	asked url.Values // what the second step gave; nil in the first
}

func (c *challenge) Error() string { return c.words }

// challengeIn finds one in the words with which connect was rejected:
// "[ AccessManager.Reject ] : [ code=403 need auth; authmod=adobe ] : " and then
// "… : [ authmod=adobe ] : ?reason=needauth&user=u&salt=…&challenge=…&opaque=…".
func challengeIn(words string) (*challenge, bool) {
	c := &challenge{words: words}
	for _, mode := range []string{"adobe", "llnw"} {
		if strings.Contains(words, "authmod="+mode) {
			c.mode = mode
		}
	}
	if c.mode == "" {
		return nil, false
	}
	if strings.Contains(words, "code=403 need auth") {
		return c, true
	}
	_, query, ok := strings.Cut(words, "?reason=needauth")
	if !ok {
		return nil, false // authfailed, nosuchuser
	}
	c.asked = url.Values{}
	for pair := range strings.SplitSeq(query, "&") {
		// By hand: salts and nonces are base64 whose "+" is no space.
		if name, value, ok := strings.Cut(pair, "="); ok {
			c.asked.Set(name, strings.TrimSpace(value))
		}
	}
	return c, true
}

// answer is what the next connection adds to the application's name.
func (c *challenge) answer(t rtmp.Target) (string, error) {
	if c.asked == nil {
		return fmt.Sprintf("?authmod=%s&user=%s", c.mode, t.User), nil
	}
	var random [4]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", fmt.Errorf("random bytes to log in: %w", err)
	}
	if c.mode == "adobe" {
		return c.adobe(t, hex.EncodeToString(random[:])), nil
	}
	return c.llnw(t, hex.EncodeToString(random[:])), nil
}

func (c *challenge) adobe(t rtmp.Target, own string) string {
	hash := base64md5(t.User + c.asked.Get("salt") + t.Pass)
	opaque := c.asked.Get("opaque")
	with := opaque
	if with == "" {
		with = c.asked.Get("challenge")
	}
	s := fmt.Sprintf("?authmod=adobe&user=%s&challenge=%s&response=%s", t.User, own, base64md5(hash+with+own))
	if opaque != "" {
		s += "&opaque=" + opaque
	}
	return s
}

// llnw is HTTP's digest (RFC 2617 3.2.2) over a method and a realm that are fixed.
func (c *challenge) llnw(t rtmp.Target, own string) string {
	const realm, method, qop, count = "live", "publish", "auth", "00000001"
	app := t.App
	if !strings.Contains(app, "/") {
		app += "/_definst_"
	}
	nonce := c.asked.Get("nonce")
	user, what := hexmd5(t.User+":"+realm+":"+t.Pass), hexmd5(method+":/"+app)
	response := hexmd5(strings.Join([]string{user, nonce, count, own, qop, what}, ":"))
	return fmt.Sprintf("?authmod=llnw&user=%s&nonce=%s&cnonce=%s&nc=%s&response=%s", t.User, nonce, own, count, response)
}

func base64md5(s string) string {
	sum := md5.Sum([]byte(s))
	return base64.StdEncoding.EncodeToString(sum[:])
}

func hexmd5(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}
