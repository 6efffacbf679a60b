package setup

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/reprise-ci/reprise/internal/text"
)

// Detect examines the repository at the root of fsys. What it cannot read is as if
// it were not there.
func Detect(fsys fs.FS) Found {
	l := &look{repo: repository{fsys}}
	if folder, err := fs.Sub(fsys, WorkflowsFolder); err == nil {
		for _, w := range startedByWork(folder) {
			l.workflows = append(l.workflows, w.commands(&l.found)...)
		}
	}
	for _, r := range known().Tools {
		l.each(r)
	}
	l.dir = "."
	l.tasks()
	l.fromWorkflows()
	l.name()
	l.ignored()
	return l.found
}

var useLine = text.Pattern(`(?m)^\s*(?:use\s+)?(\.(?:/[A-Za-z0-9_.-]+)*)/?\s*$`)

// goPackages names the packages of a module or, each by itself, of all modules of a
// workspace, for which Go has had no short form for long.
func goPackages(l *look) map[string]string {
	var all []string
	for _, m := range useLine().FindAllStringSubmatch(l.repo.read(path.Join(l.dir, "go.work")), -1) {
		all = append(all, m[1]+"/...")
	}
	return map[string]string{"packages": cmp.Or(strings.Join(all, " "), "./...")}
}

// pipPackages gives the arguments by which pip installs what a project needs: the usual
// files of requirements, and itself with its extras for tests and development. It also
// names where they are from, the program by which the repository's workflow starts the tests,
// and the arguments of one that installs for itself.
func pipPackages(l *look) map[string]string {
	var from []string
	args := ""
	for _, file := range []string{"requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "requirements_dev.txt", "requirements-test.txt", "test-requirements.txt", "requirements/dev.txt", "requirements/test.txt"} {
		if l.repo.has(path.Join(l.dir, file)) {
			args, from = args+" -r "+file, append(from, file)
		}
	}
	var p struct {
		Project struct {
			Name     string
			Optional map[string][]string `toml:"optional-dependencies"`
		}
		Build map[string]any `toml:"build-system"`
	}
	_ = toml.Unmarshal([]byte(l.repo.read(path.Join(l.dir, "pyproject.toml"))), &p) // what can be read of it counts
	itself := l.repo.first(l.dir, "pyproject.toml", "setup.py")
	if p.Build == nil && p.Project.Name == "" {
		itself = l.repo.first(l.dir, "setup.py")
	}
	if itself != "" {
		extras := slices.DeleteFunc([]string{"test", "tests", "testing", "dev"}, func(name string) bool { return p.Project.Optional[name] == nil })
		args, from = args+" -e "+cmp.Or(text.If(len(extras) > 0, "'.["+strings.Join(extras, ",")+"]'"), "."), append(from, itself)
	}
	words := map[string]string{"packages": args, "from": strings.Join(from, ", ")}
	if i := slices.IndexFunc(l.workflows, func(s step) bool { return toolOf(s.run) == "python" && s.dir == l.dir }); i >= 0 {
		command, _, _ := strings.Cut(l.workflows[i].run, " -- ")
		words["starts"], words["envs"], _ = strings.Cut(command+" ", " ")
	}
	return words
}

// mavenRepositories gives the hosts of the repositories that a project of Maven names.
// Other addresses in it, such as the one to publish to, are not among them.
func mavenRepositories(l *look) map[string]string {
	type repositories struct {
		All     []string `xml:"repositories>repository>url"`
		Plugins []string `xml:"pluginRepositories>pluginRepository>url"`
	}
	var project struct {
		repositories
		Profiles []repositories `xml:"profiles>profile"`
	}
	_ = xml.Unmarshal([]byte(l.repo.read(path.Join(l.dir, "pom.xml"))), &project) // what can be read of it counts
	var hosts []string
	for _, from := range append([]repositories{project.repositories}, project.Profiles...) {
		for _, address := range append(from.All, from.Plugins...) {
			u, err := url.Parse(address)
			if err == nil && u.Scheme == "https" && plainHost().MatchString(u.Host) && !slices.Contains(usualHosts("maven"), u.Host) {
				hosts = l.named(hosts, u.Host)
			}
		}
	}
	return map[string]string{"repositories": strings.Join(hosts, " ")}
}

const mostHosts = 20 // of a command; more is not what people have in mind

// namedHost is where lock files and settings of package managers say where packages come from.
var namedHost = text.Pattern(`(?m)(?:"resolved": *"|^ *resolved "|tarball: *"?|^ *remote: *|^ *source ["']|\b(?:source|url|git|registry|index) = "(?:git\+|sparse\+)?|registry=|npmRegistryServer: *"?|^(?:-i|--index-url|--extra-index-url)[ =]|\bgit\+|<add [^>]*\bvalue *= *["'])https://([a-z0-9][a-z0-9.-]*[a-z0-9](?::[0-9]{1,5})?)[/"'<\s]`)

// plainHost is a host, with its port or without, as it stands in such an address.
var plainHost = text.Pattern(`^[a-z0-9][a-z0-9.-]*[a-z0-9](?::[0-9]{1,5})?$`)

// fetches gives the hosts that a package manager fetches from: the usual ones, and
// those that files in the folder name.
func (l *look) fetches(usual []string, files ...string) []string {
	for _, file := range files {
		if !path.IsAbs(file) { // else from the top of the repository
			file = path.Join(l.dir, file)
		}
		for _, m := range namedHost().FindAllStringSubmatch(l.repo.read(strings.TrimPrefix(file, "/")), -1) {
			usual = l.named(usual, m[1])
		}
	}
	return usual
}

// named adds a host that a file of the repository names. One that is no way to packages alone is noted instead.
func (l *look) named(hosts []string, host string) []string {
	name, port, _ := strings.Cut(host, ":")
	_, notIP := netip.ParseAddr(name)
	n, _ := strconv.Atoi(port)
	name = strings.TrimSuffix(name, ".")
	top := name[strings.LastIndexByte(name, '.')+1:] // one of figures is an address, however it is written
	switch {
	case len(hosts) >= mostHosts || slices.Contains(hosts, host) || len(l.found.Unused) >= 2*mostHosts:
	case notIP == nil || top == name || strings.Trim(top, "0123456789") == "" || matchesAny(known().Near, name) || port != "" && n < 1024 && n != 443:
		l.unused("the host "+host, "it is of this machine or its network, or a service beside the web; if packages come from there, add it to allow")
	case matchesAny(known().Anybody, name):
		l.unused("the host "+host, "anybody can keep files there, so what it lets in it also lets out; if packages come from there, add it to allow")
	default:
		return append(hosts, host)
	}
	return hosts
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { fits, _ := path.Match(p, name); return fits })
}

// Found is what a repository is set up and checked with.
type Found struct {
	Setup  []FoundCommand
	Checks []FoundCommand
	Unused []foundNote // what was seen and is not used, or would be of no use as it is
	Needs  []string    // programs that GitHub's runners do not bring along
}

// foundNote is something that was seen, and why it is not used.
type foundNote struct{ What, Why string }

// FoundCommand is one that the repository itself names, or that its tools are known by.
type FoundCommand struct {
	Name    string            // letters, digits, "-" and "_"; no other of its kind has it
	Run     string            // for /bin/sh, at the top of the repository
	Why     string            // the files that say so
	Timeout string            // as pipelines have it; empty for the usual
	Env     map[string]string // may be nil
	Hosts   []string          // of a setup: what it fetches from; none: it is not known, or the program takes no proxy
	Leaves  []string          // of a setup: what it makes that no commit has, as path patterns
}

// each looks for the projects of a tool. What is below one belongs to it, as a
// member of its workspace or an example.
func (l *look) each(tool recipe) {
	var whole []string
	for _, dir := range l.repo.folders() {
		if !slices.ContainsFunc(whole, func(w string) bool { return w == "." || strings.HasPrefix(dir, w+"/") }) {
			l.dir = dir
			if l.takes(tool) {
				whole = append(whole, dir)
			}
		}
	}
}

// look is a repository that is being looked at.
type look struct {
	repo      repository
	found     Found
	workflows []step  // that a push or a pull request starts
	tests     []draft // in the order they were found
	dir       string  // where the tool's manifest is
}

// draft is a command that another one may take the place of.
type draft struct {
	command FoundCommand
	tool    string // whose tests they are
	dir     string // in which they are
}

// add takes a command in the folder that is being looked at.
func (l *look) add(to *[]FoundCommand, name, run, why string) *FoundCommand {
	*to = append(*to, l.command(name, run, why))
	return &(*to)[len(*to)-1]
}

func (l *look) command(name, run, why string) FoundCommand {
	if l.dir != "." {
		name += "-" + strings.NewReplacer("/", "-", ".", "-").Replace(l.dir)
		run = "cd " + l.dir + " && " + run
	}
	return FoundCommand{Name: name, Run: run, Why: path.Join(l.dir, why)}
}

// test takes a command that runs the tests of a tool. The repository's own
// workflow or a target of its Makefile may have another one in its place.
func (l *look) test(tool, run, why string) *FoundCommand {
	l.tests = append(l.tests, draft{l.command("test", run, why), tool, l.dir})
	return &l.tests[len(l.tests)-1].command
}

func (l *look) unused(what, why string) {
	if n := (foundNote{what, why}); !slices.Contains(l.found.Unused, n) {
		l.found.Unused = append(l.found.Unused, n)
	}
}

// installs has the setup install a program into its home that GitHub's runners do not bring
// along, unless it is there.
func (l *look) installs(program, how, why string, hosts []string) {
	if !slices.ContainsFunc(l.found.Setup, func(c FoundCommand) bool { return c.Name == program }) {
		l.found.Setup = append(l.found.Setup, FoundCommand{Name: program, Run: "command -v " + program + " || " + how, Why: why, Hosts: hosts})
	}
}

// byNpm has a program installed that npm has, such as another package manager.
func (l *look) byNpm(program, version, why string) {
	l.installs(program, "npm install --global --prefix ~/.local "+program+version, path.Join(l.dir, why), usualHosts("npm"))
}

// name sees to it that no two commands of a kind have the same name.
func (l *look) name() {
	for _, list := range [][]FoundCommand{l.found.Setup, l.found.Checks} {
		seen := map[string]bool{}
		for i := range list {
			base := list[i].Name[:min(len(list[i].Name), 36)] // it has no characters of several bytes
			for n := 2; seen[strings.ToLower(list[i].Name)] || len(list[i].Name) > 40; n++ {
				list[i].Name = fmt.Sprintf("%s-%d", base, n)
			}
			seen[strings.ToLower(list[i].Name)] = true
		}
	}
}

// ignored has git ignore what a setup leaves and .gitignore does not name: else it would not stay.
func (l *look) ignored() {
	for i, c := range l.found.Setup {
		if len(c.Leaves) > 0 && !strings.Contains(l.repo.read(".gitignore"), strings.Split(c.Leaves[0], "/")[0]) {
			l.found.Setup[i].Run += " && mkdir -p " + c.Leaves[0] + " && echo '*' >" + c.Leaves[0] + "/.gitignore"
		}
	}
}

// taskRunners are the programs that run what a repository calls its tasks, each before the names of its file.
var taskRunners = [][]string{{"make", "GNUmakefile", "makefile", "Makefile"}, {"just", "justfile", "Justfile", ".justfile"}}

// tasks takes the task by which the repository itself runs its tests: that says
// more than what its tools usually do.
func (l *look) tasks() {
	for _, runner := range taskRunners {
		program, file := runner[0], l.repo.first(".", runner[1:]...)
		if file == "" {
			continue
		}
		targets := targetsOf(l.repo.read(file))
		for _, name := range []string{"test", "tests", "check"} {
			recipe, there := targets[name]
			if !there {
				continue
			}
			if why := unfit(recipe, true); why != "" {
				l.unused(program+" "+name, why)
				continue
			}
			if program == "just" && !slices.Contains(l.found.Needs, "just") {
				l.found.Needs = append(l.found.Needs, "just")
			}
			l.replaceTests(FoundCommand{Name: "test", Run: program + " " + name, Why: file, Timeout: "20m"}, program, l.runBy(recipe))
			return
		}
	}
}

// runBy tells the tests that a recipe runs: of one language all, of several those whose program it names.
func (l *look) runBy(recipe string) func(draft) bool {
	programs := map[string]bool{}
	for _, d := range l.tests {
		if program, _, _ := strings.Cut(d.command.Run, " "); program != "cd" {
			programs[program] = true
		}
	}
	recipe = strings.ToLower(recipe) // $(GO) is go
	return func(d draft) bool {
		program, _, _ := strings.Cut(d.command.Run, " ")
		return len(programs) < 2 || strings.Contains(recipe, program)
	}
}

// target is the line that begins a task without arguments; its name is the first group.
var target = text.Pattern(`^@?([a-z][a-z_-]*)\s*::?(?:[^=:].*)?$`)

// targetsOf gives the recipes of a file of tasks, by name.
func targetsOf(text string) map[string]string {
	targets, at := map[string]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := target().FindStringSubmatch(line); m != nil {
			at = m[1]
			targets[at] += strings.TrimPrefix(line, "@")[len(m[1]):] + "\n"
		} else if line != "" && (line[0] == ' ' || line[0] == '\t') && at != "" {
			targets[at] += line + "\n"
		} else if line != "" && line[0] != '#' {
			at = ""
		}
	}
	return targets
}

// replaceTests puts a command in the place of those tests at the top of the
// repository that are among others. With none of them it comes in addition.
func (l *look) replaceTests(c FoundCommand, tool string, among func(draft) bool) {
	kept, env := []draft(nil), map[string]string(nil)
	for _, d := range l.tests {
		if d.dir != "." || !among(d) {
			kept = append(kept, d)
			continue
		}
		if d.command.Env != nil {
			env = d.command.Env
		}
		if d.command.Run != c.Run {
			l.unused(d.command.Run, "the repository's own "+c.Run+" is used in its place")
		}
	}
	if c.Env == nil {
		c.Env = env
	}
	l.tests = append(kept, draft{c, tool, "."})
}
