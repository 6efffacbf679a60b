package phases

import (
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// testTree matches what tests stand on, and names that testFile does not know: UserTest.java, conftest.py.
var testTree = text.Pattern(`(^|/)(testdata|fixtures|__(snapshots|fixtures|mocks)__)/|[a-z0-9](Tests?|Specs?|IT)\.\w+$|(^|/)conftest\.py$`)

// TestsAmong gives those of some paths that are tests of a phase, as it says itself or as most languages call them.
func TestsAmong(p *pipelines.Phase, paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(name string) bool {
		if len(p.Tests) > 0 {
			return !pipelines.MatchesPath(name, p.Tests)
		}
		return !testFile().MatchString(name) && !testTree().MatchString(name)
	})
}

// ForAllTests reports whether a file of tests says, as most languages call it, how those in others run.
func ForAllTests(name string) bool { return forAllTests().MatchString(name) }

var forAllTests = text.Pattern(`(^|/)(conftest\.py|main_test\.go|\w+_helper\.rb|[\w.-]*setup[\w.-]*\.[cm]?[jt]sx?)$`)

// documents matches names of documents.
var documents = text.Pattern(`(?i)\.(md|mdx|rst|adoc)$`)

// OnlyDocuments reports whether some paths are all of documents, which need no test.
func OnlyDocuments(paths []string) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(name string) bool { return !documents().MatchString(name) })
}

// DefiningChecks gives those of some paths that say what the checks of a phase run as tests, other than tests themselves:
// files that a command names, as a script, and those by which programs go.
func DefiningChecks(p *pipelines.Phase, paths []string) []string {
	var named []string
	for _, c := range p.Checks {
		for _, word := range strings.FieldsFunc(c.Run, func(r rune) bool { return strings.ContainsRune(" \t\n;&|<>()'\"`=", r) }) {
			named = append(named, path.Clean(word))
		}
	}
	named = slices.DeleteFunc(named, func(name string) bool { return len(TestsAmong(p, []string{name})) > 0 })
	return slices.DeleteFunc(slices.Clone(paths), func(name string) bool {
		return !slices.Contains(named, name) && !pipelines.MatchesPath(name, []string{
			"package.json", ".npmrc", ".yarnrc*", ".pnpmfile.cjs", "jest.config.*", "vite.config.*", "vitest.config.*", "vitest.workspace.*", "karma.conf.*", ".mocharc*", ".taprc", "ava.config.*", "deno.json*", "bunfig.toml",
			"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "tox.toml", "setup.cfg", "pyproject.toml", "noxfile.py",
			"pom.xml", ".mvn/**", "build.gradle*", "settings.gradle*", "gradle.properties", "Cargo.toml", ".cargo/**", "nextest.toml", "go.work", "*.csproj", "Directory.Build.*", "*.runsettings",
			"Makefile", "GNUmakefile", "justfile", ".justfile", "Taskfile*.y*ml", "Rakefile", "Rakefile.rb", ".rspec*", "composer.json", "phpunit.xml*", "phpunit.dist.xml",
		})
	})
}

// Beneath gives the folder for which a file says something: the one that it is in, or that has the hidden folder of
// which it is a part; "" is the top.
func Beneath(name string) string {
	dir, _, _ := strings.Cut("/"+path.Dir(name), "/.")
	return strings.TrimPrefix(dir, "/")
}

// Lost names the tests that fail where some files are as on the base, and pass on the work. Where no name is known at
// all, each check that fails there, or has more tests that fail, counts as one. Others are what cannot even run there: it
// may need what has changed.
func Lost(ended, work []metadata.CheckResult) (tests, others []string) {
	named := false // some names are known, or that a check could not run
	var unnamed []string
	for i, c := range ended {
		for _, name := range c.FailedTests {
			switch {
			case slices.Contains(work[i].FailedTests, name):
			case noTest().MatchString(name):
				others = append(others, name)
			default:
				tests = append(tests, name)
			}
		}
		if !c.Pass && len(c.FailedTests) == 0 && (work[i].Pass || c.Failed > work[i].Failed) {
			unnamed = append(unnamed, c.Name)
		}
		named = named || len(c.FailedTests) > 0 || CouldNotRun(c) || c.ExitCode > 128
	}
	if !named {
		return unnamed, nil
	}
	return tests, append(others, unnamed...)
}

// Proves judges how checks have ended on the base with the tests of the work, or for ProvesSame on the work with the
// tests of the base; work is how they ended on the work, where none holds it up. What fails there as well proves
// nothing. It gives whether that is the proof, and what to say of it.
func Proves(kind pipelines.Proof, ended, work []metadata.CheckResult) (bool, metadata.Reason) {
	tests, others := Lost(ended, work)
	// Silent are, where nothing else is known, checks that fail on the work as well, before a test has run.
	named, silent := false, []string(nil)
	for i, c := range ended {
		named = named || len(c.FailedTests) > 0
		ran := slices.ContainsFunc(c.FailedTests, func(name string) bool { return !noTest().MatchString(name) }) || c.Ran > len(c.FailedTests)
		if len(tests)+len(others) == 0 && !c.Pass && !work[i].Pass && !ran {
			silent = append(silent, c.Name)
		}
	}
	switch {
	case len(silent) == len(ended):
		return false, metadata.Because("proof_none_runs", "checks", silent)
	case len(silent) > 0 && kind != pipelines.ProvesSame:
		return false, metadata.Because("proof_some_red", "checks", silent)
	case kind == pipelines.ProvesSame && len(tests) > 0:
		return false, metadata.Because("proof_not_same", "tests", tests)
	case kind == pipelines.ProvesSame && len(others) > 0:
		return true, metadata.Because("proof_same_not_run", "tests", others)
	case kind == pipelines.ProvesSame:
		return true, metadata.Because("proof_same")
	case len(tests) > 0 && !named:
		return true, metadata.Because("proof_unnamed", "checks", tests)
	case len(tests) > 0:
		return true, metadata.Because("proof_fails_without", "tests", tests)
	case len(others) == 0:
		return false, metadata.Because("proof_passes_anyway")
	case kind == pipelines.ProvesNew:
		return true, metadata.Because("proof_new", "tests", others)
	}
	return false, metadata.Because("proof_not_run", "tests", others)
}

// noTest matches names of what fails and is no test that ran: a build, a file that cannot be read, a program that ended.
var noTest = text.Pattern(strings.Join([]string{
	`\[(?:build failed|setup failed|ended early)\]$`,                    // Go
	`^could not compile`, `^test failed, `, `^signal: `, `^exit code: `, // Cargo
	`\bthe lock file$`, `^no matching package$`, `^failed to select a version$`,
	`^INTERNALERROR`, `^Fatal Python`, `unittest\.loader\._FailedTest`, // pytest, unittest
	`^Bail out`,                   // TAP
	`^An error occurred`,          // RSpec
	`^Task :`, `maven-\S+-plugin`, // Gradle, Maven
	`\berror \w+$`, `Errors? [0-9]+(?: errors?)?$`, // C#, Vitest, make
	`^[^:#>]+\.(?:py|[cm]?[jt]sx?|rb|php|cs|fs|rs|go|java|kt)$`, // a file
}, "|"))
