package logs

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// grokNames are the patterns that maps may use by name, %{NAME} or %{NAME:group}: those
// of Logstash that logs are most often described with (its ecs-v1 patterns), in RE2's
// syntax: without look-around, which is why IP addresses are matched more loosely.
var grokNames = map[string]string{
	"WORD": `\b\w+\b`, "NOTSPACE": `\S+`, "SPACE": `\s*`, "DATA": `.*?`, "GREEDYDATA": `.*`,
	"INT": `[+-]?\d+`, "POSINT": `[1-9]\d*`, "NONNEGINT": `\d+`, "NUMBER": `[+-]?\d+(?:\.\d+)?`, "BASE10NUM": `[+-]?\d+(?:\.\d+)?`, "BASE16NUM": `(?:0[xX])?[0-9A-Fa-f]+`,
	"QUOTEDSTRING": `"(?:\\.|[^\\"])*"|'(?:\\.|[^\\'])*'`, "QS": `%{QUOTEDSTRING}`,
	"UUID":     `[A-Fa-f0-9]{8}-(?:[A-Fa-f0-9]{4}-){3}[A-Fa-f0-9]{12}`,
	"USERNAME": `[a-zA-Z0-9._-]+`, "USER": `%{USERNAME}`,
	"IPV4": `\d{1,3}(?:\.\d{1,3}){3}`, "IPV6": `[0-9A-Fa-f:]*:[0-9A-Fa-f:]+(?:%{IPV4})?`, "IP": `(?:%{IPV4}|%{IPV6})`,
	"HOSTNAME": `[0-9A-Za-z][0-9A-Za-z-]*(?:\.[0-9A-Za-z][0-9A-Za-z-]*)*\.?`, "IPORHOST": `(?:%{IP}|%{HOSTNAME})`, "HOSTPORT": `(?:\[%{IPV6}\]|%{IPORHOST}):%{POSINT}`,
	"PATH": `(?:%{UNIXPATH}|%{WINPATH})`, "UNIXPATH": `(?:/[\w_%!$@:.,+~-]*)+`, "WINPATH": `(?:[A-Za-z]+:|\\)(?:\\[^\\?*]*)+`,
	"URIPROTO": `[A-Za-z](?:[A-Za-z0-9+\-.]+)+`, "URIHOST": `%{IPORHOST}(?::%{POSINT})?`, "URIPATH": `(?:/[A-Za-z0-9$.+!*'(){},~:;=@#%&_\-]*)+`, "URIPARAM": `\?[A-Za-z0-9$.+!*'|(){},~@#%&/=:;_?\-\[\]<>]*`, "URIPATHPARAM": `%{URIPATH}(?:%{URIPARAM})?`, "URI": `%{URIPROTO}://(?:%{USER}(?::[^@]*)?@)?(?:%{URIHOST})?(?:%{URIPATHPARAM})?`,
	"MONTH": `\b(?:[Jj]an(?:uary)?|[Ff]eb(?:ruary)?|[Mm]ar(?:ch)?|[Aa]pr(?:il)?|[Mm]ay|[Jj]une?|[Jj]uly?|[Aa]ug(?:ust)?|[Ss]ep(?:tember)?|[Oo]ct(?:ober)?|[Nn]ov(?:ember)?|[Dd]ec(?:ember)?)\b`, "MONTHNUM": `(?:0?[1-9]|1[0-2])`, "MONTHDAY": `(?:0[1-9]|[12]\d|3[01]|[1-9])`, "DAY": `(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*`, "YEAR": `\d\d(?:\d\d)?`, "HOUR": `(?:2[0-3]|[01]?\d)`, "MINUTE": `[0-5]\d`, "SECOND": `(?:[0-5]?\d|60)(?:[:.,]\d+)?`, "TIME": `%{HOUR}:%{MINUTE}(?::%{SECOND})?`,
	"ISO8601_TIMEZONE": `(?:Z|[+-]%{HOUR}(?::?%{MINUTE})?)`, "TIMESTAMP_ISO8601": `%{YEAR}-%{MONTHNUM}-%{MONTHDAY}[T ]%{HOUR}:?%{MINUTE}(?::?%{SECOND})?%{ISO8601_TIMEZONE}?`, "HTTPDATE": `%{MONTHDAY}/%{MONTH}/%{YEAR}:%{TIME} %{INT}`, "SYSLOGTIMESTAMP": `%{MONTH} +%{MONTHDAY} %{TIME}`,
	"PROG": `[\x21-\x5a\x5c\x5e-\x7e]+`, "SYSLOGPROG": `%{PROG:process}(?:\[%{POSINT:pid}\])?`, "SYSLOGHOST": `%{IPORHOST}`,
	"LOGLEVEL":        `(?i:alert|trace|debug|notice|info(?:rmation)?|warn(?:ing)?|err(?:or)?|crit(?:ical)?|fatal|severe|emerg(?:ency)?)`,
	"COMMONAPACHELOG": `%{IPORHOST:peer} %{NOTSPACE} %{NOTSPACE} \[%{HTTPDATE}\] "(?:%{WORD} %{NOTSPACE}(?: HTTP/%{NUMBER})?|%{DATA})" %{NUMBER:status} (?:%{NUMBER:bytes_out}|-)`, "COMBINEDAPACHELOG": `%{COMMONAPACHELOG} %{QS} %{QS}`,
}

var (
	grokUse   = regexp.MustCompile(`%\{(\w+)(?::([\w.@\[\]-]+))?(?::\w+)?\}`)
	groupName = regexp.MustCompile(`^[a-z_]\w*$`)
)

// mostNested names within names; mostPattern bytes of a pattern with all put in.
const (
	mostNested  = 20
	mostPattern = 64 << 10
)

// expand puts in what the names stand for.
func expand(pattern string, own map[string]string) (string, error) {
	for range mostNested {
		var unknownName error
		next := grokUse.ReplaceAllStringFunc(pattern, func(use string) string {
			m := grokUse.FindStringSubmatch(use)
			text, ok := own[m[1]]
			if !ok {
				text, ok = grokNames[m[1]]
			}
			switch {
			case !ok:
				unknownName = fmt.Errorf("there is no pattern %s: define it before (define %s REGEXP)", m[1], m[1])
				return ""
			case m[2] == "":
				return "(?:" + text + ")"
			case !groupName.MatchString(m[2]):
				return "(?:" + text + ")" // a field that nothing here is named after
			}
			return "(?P<" + m[2] + ">" + text + ")"
		})
		if unknownName != nil {
			return "", unknownName
		}
		if next == pattern {
			return next, nil
		}
		if pattern = next; len(pattern) > mostPattern {
			return "", fmt.Errorf("with all names put in it is over %d bytes long", mostPattern)
		}
	}
	return "", fmt.Errorf("its names stand for themselves")
}

// literal is the longest text that is in every match of a pattern: a line without it
// need not be matched. "" where there is none.
func literal(pattern string) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	best := ""
	take := func(s string) {
		if len(s) > len(best) {
			best = s
		}
	}
	var walk func(*syntax.Regexp)
	walk = func(re *syntax.Regexp) {
		switch re.Op {
		case syntax.OpLiteral:
			if re.Flags&syntax.FoldCase == 0 {
				take(string(re.Rune))
			}
		case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
			for _, sub := range re.Sub {
				walk(sub)
			}
		}
	}
	walk(re.Simplify())
	return strings.Clone(best)
}
