package setup

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
)

// repository is read with care: it may be anybody's.
type repository struct{ fs fs.FS }

const (
	mostRead    = 1 << 20
	mostFolders = 200 // that are looked into
	mostDeep    = 2   // folders below the top
	mostFiles   = 200 // of a kind
	deepFiles   = 3   // folders below the one in which they are looked for
)

// read gives the text of a file, or "" if there is none that can be read.
func (r repository) read(name string) string {
	info, err := fs.Stat(r.fs, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostRead {
		return ""
	}
	data, err := fs.ReadFile(r.fs, name)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(string(data), "\ufeff")
}

// has reports whether there is a plain file of that name.
func (r repository) has(name string) bool {
	info, err := fs.Stat(r.fs, name)
	return err == nil && info.Mode().IsRegular()
}

// first gives the first of some files in a folder that there is, by its name in it; see matching.
func (r repository) first(dir string, names ...string) string {
	for _, name := range names {
		if found := r.matching(dir, name); len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// matching gives the files of a folder that a name or a pattern means, by their names in it.
// "**/" in a pattern stands for that folder and those below it.
func (r repository) matching(dir, pattern string) (names []string) {
	if !strings.Contains(pattern, "*") {
		if r.has(path.Join(dir, pattern)) {
			return []string{pattern}
		}
		return nil
	}
	folder, name, deep := strings.Cut(pattern, "**/")
	if !deep {
		folder, name = path.Split(pattern)
	}
	r.visit(path.Join(dir, folder), deep, 0, func(file string) {
		if ok, err := path.Match(name, path.Base(file)); ok && err == nil && len(names) < mostFiles {
			names = append(names, strings.TrimPrefix(file, dir+"/"))
		}
	})
	return names
}

// visit shows the files of a folder and, if it is to go deep, of those below it.
func (r repository) visit(dir string, deep bool, level int, show func(name string)) {
	entries, _ := fs.ReadDir(r.fs, dir) // what cannot be read is as if it were not there
	for _, e := range entries[:min(len(entries), 1000)] {
		switch name := path.Join(dir, e.Name()); {
		case e.Type().IsRegular():
			show(name)
		case e.IsDir() && deep && level < deepFiles:
			r.visit(name, deep, level+1, show)
		}
	}
}

var (
	// plainFile is no option, and the shell reads nothing else in it.
	plainFile = text.Pattern(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)
	// plainName is a name in which the shell reads nothing else.
	plainName = text.Pattern(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,39}$`)
	foreign   = text.Pattern(`^(node_modules|vendor|third_party|testdata|fixtures?|tests?|spec|examples?|samples?|docs?|templates?|dist|build|target)$`)
)

// folders gives the top and the folders below it that may have a project of
// their own, outer ones first.
func (r repository) folders() []string {
	all := []string{"."}
	for i := 0; i < len(all) && len(all) < mostFolders; i++ {
		if all[i] != "." && strings.Count(all[i], "/")+1 >= mostDeep {
			continue
		}
		entries, err := fs.ReadDir(r.fs, all[i])
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.IsDir() && plainName().MatchString(e.Name()) && !foreign().MatchString(e.Name()) && len(all) < mostFolders {
				all = append(all, path.Join(all[i], e.Name()))
			}
		}
	}
	return all
}

// below gives those of the folders that lie in another one.
func (r repository) below(dir string) []string {
	return slices.DeleteFunc(r.folders(), func(d string) bool {
		return d == dir || dir != "." && !strings.HasPrefix(d, dir+"/")
	})
}

// step is a command of a workflow that a push or a pull request starts.
type step struct{ run, dir, file string }

// testCommand is how the tests of a tool are started, with the name of the tool as
// the group that took part.
var testCommand = text.Pattern(`^(?:(?P<go>go test)|(?P<node>(?:npm|pnpm|yarn|bun) (?:run )?test|npm t)|(?P<cargo>cargo (?:nextest run|test))|(?P<maven>(?:\./)?mvnw? .*(?:test|verify))|(?P<gradle>(?:\./)?gradlew? .*(?:test|check|build))|(?P<dotnet>dotnet test)|(?P<ruby>bundle exec (?:rspec|rake|rails test)|bin/rails test)|(?P<python>(?:(?:uv|poetry|pdm|hatch) run )?(?:python3? -m )?pytest|tox)|(?P<make>make (?:test|tests|check))|(?P<just>just (?:test|check)))(?: |$)`)

// buildsOnly is a start of tests that ends when they are built.
var buildsOnly = text.Pattern(`^(?:go test(?: \S+)* -c|cargo (?:\S+ )+--no-run)(?:[ =]|$)`)

// plainCommand has nothing in it that the shell reads in a way of its own.
var plainCommand = text.Pattern(`^[A-Za-z0-9_./:=@,+% -]+$`)

// commands gives what the jobs of a workflow start tests with, job by job in
// alphabetical order. Those that only work with more than the repository are noted.
func (w WorkflowYAML) commands(found *Found) (all []step) {
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		job := w.Jobs[name]
		if on := strings.ToLower(job.RunsOn.Value); strings.Contains(on, "windows") || strings.Contains(on, "macos") {
			continue
		}
		for _, s := range job.Steps {
			for line := range strings.Lines(s.Run) {
				line = strings.TrimSpace(line)
				if !testCommand().MatchString(line) {
					continue
				}
				why := ""
				switch {
				case !job.Services.IsZero():
					why = "its job starts services, which are not there in the sandbox"
				case strings.Contains(line, " --no-build") || strings.Contains(line, " --no-restore"):
					why = "it needs what an earlier step of its job has built"
				case buildsOnly().MatchString(line):
					why = "it builds tests and runs none"
				case !plainCommand().MatchString(line):
					why = "it is more than a plain command"
				}
				if why != "" {
					found.Unused = append(found.Unused, step{line, "", w.file}.unused(why))
					continue
				}
				all = append(all, step{line, path.Clean(cmp.Or(s.Dir, job.Defaults.Run.Directory, w.Defaults.Run.Directory)), w.file})
			}
		}
	}
	return all
}

// unused notes that the command is not used.
func (s step) unused(why string) foundNote {
	return foundNote{fmt.Sprintf("%.60s of %s", s.run, s.file), why}
}

// within says whether the command works in a folder below the top, because it is started there
// or names a path there.
func (s step) within(dir string) bool {
	if dir == "." {
		return false
	}
	below := func(p string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }
	return below(s.dir) || s.dir == "." && slices.ContainsFunc(strings.FieldsFunc(s.run, func(c rune) bool { return c == ' ' || c == '=' }), func(word string) bool {
		return below(path.Clean(word))
	})
}

// fromWorkflows lets the workflows say how tests are started: the first command for a tool takes the place of what was
// found at the top.
func (l *look) fromWorkflows() {
	taken := map[string]bool{}
	for _, s := range l.workflows {
		tool := toolOf(s.run)
		same := func(d draft) bool { return d.tool == tool }
		if i := slices.IndexFunc(l.tests, func(d draft) bool { return same(d) && s.within(d.dir) }); i >= 0 {
			if d := &l.tests[i]; !strings.Contains(d.command.Why, s.file) {
				d.command.Why += ", and " + s.file + " tests it"
			}
			continue
		}
		if s.dir != "." {
			l.found.Unused = append(l.found.Unused, s.unused("it is run in the folder "+s.dir))
			continue
		}
		if taken[tool] {
			continue
		}
		if !slices.ContainsFunc(l.tests, same) && slices.ContainsFunc(l.tests, func(d draft) bool { return d.tool == "make" || d.tool == "just" }) {
			continue // the task does that, as far as can be seen
		}
		taken[tool] = true
		if i := slices.IndexFunc(l.tests, func(d draft) bool { return same(d) && essence(d.command.Run) == essence(s.run) }); i >= 0 {
			l.tests[i].command.Why += ", and " + s.file + " runs it"
			continue
		}
		run := s.run
		if i := slices.IndexFunc(l.tests, same); i >= 0 {
			run = asFound(l.tests[i].command.Run, run)
		}
		l.replaceTests(FoundCommand{Name: "test", Run: run, Why: s.file, Timeout: "30m"}, tool, same)
	}
	several := len(slices.DeleteFunc(slices.Clone(l.tests), func(d draft) bool { return d.command.Name != "test" })) > 1
	for _, d := range l.tests {
		if several && d.command.Name == "test" {
			d.command.Name = "test-" + d.tool
		}
		l.found.Checks = append(l.found.Checks, d.command)
	}
}

// toolOf names the tool whose tests a command starts.
func toolOf(run string) string {
	m := testCommand().FindStringSubmatch(run)
	for i, name := range testCommand().SubexpNames() {
		if name != "" && m[i] != "" {
			return name
		}
	}
	return ""
}

// inessential words say how a tool is found, or how much it prints: commands that differ in these alone are the same.
var inessential = text.Pattern(`^(corepack|uv|poetry|pdm|hatch|run|sh|-v|-q|--no-sync|--batch-mode|-B|--no-transfer-progress|-ntp|--no-daemon|--locked|--verbose|--quiet|python3?|\.venv/bin/python|-m)$`)

func essence(run string) string {
	words := slices.DeleteFunc(strings.Fields(run), inessential().MatchString)
	return strings.ReplaceAll(strings.Join(words, " "), "./", "")
}

// asFound gives a command of a workflow with its tool as found has it: what setup
// has installed is not in the PATH of a check.
func asFound(found, run string) string {
	essential := func(word string) bool { return !inessential().MatchString(word) }
	ours, theirs := strings.Fields(found), strings.Fields(run)
	return strings.Join(append(ours[:slices.IndexFunc(ours, essential)], theirs[slices.IndexFunc(theirs, essential):]...), " ")
}
