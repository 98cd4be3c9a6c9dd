package net

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"time"

	"snag/internal/sorting"
	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var tlsHandshakeFailed = &suspect.Suspect{
	Name:  "tls-handshake-failed",
	Title: "TLS handshakes fail",
	About: "Clients connect, and the two ends do not agree. A certificate has expired or is of an authority that the client does not know, or no version or cipher is shared. Or the server has no certificate for the name that is asked for, or wants one of the client. " +
		"Connections are made and closed at once, and no request arrives. Who objects says why in an alert.",
	Needs: []suspect.Need{
		{Measure: "sockets.turns", Must: true, Why: "alerts, who sent them, and which they are where they are not encrypted"},
		{Measure: "sockets.connections", Why: "of how many connections"},
	},
	For: []string{"decisive: five alerts or more, at one in 20 of the answers, ended handshakes of a listener; which alert says why"},
	Against: []string{
		"trap: alerts of one address at three listeners or more are a scanner's; those for what is not TLS (unexpected_message, decode_error, record_overflow) say that somebody speaks another protocol: neither counts",
		"trap: checks that connect and close say nothing, and get no alert",
		"trap: a farewell (close_notify) of TLS 1.3 is as long as an alert that ends a handshake: it comes behind a Finished, an answer or the client's own farewell, and does not count",
		"can't tell: with TLS 1.3 what a client objects to that encrypts it (OpenSSL's does not, Go's does), and what a server says of a client's certificate. Only that an alert ended the handshake is seen. Nor what a server reads otherwise than by read and recv",
	},
	LeadsTo:  []suspect.Lead{{To: scene.FailedAnswers, Lag: 2 * time.Second}, {To: "error-answers", Lag: 2 * time.Second}, {To: scene.ConnectionErrors, Lag: 5 * time.Second}, {To: "peer-reset", Lag: 5 * time.Second}, {To: "reconnect-storm", Lag: 10 * time.Second}},
	Remedy:   suspect.Remedy{Permanently: "What the alert says: a certificate that is valid and whole, one for the name, a version and cipher that both have."},
	Verified: "a handshake of a client succeeds",
	Next:     "openssl s_client -connect ADDRESS:PORT -servername NAME </dev/null 2>&1 | grep -E 'alert|Verif|notAfter|Protocol|Cipher'",
	Weigh:    weighTLS,
}

// alerts are the TLS alerts of one listener.
type alerts struct {
	n       float64
	by      map[string]float64 // "certificate_expired", ", from the client" behind it
	sources map[string]float64 // address of the client
}

func weighTLS(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	failing := map[scene.NodeID]scene.Symptom{}
	for _, sym := range s.Symptoms {
		if sym.Name == scene.FailedAnswers {
			failing[scene.IDOf(sym.Subject)] = sym
		}
	}
	at := map[string]*alerts{} // by listener
	stray := scene.StrayAlerts(r)
	key := func(row recording.Turns) string { return fmt.Sprint(row.Netns, " ", row.Local) }
	for _, row := range r.Turns {
		if _, _, ok := recording.IsTLSAlert(row.FailedAs); !ok || row.Role != "serve" || row.Failed == 0 || stray(row) {
			continue
		}
		a := at[key(row)]
		if a == nil {
			a = &alerts{by: map[string]float64{}, sources: map[string]float64{}}
			at[key(row)] = a
		}
		a.n += float64(row.Failed)
		a.by[row.FailedAs] += float64(row.Failed)
		a.sources[row.Remote] += float64(row.Failed)
	}
	var out []suspect.Finding
	for _, v := range scene.Services(s, r, "serve") {
		sym, ok := failing[scene.IDOf(v.Subject)]
		a := at[key(v.Rows[0])]
		if !ok || a == nil {
			continue
		}
		out = append(out, failedHandshakes(r, v, sym, a))
	}
	return out
}

func failedHandshakes(r *recording.Recording, v *scene.Service, sym scene.Symptom, a *alerts) suspect.Finding {
	kinds := sorting.Collect(maps.Keys(a.by), func(x, y string) int { return cmp.Or(cmp.Compare(a.by[y], a.by[x]), cmp.Compare(x, y)) })
	alert, peer, _ := recording.IsTLSAlert(kinds[0])
	of := 0.0
	for _, c := range r.Connections {
		if c.Role == "accept" && c.Netns == v.Subject.Netns && recording.Port(c.Local) == recording.Port(v.Subject.Local) {
			of += float64(c.Opened)
		}
	}
	who, why := "it refuses", ""
	if peer {
		who = "its clients refuse"
	}
	if why = reasonOf(alert, peer); why != "" {
		why = ": " + why
	}
	text := fmt.Sprintf("%s TLS handshakes failed (%s)%s", units.Count(a.n), strings.TrimSpace("alert "+alert), why)
	if of >= a.n {
		text = fmt.Sprintf("%s TLS handshakes failed, of %s connections (%s)%s", units.Count(a.n), units.Count(of), strings.TrimSpace("alert "+alert), why)
	}
	from := sorting.Collect(maps.Keys(a.sources), func(x, y string) int {
		return cmp.Or(cmp.Compare(a.sources[y], a.sources[x]), cmp.Compare(x, y))
	})
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: a.n, Unit: "alerts", Source: source.Of("the first bytes of TLS records"), Origin: "alerts",
		Text: fmt.Sprintf("%s fatal alerts before a handshake was done%s; %s; clients %s", units.Count(a.n), a.others(kinds[1:]), who, strings.Join(from[:min(len(from), 3)], ", "))}
	f := suspect.Finding{Subject: v.Subject, Active: sym.Active, Text: text, Remedy: mendTLS(alert, peer),
		Next: fmt.Sprintf("openssl s_client -connect %s -servername NAME </dev/null 2>&1 | grep -E 'alert|Verif|notAfter|Protocol|Cipher'", v.Subject.Local),
		Harm: suspect.Harm{Symptom: scene.FailedAnswers, Amount: sym.Amount, Of: max(of, sym.Amount), Unit: sym.Unit, Text: text}}
	f.Evidence = []suspect.Evidence{e}
	return f
}

// others counts the kinds of alerts besides the most frequent: of one fault some clients say in
// clear what others encrypt.
func (a *alerts) others(kinds []string) string {
	if len(kinds) == 0 {
		return ""
	}
	n := make([]string, len(kinds))
	for i, kind := range kinds {
		n[i] = fmt.Sprintf("%s %s", units.Count(a.by[kind]), strings.TrimPrefix(kind, "TLS alert "))
	}
	return ": " + strings.Join(n, ", ")
}

// reasonOf is what an alert means, of the server or of a client.
func reasonOf(alert string, peer bool) string {
	switch alert {
	case "certificate_expired":
		if peer {
			return "the server's certificate has expired"
		}
		return "the client's certificate has expired"
	case "unknown_ca":
		if peer {
			return "the client does not know who signed the server's certificate"
		}
		return "the server does not know who signed the client's certificate"
	case "bad_certificate", "certificate_unknown", "certificate_revoked", "unsupported_certificate", "bad_certificate_status_response":
		return map[bool]string{true: "the client does not accept the server's certificate", false: "the server does not accept the client's certificate"}[peer]
	case recording.EncryptedAlert: // TLS 1.3: what one end found wrong in what the other end encrypted
		return map[bool]string{true: "most likely the client does not accept the server's certificate", false: "most likely the server does not accept the client's certificate, or the client shows none"}[peer]
	case "protocol_version", "inappropriate_fallback":
		return "no version of TLS is shared"
	case "handshake_failure", "insufficient_security", "illegal_parameter":
		return "no cipher or key exchange is shared"
	case "unrecognized_name":
		return "the server has no certificate for the name that is asked for"
	case "certificate_required":
		return "the client shows no certificate"
	case "no_application_protocol":
		return "no protocol above TLS is shared (ALPN)"
	case "internal_error":
		return map[bool]string{true: "", false: "the server has no usable certificate or key"}[peer]
	case "decrypt_error":
		return "a signature is wrong: a certificate and a key that do not belong together"
	}
	return ""
}

// mendTLS is what helps.
func mendTLS(alert string, peer bool) suspect.Remedy {
	switch alert {
	case "certificate_expired":
		return suspect.Remedy{Permanently: "Renew the certificate, and have its program load it. Renewal by a timer, and an alarm 14 days before notAfter."}
	case "unknown_ca", "bad_certificate", "certificate_unknown", "unsupported_certificate", "decrypt_error", recording.EncryptedAlert:
		if peer {
			return suspect.Remedy{Permanently: "Look at what the server shows (openssl s_client -showcerts): its whole chain, its names, its dates. The chain in the server's file, or the authority among those that the client trusts."}
		}
		return suspect.Remedy{Permanently: "Add the authority of the clients' certificates to those that the server trusts, and reload it."}
	case "protocol_version", "inappropriate_fallback", "handshake_failure", "insufficient_security":
		return suspect.Remedy{Permanently: "Allow a version and a cipher that these clients have, as far as that is safe (ssl_protocols, MinVersion), and reload. Or newer clients."}
	case "unrecognized_name", "internal_error":
		return suspect.Remedy{Permanently: "A certificate for the name that clients ask for, or the name in the client. The server's log says which name."}
	case "certificate_required":
		return suspect.Remedy{Permanently: "Give the clients their certificates before the server demands them."}
	}
	return suspect.Remedy{Permanently: "A certificate that is valid, and versions and ciphers that both have. The server's log says what it missed."}
}
