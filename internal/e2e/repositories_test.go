//go:build e2e

package e2e

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// repositoryKind is a small repository of one kind, in testdata/repositories, and what init finds there.
type repositoryKind struct {
	program string // that builds and tests it
	setup   string
	checks  []string
	file    string // that greets
	alone   bool   // the program needs no network here
	passes  string // what its tests say when they pass
	proof   string // a shell command that writes a test, which fails without the change
}

var repositoryKinds = map[string]repositoryKind{
	"go": {
		program: "go", setup: "go mod download", checks: []string{"go vet ./...", "go test ./..."}, file: "greet.go", alone: true, passes: "ok  \texample.com/greet",
		proof: `printf 'package greet\n\nimport (\n\t"os"\n\t"strings"\n\t"testing"\n)\n\nfunc TestSays(t *testing.T) {\n\tif text, _ := os.ReadFile("greet.go"); !strings.Contains(string(text), "It greets") {\n\t\tt.Fatal()\n\t}\n}\n' > says_test.go`,
	},
	"npm": {
		program: "npm", setup: "npm ci --no-audit --no-fund", checks: []string{"npm test"}, file: "greet.js", alone: true, passes: "pass 2",
		proof: `echo "require('node:test')('says', () => require('assert').match(require('fs').readFileSync('greet.js', 'utf8'), /It greets/))" > says.test.js`,
	},
	"cargo": {
		program: "cargo", setup: "cargo fetch --locked", checks: []string{"cargo test --locked"}, file: "src/lib.rs", alone: true, passes: "test result: ok",
		proof: `printf '#[test]\nfn says() { assert!(include_str!("../src/lib.rs").contains("It greets")) }\n' > tests/says.rs`,
	},
	"pnpm":  {program: "pnpm", setup: "corepack pnpm install --frozen-lockfile", checks: []string{"corepack pnpm --recursive --if-present run test"}},
	"uv":    {program: "uv", setup: "uv sync --locked", checks: []string{"uv run --no-sync pytest"}},
	"maven": {program: "mvn", setup: "mvn --batch-mode --no-transfer-progress test -Dmaven.test.failure.ignore=true", checks: []string{"mvn --batch-mode --no-transfer-progress test"}},
}

// usable reports whether a program works at the place.
func (p *place) usable(program string) bool {
	p.t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		return false
	}
	version := map[string]string{"go": "version"}[program]
	return p.exec(p.repo, path, cmp.Or(version, "--version")).code == 0
}

// initialized is a place with a repository of a kind, in which init was run and committed.
func initialized(t *testing.T, name string) *place {
	p := newPlace(t)
	if home, err := os.UserHomeDir(); err == nil { // where rustup has what cargo is
		p.more = append(p.more, "RUSTUP_HOME="+cmp.Or(os.Getenv("RUSTUP_HOME"), filepath.Join(home, ".rustup")))
	}
	p.git(p.repo, "rm", "--quiet", "main.go")
	archive, err := txtar.ParseFile(filepath.Join("testdata", "repositories", name+".txtar"))
	testenv.Must(t, err)
	for _, f := range archive.Files {
		p.write("repo/"+f.Name, string(f.Data))
	}
	p.want(0, p.reprise("init", "--local"))
	p.git(p.repo, "add", ".")
	p.git(p.repo, "commit", "--quiet", "-m", "Begin")
	p.git(p.repo, "push", "--quiet", "origin", "main")
	return p
}

// In six kinds of repositories, init, a commit and a run are enough: the setup ran, reprise ran
// the checks, before the first change as well, the review ran the tests in its copy, and an
// agent that broke the code and said that all tests pass was found out. Where the program of a
// kind is not to be had here without a network, what init has written is looked at alone.
func TestSixKindsOfRepositories(t *testing.T) {
	for name, k := range repositoryKinds {
		t.Run(name, func(t *testing.T) {
			p := initialized(t, name)
			p.want(0, p.reprise("vet"))
			p.write("issue.md", issueText)
			explained := p.reprise("explain", "--issue-file", "../issue.md", "--pipeline", "fix", "--settings").stdout
			for _, command := range append([]string{k.setup}, k.checks...) {
				if written := p.read(filepath.Join(p.repo, ".github/reprise/pipelines/fix.cue")); !strings.Contains(written, `"`+command) || !strings.Contains(explained, command) {
					t.Errorf("init has not written %q, or a run would not do it:\n%s\n%s", command, written, explained)
				}
			}
			if !k.alone || !p.usable(k.program) {
				t.Logf("%s is not to be had here without a network: only what init has written was tested", k.program)
				return
			}
			k.run(t, p)
		})
	}
}

// run has the issue worked on, in a repository of this kind.
func (k repositoryKind) run(t *testing.T, p *place) {
	// The first change breaks the greeting, and the next one mends it.
	w := &worker{
		change: "grep -q Bye " + k.file + " && sed -i 's/Bye, /Hello, /' " + k.file + " || sed -i 's/Hello, /Bye, /' " + k.file + "; echo '// It greets.' >> " + k.file + "; " + k.proof,
		tries:  k.checks[len(k.checks)-1], passes: k.passes, says: "All tests pass.",
	}
	p.says(w.script())
	p.want(0, p.reprise("run", "--issue-file", "../issue.md", "--pipeline", "fix", "--push", "--sandbox", "required"))
	run := p.record()
	if len(run.Setup) != 1 || !run.Setup[0].Pass {
		t.Errorf("the setup came to %+v", run.Setup)
	}
	if len(run.Baseline) != len(k.checks) {
		t.Errorf("before the first change: %+v", run.Baseline)
	}
	for _, c := range run.Baseline {
		if !c.Pass {
			t.Errorf("before the first change: check %s failed:\n%s", c.Name, c.Output)
		}
	}
	ph := run.Phases[1]
	if ph.Name != "implement" || ph.RetryCount != 1 || ph.Checks == nil || len(ph.Checks.Results) != len(k.checks)+1 { // and the proof
		t.Fatalf("phase %s was revised %d times, with checks %+v", ph.Name, ph.RetryCount, ph.Checks)
	}
	for _, c := range ph.Checks.Results {
		if !c.Pass {
			t.Errorf("check %s:\n%s", c.Name, c.Output)
		}
	}
	told, tried, seen := false, false, ""
	for _, r := range p.model.Requests() {
		told = told || !isReview(r) && strings.Contains(r.Prompt(), "Bye, reprise")
		for _, result := range r.Results() {
			if isReview(r) {
				seen = result.Text
			}
			tried = tried || isReview(r) && strings.Contains(result.Text, k.passes)
		}
	}
	if !told || !tried {
		t.Errorf("the writer was told what the checks say: %v; the review ran the tests in its copy: %v, and saw last\n%s", told, tried, seen)
	}
	if got := p.pushed(k.file); run.Status != metadata.Completed || !strings.Contains(got, "Hello, ") {
		t.Errorf("the run is %s, and %s reads\n%s", run.Status, k.file, got)
	}
	p.noCanary()
}

// A repository whose tests fail already: the run gets to its end, and the record and the log
// name what failed before.
func TestTestsThatFailBefore(t *testing.T) {
	p := initialized(t, "npm")
	p.write("repo/old.test.js", "require('node:test')('is old', () => { throw new Error('for years') })\n")
	p.git(p.repo, "add", ".")
	p.git(p.repo, "commit", "--quiet", "-m", "Break a test")
	p.git(p.repo, "push", "--quiet", "origin", "main")
	p.write("issue.md", issueText)
	p.says((&worker{change: "echo '// It greets.' >> greet.js; " + repositoryKinds["npm"].proof, tries: "npm test", passes: "pass 2"}).script())
	out := p.reprise("run", "--issue-file", "../issue.md", "--pipeline", "fix", "--push", "--sandbox", "required")
	p.want(0, out)
	run := p.record()
	if len(run.Baseline) != 1 || run.Baseline[0].Pass {
		t.Fatalf("before the first change: %+v", run.Baseline)
	}
	after := run.Phases[1].Checks
	if run.Status != metadata.Completed || run.Phases[1].RetryCount != 0 || after == nil || !after.Results[0].FailsBefore || !slices.Equal(after.Results[0].FailedTests, []string{"is old"}) {
		t.Errorf("the run is %s, with checks %+v", run.Status, after)
	}
	testenv.Has(t, "the log", out.stdout+out.stderr, "is old")
}
