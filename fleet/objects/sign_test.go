package objects

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Amazon's published examples (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
func TestSignaturesOfAmazonsExamples(t *testing.T) {
	t.Parallel()
	keys := credentials{key: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
	for _, c := range []struct {
		method, path, body string
		header             http.Header
		want               string
	}{
		{"GET", "/test.txt", "", http.Header{"Range": {"bytes=0-9"}}, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"PUT", "/test$file.text", "Welcome to Amazon S3.", http.Header{"Date": {"Fri, 24 May 2013 00:00:00 GMT"}, "X-Amz-Storage-Class": {"REDUCED_REDUNDANCY"}}, "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
		{"GET", "/?lifecycle", "", nil, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"GET", "/?max-keys=2&prefix=J", "", nil, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))) // the bubble begins in 2000
			req, err := http.NewRequest(c.method, "https://examplebucket.s3.amazonaws.com"+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			for name, values := range c.header {
				req.Header[name] = values
			}
			sum := sha256.Sum256([]byte(c.body))
			sign(req, hex.EncodeToString(sum[:]), keys, "us-east-1")
			if got := req.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+c.want) {
				t.Errorf("%s %s: %s", c.method, c.path, got)
			}
		})
	}
}
