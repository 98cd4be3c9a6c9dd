package objects

import (
	"crypto/tls"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"snag/internal/post"
	"snag/internal/shown"
)

// Codes of S3 (docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html).
const (
	noBucket = "NoSuchBucket"
	skewed   = "RequestTimeTooSkewed"
)

// cures are what a person does about an answer, by its code.
var cures = map[string]string{
	"InvalidAccessKeyId":    "the store does not know this access key: check AWS_ACCESS_KEY_ID, or the file of --incidents-credentials",
	"XAdminUserNotFound":    "the store does not know this access key: check AWS_ACCESS_KEY_ID, or the file of --incidents-credentials", // of versitygw
	"SignatureDoesNotMatch": "the secret is not this access key's: check AWS_SECRET_ACCESS_KEY, or the file of --incidents-credentials",
	"InvalidToken":          "the session's token is not valid: renew the credentials",
	"ExpiredToken":          "the session's token has expired: renew the credentials",
	"AccessDenied":          "these credentials may not do that: allow s3:PutObject, and for reading s3:GetObject and s3:ListBucket",
	"SlowDown":              "it is sent again, with growing pauses",
	"QuotaExceeded":         "make room in the store, or raise its quota",
	"XMinioStorageFull":     "make room in the store",
}

// otherRegion are the codes for a bucket of another region.
var otherRegion = []string{"AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException", "TemporaryRedirect"}

// ofOne are the codes that are said of one object, and of another may not be.
var ofOne = []string{"EntityTooLarge", "InvalidObjectName", "KeyTooLongError", "XMinioInvalidObjectName"}

const (
	mostAnswer = 64 << 10 // bytes of an answer that are read
	mostShown  = 200      // bytes of it in an error
)

// answered is what an answer means that is not of success. now is this host's time.
func answered(resp *http.Response, keys credentials, b *bucket, now time.Time) *Failed {
	var said struct{ Code, Message, Region string }
	text, _ := io.ReadAll(io.LimitReader(resp.Body, mostAnswer)) // an answer that is cut off is still one
	if xml.Unmarshal(text, &said) != nil || said.Code == "" {
		said.Code = fmt.Sprintf("HTTP %d", resp.StatusCode)
		said.Message = string(text)
	}
	f := &Failed{Code: short(said.Code, keys), Why: short(said.Code+": "+said.Message, keys), After: post.RetryAfter(resp.Header.Get("Retry-After"), now)}
	region := resp.Header.Get("X-Amz-Bucket-Region")
	if region == "" {
		region = said.Region
	}
	switch {
	case said.Code == noBucket:
		f.Cure = fmt.Sprintf("make the bucket %s, or correct the URL", b.name)
	case said.Code == skewed:
		f.Cure = skew(resp.Header.Get("Date"), now) + "; set it (timedatectl, chronyc tracking)"
	case slices.Contains(otherRegion, said.Code):
		f.Cure = "give the bucket's region with --incidents-region"
		if region != "" {
			f.Cure = "the bucket is in the region " + short(region, keys) + ": give it with --incidents-region"
		}
	case resp.StatusCode/100 == 3:
		f.Cure = "redirects are not followed; give the final URL with --incidents-endpoint"
	case slices.Contains(ofOne, said.Code), resp.StatusCode == http.StatusRequestEntityTooLarge:
		f.Refused = true
	default:
		f.Cure = cures[said.Code]
	}
	return f
}

// skew says how far this host's clock is from the store's, whose date its answer has.
func skew(date string, now time.Time) string {
	at, err := http.ParseTime(date)
	d := now.Sub(at).Round(time.Second)
	if err != nil || d.Abs() < time.Minute { // a proxy's date, or it was set meanwhile
		return "this host's clock and the store's differ by more than the store allows"
	}
	if d < 0 {
		return fmt.Sprintf("this host's clock is %s behind the store's", -d)
	}
	return fmt.Sprintf("this host's clock is %s ahead of the store's", d)
}

// short makes a stranger's text short and harmless.
func short(text string, keys credentials) string {
	text = shown.Text(strings.Join(strings.Fields(keys.clean(text)), " "))
	if len(text) > mostShown {
		text = strings.ToValidUTF8(text[:mostShown], "") + "…"
	}
	return strings.TrimSuffix(strings.TrimSpace(text), ":")
}

func cureOfNetwork(err error) string {
	var cert *tls.CertificateVerificationError
	if errors.As(err, &cert) {
		return "add the authority of its certificate to the system's, or name a file with it in SSL_CERT_FILE"
	}
	return ""
}
