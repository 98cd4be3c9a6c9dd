package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the bundle
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"path/filepath"

	"snag/internal/shown"
	"snag/report"
	"snag/report/page/streams"
	"snag/verdict"
)

// The bundle is built from ui/ (make ui) and committed; CI builds it again and
// fails on a difference.
var (
	//go:embed bundle/page.js
	script []byte
	//go:embed bundle/live.js
	liveScript []byte
	//go:embed bundle/board.js
	boardScript []byte
	//go:embed bundle/fleet.js
	fleetScript []byte
	//go:embed bundle/page.css
	style []byte
)

// MaxBytes is how large a page may be: it is mailed about.
const MaxBytes = 2_000_000

// WriteHTML writes the page: one file that asks for nothing else. Its policy
// (CSP) lets nothing run or load but the bundle, by its hash. The same recording
// gives the same bytes.
func WriteHTML(w io.Writer, v *verdict.Verdict) error { return WriteHTMLWith(w, v, nil) }

// WriteHTMLWith is WriteHTML with the single frames of streams; nil is none.
func WriteHTMLWith(w io.Writer, v *verdict.Verdict, frames *streams.Frames) error {
	return write(w, v, frames, nil)
}

// WriteHTMLCompared is WriteHTML with how the recording differs from another one.
func WriteHTMLCompared(w io.Writer, v *verdict.Verdict, c *Comparison) error {
	return write(w, v, nil, c)
}

func write(w io.Writer, v *verdict.Verdict, frames *streams.Frames, c *Comparison) error {
	out, err := renderWith(v, frames, c)
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

func render(v *verdict.Verdict) ([]byte, error) { return renderWith(v, nil, nil) }

func renderWith(v *verdict.Verdict, frames *streams.Frames, c *Comparison) ([]byte, error) {
	var text bytes.Buffer
	if err := report.WriteText(&text, v, report.Options{}); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, l := range limits {
		d := newWith(v, frames, l)
		d.Comparison = c
		// json escapes <, > and & in strings, so that no text ends the element.
		data, err := json.Marshal(d)
		if err != nil {
			return nil, fmt.Errorf("write the page's data: %w", err)
		}
		out.Reset()
		fmt.Fprintf(&out, shell, html.EscapeString(FilePolicy()), html.EscapeString(shown.Text(Title(v))), style,
			html.EscapeString(text.String()), shown.InJSON(data), script)
		if out.Len() <= MaxBytes {
			break
		}
	}
	return out.Bytes(), nil
}

// Title is what the page is called: the first culprit, or that there is none.
func Title(v *verdict.Verdict) string {
	host := v.Recording.Manifest.Host
	if host == "" && len(v.Recording.Manifest.Files) > 0 {
		host = filepath.Base(v.Recording.Manifest.Files[0].Name)
	}
	if all := v.Here(verdict.Culprit); len(all) > 0 {
		return all[0].Suspect.Title + " · " + all[0].Subject.Name + " · snag on " + host
	}
	if v.Abstained != "" {
		return "No culprit named · snag on " + host
	}
	if name := v.Target(); name != "" {
		return "Nothing wrong seen with " + name + " · snag on " + host
	}
	return "Nothing wrong seen · snag on " + host
}

// FilePolicy is the policy (CSP) of a written page.
func FilePolicy() string {
	return fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'", hash(script), hash(style))
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// shell is the page around its parts: script hash, style hash, title, style, the
// text report for whoever runs no script, data, script.
const shell = `<!doctype html>
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
<noscript><pre>%s</pre></noscript>
<script type="application/json" id="data">%s</script>
<script>%s</script>
</body>
</html>
`
