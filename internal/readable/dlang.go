package readable

import "strings"

// dName undoes the mangling of D as far as names go: _D and identifiers, each with its
// length before it, or Q and how far back it stands already, in base 26 (the D
// specification, "Name Mangling"). The types that follow are left out, as are the
// arguments of templates. "" where it is no such name.
func dName(mangled string) string {
	if mangled == "_Dmain" {
		return "D main"
	}
	rest, ok := strings.CutPrefix(mangled, "_D")
	if !ok || rest == "" || rest[0] < '0' || rest[0] > '9' {
		return ""
	}
	var out []string
	at := 2
	for at < len(mangled) {
		name, next := dIdentifier(mangled, at)
		if name == "" && next == at {
			break
		}
		if template, ok := strings.CutPrefix(name, "__T"); ok {
			if name, _ = dIdentifier(template, 0); name == "" {
				return ""
			}
			name += "!"
		}
		if name != "" {
			out = append(out, name)
		}
		at = next
	}
	return strings.Join(out, ".")
}

// dIdentifier reads one identifier; next is at where there is none. An empty one (0) is
// an anonymous symbol.
func dIdentifier(s string, at int) (name string, next int) {
	i, n := at, 0
	if i < len(s) && s[i] == 'Q' {
		back := 0
		for i++; i < len(s) && s[i] >= 'A' && s[i] <= 'Z' && back < len(s); i++ {
			back = 26*back + int(s[i]-'A')
		}
		if i >= len(s) || s[i] < 'a' || s[i] > 'z' {
			return "", at
		}
		back = 26*back + int(s[i]-'a')
		if back == 0 || back > at || s[at-back] < '0' || s[at-back] > '9' {
			return "", at // a type that stands already
		}
		name, _ = dIdentifier(s, at-back)
		return name, i + 1
	}
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9' && n <= len(s); i++ {
		n = 10*n + int(s[i]-'0')
	}
	if i == at || n > len(s)-i {
		return "", at
	}
	return s[i : i+n], i + n
}
