package setup

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"github.com/reprise-ci/reprise/internal/text"
)

//go:embed languages.yaml
var languagesFile []byte

// languages is what languages.yaml has.
type languages struct {
	Hosts map[string][]string
	// Patterns of names: of this machine and its network, and of what anybody can keep files at.
	Near, Anybody []string
	Unfit         []struct {
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

var known = sync.OnceValue(func() languages { return text.TableIn(languages{}, languagesFile) })

// usualHosts are those that a package manager fetches from.
func usualHosts(of string) []string { return slices.Clone(known().Hosts[of]) }

// facts are words of tools that take more than a look for a file.
var facts = map[string]func(*look) map[string]string{"go": goPackages, "python": pipPackages, "maven": mavenRepositories}

// project is one of a tool that is being looked at.
type project struct {
	*look
	recipe
	words map[string]string
}

// takes looks for a project of a tool in a folder, and takes what checks it. It reports whether there is one.
func (l *look) takes(r recipe) bool {
	if r.Tool == "node" {
		return node(l)
	}
	var manifest string
	for _, pattern := range r.Manifest {
		names := slices.DeleteFunc(l.repo.matching(l.dir, pattern), func(name string) bool { return !plainFile().MatchString(name) })
		manifest = cmp.Or(manifest, strings.Join(names[:min(len(names), 1)], ""))
	}
	if manifest == "" {
		return false
	}
	if path.Ext(manifest) == ".toml" && toml.Unmarshal([]byte(l.repo.read(path.Join(l.dir, manifest))), new(map[string]any)) != nil {
		l.unused(path.Join(l.dir, manifest), "it cannot be read")
		return true
	}
	p := project{l, r, map[string]string{}}
	if more := facts[r.Tool]; more != nil {
		p.words = more(l)
	}
	p.words["manifest"], p.words["at"] = manifest, path.Join(l.dir, manifest)
	for _, w := range r.Words {
		if _, has := p.words[w.Name]; !has && p.fits(w.condition) {
			p.words[w.Name] = p.put(w.Is)
		}
	}
	p.commands()
	return true
}

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
		run, why := strings.TrimSpace(p.put(c.Run)), cmp.Or(p.put(c.Why), p.words["manifest"])
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
			taken.Hosts = append(p.fetches(usualHosts(c.Hosts), c.Named...), strings.Fields(p.put(c.Besides))...)
		case "check":
			taken = p.add(&p.found.Checks, c.Name, run, why)
		case "test":
			tested = true
			taken = p.test(p.Tool, run, why)
		}
		taken.Timeout, taken.Env = c.Timeout, p.Env
		if c.Env != nil {
			taken.Env = c.Env
		}
	}
}

// manifest is what is looked at of a package.json.
type manifest struct {
	Scripts        map[string]string
	PackageManager string
	Workspaces     json.RawMessage
}

// manager is a package manager of Node.js as a package uses it.
type manager struct {
	program string // as it is started
	install string // its arguments that install what the lock file has
	lock    string // "" if there is none
	all     string // arguments that run a script in every package of a workspace
	hosts   []string
}

func node(l *look) bool {
	var m manifest
	manifestText := l.repo.read(path.Join(l.dir, "package.json"))
	if manifestText == "" {
		return false
	}
	if err := json.Unmarshal([]byte(manifestText), &m); err != nil {
		l.unused(path.Join(l.dir, "package.json"), "it cannot be read")
		return false
	}
	pm := l.manager(m)
	if pm.lock != "" || strings.Contains(manifestText, `ependencies"`) {
		setup := l.add(&l.found.Setup, "node-modules", pm.program+" "+pm.install, "package.json"+text.If(pm.lock != "", " and "+pm.lock))
		setup.Leaves, setup.Hosts = []string{"node_modules"}, l.fetches(pm.hosts, ".npmrc", ".yarnrc.yml", pm.lock)
		if pm.program == "yarn" && strings.Contains(pm.install, "immutable") {
			setup.Leaves = append(setup.Leaves, ".yarn", ".pnp.cjs", ".pnp.loader.mjs")
		}
	}
	workspace, inner := l.workspace(m)
	tested := l.scripts(pm, m, workspace, inner)
	return workspace != "" || tested
}

// scripts takes those scripts of a package that check it, or those of the packages
// in its workspace. It reports whether there are tests among them.
func (l *look) scripts(pm manager, m manifest, workspace string, inner map[string]bool) (tested bool) {
	took := 0
	for _, name := range []string{"test", "lint", "typecheck", "type-check", "check-types", "tsc"} {
		script, there := m.Scripts[name]
		run, why := pm.program+" run "+name, "package.json"
		switch {
		case there && unfit(script, false) != "":
			l.unused("the script "+name+" of "+path.Join(l.dir, "package.json"), unfit(script, false))
			continue
		case there && name == "test" && pm.program != "bun":
			run = pm.program + " test"
		case !there && inner[name] && pm.all != "":
			run, why = pm.program+" "+fmt.Sprintf(pm.all, name), workspace
		case !there:
			continue
		}
		took++
		if name == "test" {
			tested = true
			l.test("node", run, why).Timeout = "20m"
		} else {
			l.add(&l.found.Checks, name, run, why)
		}
	}
	if script, there := m.Scripts["build"]; there && took == 0 && unfit(script, false) == "" {
		l.add(&l.found.Checks, "build", pm.program+" run build", "package.json")
	}
	return tested
}

// unfit says why a script, or what a task does, is of no use as a check; "" if it is. Of a task only what it starts
// outside of the repository tells that.
func unfit(script string, task bool) string {
	for _, u := range known().Unfit {
		if (u.Tasks || !task) && regexp.MustCompile(u.Text).MatchString(script) {
			return u.Why
		}
	}
	return ""
}

var exactManager = text.Pattern(`^(npm|pnpm|yarn|bun)@([0-9]+)\.[0-9A-Za-z.+-]+$`)

// manager finds out which package manager a package uses: the one it names, or
// the one whose lock file there is.
func (l *look) manager(m manifest) manager {
	name, major := "", ""
	if named := exactManager().FindStringSubmatch(m.PackageManager); named != nil {
		name, major = named[1], named[2]
	}
	locks := []string{"pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb", "package-lock.json", "npm-shrinkwrap.json"}
	of := []string{"pnpm", "yarn", "bun", "bun", "npm", "npm"}
	lock := ""
	for i, file := range locks {
		if (name == "" || name == of[i]) && l.repo.has(path.Join(l.dir, file)) {
			name, lock = of[i], file
			break
		}
	}
	frozen := func(with, without string) string { return cmp.Or(text.If(lock != "", with), without) }
	switch name {
	case "pnpm":
		if major == "" {
			l.byNpm("pnpm", pnpmFor(l.repo.read(path.Join(l.dir, lock))), cmp.Or(lock, "pnpm-workspace.yaml"))
		} // else corepack, which comes with Node.js, fetches the version that is named
		return manager{cmp.Or(text.If(major != "", "corepack pnpm"), "pnpm"), frozen("install --frozen-lockfile", "install"), lock, "--recursive --if-present run %s", usualHosts("npm")}
	case "yarn":
		newer := major > "1" || l.repo.has(path.Join(l.dir, ".yarnrc.yml"))
		return manager{cmp.Or(text.If(newer && major != "", "corepack yarn"), "yarn"), frozen(cmp.Or(text.If(newer, "install --immutable"), "install --frozen-lockfile"), "install"), lock, "", usualHosts("yarn")}
	case "bun":
		l.byNpm("bun", "", cmp.Or(lock, "package.json"))
		return manager{"bun", frozen("install --frozen-lockfile", "install"), lock, "", usualHosts("npm")}
	}
	return manager{"npm", frozen("ci", "install --no-package-lock") + " --no-audit --no-fund", lock, "run %s --workspaces --if-present", usualHosts("npm")}
}

// pnpmFor gives the version that reads a lock file of pnpm, as npm takes it; "" is the newest.
func pnpmFor(lock string) string {
	m := pnpmLock().FindStringSubmatch(lock)
	if m == nil {
		return ""
	}
	return map[string]string{"5": "@7", "6": "@8", "9": "@10"}[m[1]]
}

var pnpmLock = text.Pattern(`(?m)^lockfileVersion: *['"]?([0-9]+)`)

// workspace gives the file that makes a package the top of a workspace, and the
// scripts that its packages have; "" if it is none.
func (l *look) workspace(m manifest) (file string, scripts map[string]bool) {
	switch {
	case l.repo.has(path.Join(l.dir, "pnpm-workspace.yaml")):
		file = "pnpm-workspace.yaml"
	case len(m.Workspaces) > 0 && string(m.Workspaces) != "null":
		file = "package.json"
	}
	scripts = map[string]bool{}
	if file == "" {
		return "", scripts
	}
	for _, d := range l.repo.below(l.dir) {
		var inner manifest
		if err := json.Unmarshal([]byte(l.repo.read(path.Join(d, "package.json"))), &inner); err != nil {
			continue
		}
		for name, script := range inner.Scripts {
			scripts[name] = scripts[name] || unfit(script, false) == ""
		}
	}
	return file, scripts
}
