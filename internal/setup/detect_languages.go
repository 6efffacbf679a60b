package setup

import (
	"cmp"
	_ "embed"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

//go:embed languages.yaml
var languagesFile []byte

// languages is what languages.yaml has.
type languages struct {
	Hosts map[string][]string
	Unfit []struct {
		Text, Why string
		Tasks     bool // it holds for what a task does, too
	}
	Tools []recipe
}

// recipe is how projects of a tool are set up and checked.
type recipe struct {
	Tool            string
	Manifest, Files []string
	Env             map[string]string // of all commands
	Words           []struct {
		Name, Is  string
		condition `yaml:",inline"`
	}
	Commands []struct {
		Kind, Name, Run, Why, Timeout string
		Tool                          string // whose tests they are, if another one
		Env                           map[string]string
		Hosts                         string   // whose
		Named                         []string // files that name more hosts
		Besides                       string   // more of them
		Leaves                        []string
		condition                     `yaml:",inline"`
	}
}

// condition is what has to fit.
type condition struct {
	If, Unless, In       []string
	Text, Mentions, Word string
}

var known = sync.OnceValue(func() (all languages) {
	if err := yaml.Unmarshal(languagesFile, &all); err != nil {
		panic("languages.yaml: " + err.Error()) // unreachable: a test reads it
	}
	return all
})

// usualHosts are those that a package manager fetches from.
func usualHosts(of string) []string { return slices.Clone(known().Hosts[of]) }

// facts are words of tools that take more than a look for a file.
var facts = map[string]func(*look, string) map[string]string{"go": goPackages, "python": pipPackages, "maven": mavenRepositories}

// project is one of a tool that is being looked at.
type project struct {
	*look
	recipe
	words map[string]string
}

// by gives what looks for projects of a tool.
func by(r recipe) func(*look, string) bool {
	return func(l *look, dir string) bool {
		var manifest string
		for _, pattern := range r.Manifest {
			names := slices.DeleteFunc(l.repo.matching(dir, pattern), func(name string) bool { return !plainFile.MatchString(name) })
			manifest = cmp.Or(manifest, strings.Join(names[:min(len(names), 1)], ""))
		}
		if manifest == "" {
			return false
		}
		if path.Ext(manifest) == ".toml" && toml.Unmarshal([]byte(l.repo.read(path.Join(dir, manifest))), new(map[string]any)) != nil {
			l.unused(path.Join(dir, manifest), "it cannot be read")
			return true
		}
		p := project{l, r, map[string]string{}}
		if more := facts[r.Tool]; more != nil {
			p.words = more(l, dir)
		}
		p.words["manifest"], p.words["at"] = manifest, path.Join(dir, manifest)
		for _, w := range r.Words {
			if _, has := p.words[w.Name]; !has && p.fits(w.condition) {
				p.words[w.Name] = p.put(w.Is)
			}
		}
		p.commands()
		return true
	}
}

// put puts words into a text.
func (p project) put(text string) string {
	return os.Expand(text, func(name string) string { return p.words[name] })
}

// fits reports whether all holds that a condition names.
func (p project) fits(c condition) bool {
	text := func(files []string) string {
		var all strings.Builder
		for _, pattern := range files {
			for _, file := range p.repo.matching(p.dir, pattern) {
				all.WriteString(p.repo.read(path.Join(p.dir, file)) + "\n")
			}
		}
		return all.String()
	}
	word, value, named := strings.Cut(c.Word, "=")
	switch {
	case len(c.If) > 0 && p.repo.first(p.dir, c.If...) == "",
		p.repo.first(p.dir, c.Unless...) != "",
		named && p.words[word] != value, !named && word != "" && p.words[word] == "",
		c.Text != "" && !regexp.MustCompile(c.Text).MatchString(text(c.In)),
		// Where one begins a line or stands in quotes.
		c.Mentions != "" && !regexp.MustCompile(`(?m)(^\s*|["'])`+c.Mentions+`(\s*$|["'\[=<>~! ;])`).MatchString(text(p.Files)):
		return false
	}
	return true
}

// commands takes those that fit.
func (p project) commands() {
	tested := false
	for _, c := range p.Commands {
		if c.Kind == "test" && tested || !p.fits(c.condition) {
			continue
		}
		run, why := p.put(c.Run), p.words["manifest"]
		if c.Why != "" {
			why = p.put(c.Why)
		}
		var taken *FoundCommand
		switch c.Kind {
		case "unused":
			p.unused(p.put(c.Name), why)
			continue
		case "program":
			p.installs(c.Name, run, path.Join(p.dir, why), usualHosts(c.Hosts))
			continue
		case "setup":
			taken = p.add(&p.found.Setup, c.Name, run, why)
			taken.Leaves = c.Leaves
			taken.Hosts = append(p.repo.fetches(p.dir, usualHosts(c.Hosts), c.Named...), strings.Fields(p.put(c.Besides))...)
		case "check":
			taken = p.add(&p.found.Checks, c.Name, run, why)
		case "test":
			tested = true
			taken = p.test(cmp.Or(c.Tool, p.Tool), run, why)
		}
		taken.Timeout, taken.Env = c.Timeout, p.Env
		if c.Env != nil {
			taken.Env = c.Env
		}
	}
}
