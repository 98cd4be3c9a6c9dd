package scene

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"snag/recording"
)

// runner is what is known of an interpreter's command line: what runs is named by the first word
// that is no option. Lists are between spaces.
type runner struct {
	code     string   // letters of short options after which code follows, not a name
	attached string   // letters of short options that may have a value in the same word
	values   string   // options with a value that is a word of its own
	file     string   // options after which the script follows
	module   string   // options after which a module follows
	ends     []string // how its scripts end
	class    bool     // a class may be named instead
}

var runners = map[string]runner{
	"python": {code: "c", attached: "WX", module: " -m ", values: " -W -X --check-hash-based-pycs ", ends: []string{".py", ".pyc", ".pyz"}},
	"node": {code: "ep", values: " -r --require --import --loader --experimental-loader -C --conditions --env-file --title ",
		ends: []string{".js", ".mjs", ".cjs", ".ts"}},
	"ruby": {code: "e", attached: "IrCEK", values: " -I -r -C ", ends: []string{".rb"}},
	"perl": {code: "eE", attached: "IMmCD", values: " -I ", ends: []string{".pl"}},
	"php":  {code: "rBR", attached: "dcSt", file: " -f ", values: " -d -c -S -t -z ", ends: []string{".php"}},
	"java": {file: " -jar ", module: " -m --module ", ends: []string{".jar", ".java"}, class: true,
		values: " -cp -classpath --class-path -p --module-path --upgrade-module-path --add-modules --add-opens --add-exports --add-reads --patch-module "},
	"dotnet": {values: " --depsfile --runtimeconfig --additionalprobingpath --fx-version --roll-forward ", ends: []string{".dll"}},
	"bash":   {code: "cs", values: " -o -O --rcfile --init-file ", ends: []string{".sh"}},
}

var sameRunner = map[string]string{"nodejs": "node", "MainThread": "node", "pypy": "python", "sh": "bash", "dash": "bash", "zsh": "bash", "ksh": "bash"}

// runnerOf is the interpreter that goes by a name: python3.11 is python.
func runnerOf(name string) (runner, bool) {
	name = strings.TrimRight(path.Base(name), "0123456789.")
	if same, ok := sameRunner[name]; ok {
		name = same
	}
	r, ok := runners[name]
	return r, ok
}

// cmdlineKept is how much of a command line is recorded besides addresses: the last word of one that
// long may be cut.
const cmdlineKept = 256

var (
	shortOptions = regexp.MustCompile(`^-[A-Za-z]+$`)
	className    = regexp.MustCompile(`^(?:[a-z_$][\w$]*\.)*([A-Z][\w$]*)$`)
)

// script is what an interpreter runs, by its command line: "app.py", "-m http.server", "shop.jar", a
// class of Java. It is "" of what is no interpreter, of a program that has given itself another
// name, and where nothing tells. What follows it, and what options are set to, may be secret: no
// more than the script's own name is ever returned.
func script(row recording.Process) string {
	words := strings.Fields(row.Cmdline[:min(len(row.Cmdline), cmdlineKept)])
	if len(row.Cmdline) >= cmdlineKept && len(words) > 0 {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return ""
	}
	r, ok := runnerOf(words[0])
	if _, still := runnerOf(row.Comm); !ok || !still {
		return ""
	}
	unknown := false // the word before is an option that may have this one as its value
	for words = words[1:]; len(words) > 0; words = words[1:] {
		w, next := words[0], ""
		if len(words) > 1 {
			next = words[1]
		}
		switch {
		case w == "-", w == "--eval", w == "--print":
			return "" // code
		case in(r.module, w) && next != "":
			module, _, _ := strings.Cut(next, "/")
			return "-m " + module
		case in(r.file, w) && next != "":
			return path.Base(next)
		case in(r.values, w):
			words = words[min(1, len(words)-1):]
		case shortOptions.MatchString(w) && !r.class:
			last := w[len(w)-1:]
			switch {
			case len(w) > 2 && strings.Contains(r.attached, w[1:2]):
			case strings.ContainsAny(w[1:], r.code):
				return ""
			case in(r.values, "-"+last):
				words = words[min(1, len(words)-1):]
			}
		case strings.HasPrefix(w, "-"):
			unknown = strings.HasPrefix(w, "--") && w != "--" && !strings.Contains(w, "=")
			continue
		case strings.HasPrefix(w, "@") && r.class: // a file of arguments
		default:
			if name := r.named(w, unknown); name != "" || !unknown {
				return name
			}
		}
		unknown = false
	}
	return ""
}

func in(list, word string) bool { return strings.Contains(list, " "+word+" ") }

// named is the name of what runs; "" where the word may be an option's value.
func (r runner) named(word string, doubt bool) string {
	base := path.Base(word)
	if slices.ContainsFunc(r.ends, func(end string) bool { return strings.HasSuffix(base, end) }) {
		return base
	}
	if m := className.FindStringSubmatch(word); r.class && m != nil && !doubt {
		return m[1]
	}
	// A script that comes over a descriptor has no name.
	if doubt || r.class || strings.ContainsAny(base, "=@:?&") || strings.HasPrefix(word, "/dev/fd/") {
		return ""
	}
	return base
}

// title is a program with the script that it runs: "python3 app.py". Node calls its first thread
// so, and is then known by that name.
func title(row recording.Process) string {
	what := script(row)
	switch {
	case what == "":
		return row.Comm
	case row.Comm == "MainThread":
		return "node " + what
	}
	return row.Comm + " " + what
}

// Alike is the same of processes that belong together: those of one program, or one script, in one
// place. Of an interpreter that runs code from its command line the whole of that counts. It is
// compared, and never shown.
func (p *Process) Alike() string {
	row := p.Last()
	what := title(row)
	if _, ok := runnerOf(row.Comm); ok && what == row.Comm {
		what = row.Cmdline
	}
	all := []string{what, row.Unit}
	for _, controller := range []string{"cpu", "memory", "blkio", "unified"} {
		all = append(all, row.GroupOf(controller))
	}
	return strings.Join(all, "\x00")
}
