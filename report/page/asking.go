package page

import (
	"bytes"
	"fmt"
	"html"

	"snag/internal/shown"
)

// Pages that hold no data, and ask the server that they come from, and nobody else, for them. A server sends their
// policy (CSP) as a header too, by which no other page may frame them.

// Live is the page of a running watch. title is what it is called.
func Live(title string) []byte {
	return asking(title, LivePolicy(), liveScript, "snag watch --plain prints the same as lines, snag watch --listen serves it as metrics.")
}

// LivePolicy is the policy of that page.
func LivePolicy() string { return askingPolicy(liveScript) }

// Board is the page of snag serve.
func Board(title string) []byte {
	return asking(title, BoardPolicy(), boardScript, "snag incidents lists the same.")
}

// BoardPolicy is the policy of that page.
func BoardPolicy() string { return askingPolicy(boardScript) }

// Fleet is snag serve's page of many hosts.
func Fleet() []byte {
	return asking("snag: many hosts", FleetPolicy(), fleetScript, "snag find --fleet prints the same.")
}

// FleetPolicy is the policy of that page.
func FleetPolicy() string { return askingPolicy(fleetScript) }

func askingPolicy(script []byte) string {
	return fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; connect-src 'self'; base-uri 'none'; form-action 'none'", hash(script), hash(style))
}

func asking(title, policy string, script []byte, instead string) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, askingShell, html.EscapeString(policy), html.EscapeString(shown.Text(title)), style, instead, script)
	return out.Bytes()
}

// askingShell is such a page around its parts: policy, title, style, what there is without a script, script.
const askingShell = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<style>%s</style>
</head>
<body>
<div id="page"></div>
<noscript><pre>This page needs its script. %s</pre></noscript>
<script>%s</script>
</body>
</html>
`

// Login is the form that takes the token of snag serve; wrong says why it is shown again, "" at first. back is the path
// that was asked for.
func Login(wrong, back string) []byte {
	var out bytes.Buffer
	warning := ""
	if wrong != "" {
		warning = `<p class="warning" role="alert">` + html.EscapeString(wrong) + "</p>\n"
	}
	fmt.Fprintf(&out, loginShell, html.EscapeString(LoginPolicy()), style, warning, html.EscapeString(back))
	return out.Bytes()
}

// LoginPolicy is the policy of that page.
func LoginPolicy() string {
	return fmt.Sprintf("default-src 'none'; style-src '%s'; base-uri 'none'; form-action 'self'", hash(style))
}

// loginShell is the form around its parts: policy, style, warning, the path to go back to.
const loginShell = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>snag serve</title>
<style>%s</style>
</head>
<body>
<main class="login">
<h3>snag serve</h3>
%s<form method="post" action="/login">
<input type="hidden" name="back" value="%s">
<label for="token">Token, as in the file that snag serve named when it started</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button type="submit">Log in</button>
</form>
</main>
</body>
</html>
`
