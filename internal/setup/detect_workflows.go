package setup

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// step is a command of a workflow that a push or a pull request starts.
type step struct{ run, dir, file string }

// testCommand is how the tests of a tool are started, with the name of the tool as
// the group that took part.
var testCommand = regexp.MustCompile(`^(?:(?P<go>go test)|(?P<node>(?:npm|pnpm|yarn|bun) (?:run )?test|npm t)|(?P<cargo>cargo (?:nextest run|test))|(?P<maven>(?:\./)?mvnw? .*(?:test|verify))|(?P<gradle>(?:\./)?gradlew? .*(?:test|check|build))|(?P<dotnet>dotnet test)|(?P<ruby>bundle exec (?:rspec|rake|rails test)|bin/rails test)|(?P<python>(?:(?:uv|poetry|pdm|hatch) run )?(?:python3? -m )?pytest|tox)|(?P<make>make (?:test|tests|check))|(?P<just>just (?:test|check)))(?: |$)`)

// buildsOnly is a start of tests that ends when they are built.
var buildsOnly = regexp.MustCompile(`^(?:go test(?: \S+)* -c|cargo (?:\S+ )+--no-run)(?:[ =]|$)`)

// plainCommand has nothing in it that the shell reads in a way of its own.
var plainCommand = regexp.MustCompile(`^[A-Za-z0-9_./:=@,+% -]+$`)

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
				if !testCommand.MatchString(line) {
					continue
				}
				why := ""
				switch {
				case !job.Services.IsZero():
					why = "its job starts services, which are not there in the sandbox"
				case strings.Contains(line, " --no-build") || strings.Contains(line, " --no-restore"):
					why = "it needs what an earlier step of its job has built"
				case buildsOnly.MatchString(line):
					why = "it builds tests and runs none"
				case !plainCommand.MatchString(line):
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
func (s step) unused(why string) FoundNote {
	return FoundNote{fmt.Sprintf("%.60s of %s", s.run, s.file), why}
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
		same := func(d draft) bool { return family(d.tool) == tool }
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
	m := testCommand.FindStringSubmatch(run)
	for i, name := range testCommand.SubexpNames() {
		if name != "" && m[i] != "" {
			return name
		}
	}
	return ""
}

// family is a tool as toolOf names it.
func family(tool string) string {
	if tool == "pytest" || tool == "unittest" || tool == "tox" {
		return "python"
	}
	return tool
}

// inessential words say how a tool is found, or how much it prints: commands that differ in these alone are the same.
var inessential = regexp.MustCompile(`^(corepack|uv|poetry|pdm|hatch|run|sh|-v|-q|--no-sync|--batch-mode|-B|--no-transfer-progress|-ntp|--no-daemon|--locked|--verbose|--quiet|python3?|\.venv/bin/python|-m)$`)

func essence(run string) string {
	words := slices.DeleteFunc(strings.Fields(run), inessential.MatchString)
	return strings.ReplaceAll(strings.Join(words, " "), "./", "")
}

// asFound gives a command of a workflow with its tool as found has it: what setup
// has installed is not in the PATH of a check.
func asFound(found, run string) string {
	essential := func(word string) bool { return !inessential.MatchString(word) }
	ours, theirs := strings.Fields(found), strings.Fields(run)
	return strings.Join(append(ours[:slices.IndexFunc(ours, essential)], theirs[slices.IndexFunc(theirs, essential):]...), " ")
}
