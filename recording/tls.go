package recording

import (
	"fmt"
	"strings"
)

const (
	tlsAlert = "TLS alert"
	ofPeer   = ", from the client"
)

// tlsAlerts are the descriptions of fatal alerts (RFC 8446, 6.2 and B.2; RFC 5246, 7.2).
var tlsAlerts = map[uint8]string{
	10: "unexpected_message", 20: "bad_record_mac", 21: "decryption_failed", 22: "record_overflow", 40: "handshake_failure", 42: "bad_certificate", 43: "unsupported_certificate",
	44: "certificate_revoked", 45: "certificate_expired", 46: "certificate_unknown", 47: "illegal_parameter", 48: "unknown_ca", 49: "access_denied", 50: "decode_error", 51: "decrypt_error",
	70: "protocol_version", 71: "insufficient_security", 80: "internal_error", 86: "inappropriate_fallback", 90: "user_canceled", 109: "missing_extension", 110: "unsupported_extension",
	112: "unrecognized_name", 113: "bad_certificate_status_response", 115: "unknown_psk_identity", 116: "certificate_required", 120: "no_application_protocol",
	hiddenAlert: EncryptedAlert,
}

// EncryptedAlert is what an alert is called that ended a handshake of TLS 1.3 and says why behind
// encryption. No description has its number.
const (
	EncryptedAlert = "encrypted"
	hiddenAlert    = 255
)

// TLSAlert is what a failed answer is called (Turns.FailedAs) that was a TLS alert of the
// server's or of its client's; 0: its description was not seen.
func TLSAlert(description uint8, peer bool) string {
	text := tlsAlert
	if name := tlsAlerts[description]; name != "" {
		text += " " + name
	} else if description != 0 {
		text += fmt.Sprintf(" %d", description)
	}
	if peer {
		text += ofPeer
	}
	return text
}

// IsTLSAlert reports whether a failed answer was a TLS alert, which, "" where that was not
// seen, and whether it was the client's.
func IsTLSAlert(failedAs string) (alert string, peer, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(failedAs, "a "), tlsAlert) // older recordings say no more than "a TLS alert"
	if !ok {
		return "", false, false
	}
	rest, peer = strings.CutSuffix(rest, ofPeer)
	return strings.TrimSpace(rest), peer, true
}
