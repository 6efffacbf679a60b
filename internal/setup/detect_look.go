package setup

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Found is what a repository is set up and checked with.
type Found struct {
	Setup  []FoundCommand
	Checks []FoundCommand
	Unused []FoundNote // what was seen and is not used, or would be of no use as it is
	Needs  []string    // programs that GitHub's runners do not bring along
}

// FoundNote is something that was seen, and why it is not used.
type FoundNote struct{ What, Why string }

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
func (l *look) each(tool func(*look, string) bool) {
	var whole []string
	for _, dir := range l.repo.folders() {
		if !slices.ContainsFunc(whole, func(w string) bool { return w == "." || strings.HasPrefix(dir, w+"/") }) {
			l.dir = dir
			if tool(l, dir) {
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
	if n := (FoundNote{what, why}); !slices.Contains(l.found.Unused, n) {
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

func either(which bool, a, b string) string {
	if which {
		return a
	}
	return b
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

// notIgnored notes what a setup leaves that git may not ignore: it would not stay.
func (l *look) notIgnored() {
	rules := l.repo.read(".gitignore")
	for _, c := range l.found.Setup {
		if len(c.Leaves) > 0 && !strings.Contains(rules, strings.Split(c.Leaves[0], "/")[0]) {
			l.unused("what "+c.Name+" leaves", "only what git ignores stays for the checks, and .gitignore does not name "+c.Leaves[0]+": add it")
		}
	}
}
