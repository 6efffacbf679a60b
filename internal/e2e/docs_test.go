//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// shellBlocks gives the blocks of commands of a page.
func shellBlocks(t *testing.T, page string) (all []string) {
	t.Helper()
	text := testenv.Read(t, "../../"+page)
	for _, m := range regexp.MustCompile("(?s)\n```sh\n(.*?)```").FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// typed runs the lines of a block, of which the last ends with a code, and gives what they say.
func (p *place) typed(dir, lines string, code int) (said string) {
	p.t.Helper()
	all := slices.Collect(strings.Lines(lines))
	for i, line := range all {
		want := 0
		if i == len(all)-1 {
			want = code
		}
		o := p.exec(dir, "sh", "-ec", line)
		if o.code != want {
			p.t.Fatalf("%s: exit code %d, want %d\n%s\n%s", line, o.code, want, o.stdout, o.stderr)
		}
		said += o.stdout
	}
	return said
}

// TestDocs types what the pages say, in order, in a repository with an issue in hello.md and a pushed run of issue 7.
// A block is typed if its last line has an exit code here; a reason says who else tries it, or why nobody can.
func TestDocs(t *testing.T) {
	const github, waits = "it needs github.com", 3
	const text = "# It does not greet\n\nmain.go should greet.\n"
	pages := map[string][]any{
		"commands.md":       {0},
		"eval.md":           {"the stage evaluation of .ci/run does so"},
		"evidence.md":       {0, "TestScripts/verify does so"},
		"first-pipeline.md": {waits, waits, waits, 0},
		"formats.md":        {"it is a part of a program"},
		"github.md":         {github, "it makes a release"},
		"machine.md":        {0, github, 0, "TestScripts/work does so", github, 0, 0, 0, "it removes a run before its end", "TestScripts/tasks does so", 0, github, "it needs a run of ai-workflow-agent"},
		"pipelines.md":      {0, "TestScripts/init_from does so", 0},
		"speed.md":          {"it measures for minutes"},
		"tour.md":           {"TestTour does so"},
	}
	all, err := filepath.Glob("../../docs/*.md")
	testenv.Must(t, err)
	for _, path := range all {
		page := filepath.Base(path)
		blocks := pages[page]
		if strings.HasSuffix(page, ".ja.md") || len(blocks)+len(shellBlocks(t, "docs/"+page)) == 0 {
			continue // that ja.md says the same is held in internal/house
		}
		t.Run(page, func(t *testing.T) {
			p := newPlace(t)
			p.says((&worker{change: `grep -q greet main.go || echo 'func greet() {}' >>main.go; printf 'package main\n\nimport "testing"\n\nfunc TestGreet(t *testing.T) { greet() }\n' >main_test.go`}).script())
			program := built(t)
			p.more = []string{"PATH=" + filepath.Dir(program) + ":" + programs + ":" + os.Getenv("PATH")}
			p.write("repo/go.mod", "module example.com/demo\n\ngo 1.24\n")
			p.git(p.repo, "add", ".")
			p.git(p.repo, "commit", "--quiet", "-m", "Be a module")
			p.git(p.repo, "push", "--quiet")
			p.write("repo/hello.md", text)
			p.write("7.md", text)
			team := []byte(testenv.Read(t, "../../docs/first-pipeline.md"))
			p.write("repo/.github/reprise/pipelines/team.yaml", regexp.MustCompile("(?s)\n```yaml\n(.*?)```").FindStringSubmatch(string(team))[1])
			found := shellBlocks(t, "docs/"+page)
			if len(found) != len(blocks) {
				t.Fatalf("it has %d blocks of commands; this test knows of %d", len(found), len(blocks))
			}
			if slices.ContainsFunc(found, func(b string) bool { return strings.Contains(b, "issue 7") || strings.Contains(b, "issue-7") }) {
				p.typed(p.repo, "reprise run --issue-file ../7.md --push --pipeline feature\n", 0)
			}
			for i, b := range found {
				if code, typed := blocks[i].(int); typed {
					p.typed(p.repo, b, code)
				}
			}
		})
	}
}
