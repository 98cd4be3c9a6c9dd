package gbtest

import (
	"crypto/md5"
	"fmt"
	"regexp"
	"slices"

	"github.com/emiago/sipgo/sip"
)

var inDigest = regexp.MustCompile(`(\w+)="?([^",]*)"?`)

// allowed checks the digest of a request (RFC 2617 3.2.2.1, without qop).
func (p *Platform) allowed(req *sip.Request) bool {
	need := p.Challenge
	if need == nil {
		need = []string{"REGISTER"}
	}
	method := string(req.Method)
	if p.User == "" || !slices.Contains(need, method) {
		return true
	}
	h := req.GetHeader("Authorization")
	if h == nil {
		return false
	}
	got := map[string]string{}
	for _, m := range inDigest.FindAllStringSubmatch(h.Value(), -1) {
		got[m[1]] = m[2]
	}
	sum := func(s string) string { return fmt.Sprintf("%x", md5.Sum([]byte(s))) }
	want := sum(sum(p.User+":3402000000:"+p.Password) + ":" + got["nonce"] + ":" + sum(method+":"+got["uri"]))
	return got["nonce"] == fmt.Sprintf("n%d", p.nonce) && got["username"] == p.User && got["uri"] == req.Recipient.String() && got["response"] == want
}
