// Package secrets masks what gives access in the arguments of programs: recordings are passed
// around. It masks by the rules of docs/security.md, and rather too much than too little: a
// value that was masked for nothing costs a look at the host.
package secrets

import (
	"path"
	"regexp"
	"strings"
	"unicode"
)

// Hidden stands for what was masked.
const Hidden = "***"

// lastWords of an option's name say that its value is a secret: --db-password, keyStorePassword,
// API_TOKEN. What follows such a word is about the secret: --password-file, --token-ttl.
var lastWords = set("password passwd passphrase passwort pass pwd secret token apikey accesskey secretkey credential credentials auth authorization " +
	"cookie bearer passin passout storepass keypass srcstorepass deststorepass requirepass masterauth community creds encrypt psk pat otp pin jwt dsn sas signature userpass authtoken accesstoken")

// lastTwo are such words of two parts.
var lastTwo = set("api key, access key, secret key, private key, stream key, account key, shared key, encryption key, signing key, session key, master key, license key, " +
	"auth key, encrypt key, secret id, client secret, user pass, pass wd")

// notValues are what follows a name for a secret without being one.
var notValues = set("true false yes no on off none null prompt ask stdin md5 scram basic bearer digest required optional file env")

func set(words string) map[string]bool {
	out := map[string]bool{}
	split := strings.Fields
	if strings.Contains(words, ",") {
		split = func(s string) []string { return strings.Split(s, ",") }
	}
	for _, w := range split(words) {
		out[strings.TrimSpace(w)] = true
	}
	return out
}

// names reports whether a name is that of a secret. Its words are split at what is no letter or
// digit, and where a capital begins.
func names(name string) bool {
	words := wordsOf(name)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	if lastWords[last] {
		return true
	}
	return len(words) > 1 && lastTwo[words[len(words)-2]+" "+last]
}

func wordsOf(name string) (out []string) {
	begin, lower := 0, false
	add := func(end int) {
		if end > begin {
			out = append(out, strings.ToLower(name[begin:end]))
		}
	}
	for i, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			add(i)
			begin = i + 1
		case unicode.IsUpper(r) && lower:
			add(i)
			begin = i
		}
		lower = unicode.IsLower(r)
	}
	add(len(name))
	return out
}

// Mask masks the arguments of a program, the first of which is its name. What it is given stays
// as it is.
func Mask(args []string) []string {
	out := make([]string, len(args))
	short := shortOf(args)
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if i > 0 {
			if masked, next, ok := short.mask(arg); ok {
				out[i] = masked
				if next && i+1 < len(args) {
					i++
					out[i] = short.value(arg, args[i])
				}
				continue
			}
			if option(arg) && names(arg) && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				out[i] = arg
				i++
				out[i] = value(args[i])
				continue
			}
		}
		out[i] = Text(arg)
		if strings.HasSuffix(arg, ":") && names(arg) { // a header whose words are apart: Authorization: Bearer TOKEN
			for i+1 < len(args) {
				i++
				if out[i] = args[i]; !notValues[strings.ToLower(args[i])] {
					out[i] = value(args[i])
					break
				}
			}
		}
	}
	return out
}

// Command masks a command line as /proc has it, its parts ended by zero bytes, and joins them by
// spaces. A program that has written a title over its arguments has one part.
func Command(b []byte) string {
	text := strings.TrimRight(string(b), "\x00 ")
	if !strings.Contains(text, "\x00") {
		return Line(text)
	}
	return strings.Join(Mask(strings.Split(text, "\x00")), " ")
}

// Line masks a command line whose arguments are joined by spaces.
func Line(line string) string {
	return strings.Join(Mask(strings.Split(line, " ")), " ")
}

// option reports whether an argument is an option's name whose value comes next.
func option(arg string) bool {
	return strings.HasPrefix(arg, "-") && !strings.ContainsAny(arg, "=: \t/@")
}

// value masks what follows the name of a secret.
func value(v string) string {
	if v == "" || notValues[strings.ToLower(v)] || strings.HasPrefix(v, "/") || strings.HasPrefix(v, "@/") {
		return v
	}
	// openssl's are of a kind: pass:VALUE, env:VAR, file:PATH.
	if kind, _, ok := strings.Cut(v, ":"); ok && (kind == "file" || kind == "env" || kind == "fd") {
		return v
	}
	return Hidden
}

var (
	// assigned is NAME=VALUE and NAME: VALUE, also quoted, as in JSON.
	assigned = regexp.MustCompile(`([A-Za-z][\w.-]*)(["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s"',;&}\])]+(?:\s+[^\s"',;&}\])]+)?)`)
	// signs are what tells by itself that it gives access: the kinds of tokens that GitHub, GitLab,
	// Slack, Google, Stripe, npm and others sign, a JSON web token, a private key.
	signs = regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|AIza[\w-]{30,}|[sr]k_(?:live|test)_\w{10,}|sk-[\w-]{20,}|npm_\w{30,}|hvs\.[\w-]{20,}|eyJ[\w-]{10,}\.[\w-]{5,}(?:\.[\w-]*)?)` +
		`|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*`)
	// userInfo is that of a URL (RFC 3986, 3.2.1).
	userInfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)([^\s/?#@]*(?:@[^\s/?#@]*)*)@`)
	// streamKey is the last part of what is published to: who knows it may publish. A shorter one is
	// rather a stream's name.
	streamKey = regexp.MustCompile(`(\brtmp[set]{0,2}://[^\s?#]*/)[\w-]{16,}`)
	// streamQuery is the query of a live stream's URL: servers let in by it, under any name.
	streamQuery = regexp.MustCompile(`\b(?:(?:rtmp[set]{0,2}|rtsps?|srt)://[^\s?#"']*|https?://[^\s?#"']*\.(?:m3u8|flv|ts))\?[^\s#"']+`)
	queryValue  = regexp.MustCompile(`([?&][^=&?]*=)[^&]+`)
	// dataSource is the form of Go's database drivers: user:password@tcp(host)/base.
	dataSource = regexp.MustCompile(`^([^\s:/@]+):([^\s@]+)@(tcp|tcp4|tcp6|unix|cloudsql)?\(`)
)

// tokenLength is that of a name in a URL without a password which is rather a token.
const tokenLength = 20

// Text masks what can be told to be a secret within a text of any kind.
func Text(s string) string {
	if !strings.ContainsAny(s, "=:@_-.") {
		return s
	}
	s = userInfo.ReplaceAllStringFunc(s, func(m string) string {
		p := userInfo.FindStringSubmatch(m)
		user, _, has := strings.Cut(p[2], ":")
		switch {
		case has:
			return p[1] + user + ":" + Hidden + "@"
		case len(user) >= tokenLength:
			return p[1] + Hidden + "@"
		}
		return m
	})
	s = streamKey.ReplaceAllString(s, "${1}"+Hidden)
	s = streamQuery.ReplaceAllStringFunc(s, func(m string) string { return queryValue.ReplaceAllString(m, "${1}"+Hidden) })
	s = dataSource.ReplaceAllString(s, "$1:"+Hidden+"@$3(")
	s = replaceAssigned(s)
	return signs.ReplaceAllString(s, Hidden)
}

func replaceAssigned(s string) string {
	var b strings.Builder
	for s != "" {
		at := assigned.FindStringSubmatchIndex(s)
		if at == nil {
			break
		}
		name, between, v := s[at[2]:at[3]], s[at[4]:at[5]], s[at[6]:at[7]]
		if !names(name) || strings.HasPrefix(between, "://") || strings.HasPrefix(v, "//") {
			// Only the name is done: what follows may begin with one too.
			b.WriteString(s[:at[5]])
			s = s[at[5]:]
			continue
		}
		b.WriteString(s[:at[6]])
		b.WriteString(hide(v, strings.Contains(between, ":")))
		s = s[at[7]:]
	}
	return b.String() + s
}

// hide masks an assigned value, which may be quoted. Of a header's the scheme stays
// (Authorization: Bearer TOKEN); elsewhere a second word is the next thing.
func hide(v string, header bool) string {
	if q := v[0]; q == '"' || q == '\'' {
		return string(q) + value(v[1:len(v)-1]) + string(q)
	}
	first, rest, two := strings.Cut(v, " ")
	switch {
	case !two:
		return value(v)
	case header && notValues[strings.ToLower(first)]:
		return first + " " + Hidden
	case header:
		return Hidden
	}
	return value(first) + " " + Text(rest)
}

func program(arg0 string) string {
	name := path.Base(strings.TrimLeft(arg0, "-"))
	return strings.TrimSuffix(name, ":")
}
