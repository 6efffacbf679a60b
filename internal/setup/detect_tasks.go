package setup

import (
	"regexp"
	"slices"
	"strings"
)

// taskRunner is a program that runs what a repository calls its tasks.
type taskRunner struct {
	program string
	files   []string
	target  *regexp.Regexp // the line that begins a task without arguments; its name is the first group
}

// taskRunners lists those that are looked for.
func taskRunners() []taskRunner {
	return []taskRunner{
		{"make", []string{"GNUmakefile", "makefile", "Makefile"}, regexp.MustCompile(`^([a-z][a-z_-]*)\s*::?(?:[^=:].*)?$`)},
		{"just", []string{"justfile", "Justfile", ".justfile"}, regexp.MustCompile(`^@?([a-z][a-z_-]*)\s*:(?:[^=].*)?$`)},
	}
}

// tasks takes the task by which the repository itself runs its tests: that says
// more than what its tools usually do.
func (l *look) tasks() {
	for _, runner := range taskRunners() {
		file := l.repo.first(".", runner.files...)
		if file == "" {
			continue
		}
		targets := targetsOf(l.repo.read(file), runner.target)
		for _, name := range []string{"test", "tests", "check"} {
			recipe, there := targets[name]
			if !there {
				continue
			}
			if why := unfit(recipe, true); why != "" {
				l.unused(runner.program+" "+name, why)
				continue
			}
			if runner.program == "just" && !slices.Contains(l.found.Needs, "just") {
				l.found.Needs = append(l.found.Needs, "just")
			}
			l.replaceTests(FoundCommand{Name: "test", Run: runner.program + " " + name, Why: file, Timeout: "20m"}, runner.program, l.runBy(recipe))
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

// targetsOf gives the recipes of a file of tasks, by name.
func targetsOf(text string, target *regexp.Regexp) map[string]string {
	targets, at := map[string]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := target.FindStringSubmatch(line); m != nil {
			at = m[1]
			targets[at] += line[len(m[1]):] + "\n"
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
