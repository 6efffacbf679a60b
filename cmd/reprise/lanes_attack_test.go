//go:build slow || e2e

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// An agent that may write everywhere, as there is no sandbox, puts something else in the
// place of its tree, or nothing. What that leads to is neither changed nor committed, and the
// run goes on with the next start.
func TestLaneLeadsElsewhere(t *testing.T) {
	t.Parallel()
	for name, attack := range map[string]string{
		"to the tree of another part": `cd .. && mv "$tree" "$tree-away" && ln -s "$other" "$tree"`,
		"out of the folder":           `cd .. && mv "$tree" "$tree-away" && ln -s "$HOME/outside" "$tree"`,
		"its folder":                  `cd ../.. && mv build.t1 build.t1-away && ln -s "$HOME/outside" build.t1`,
		"nowhere":                     `cd .. && rm -rf "$tree"`,
		"its folder nowhere":          `cd ../.. && rm -rf build.t1`,
		"its .git nowhere":            `rm -rf .git`,
		"its .git to another part's":  `rm -rf .git; echo "gitdir: $(dirname "$other")/git" >.git`,
		"its .git out":                `rm -rf .git; git init -q "$HOME/own"; git -C "$HOME/own" config core.hooksPath "$HOME/hooks"; echo "gitdir: $HOME/own/.git" >.git`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newLanes(t)
			s.write("home/outside/precious", "mine\n")
			s.write("agent.sh", `
if [ $REPRISE_STEP = review ]; then echo '{"structured": {"verdict": "pass", "gates": [], "findings": []}}'; exit; fi
date +%s.%N >"$REPRISE_ARTIFACT"
tree=$PWD other=$(dirname "$(dirname "$PWD")")/build.t2/$(basename "$PWD")
case $REPRISE_PHASE in
plan) echo '{"structured": {"tasks": [{"id": "t1", "title": "A", "goal": "A.", "files": ["a"]}, {"id": "t2", "title": "B", "goal": "B.", "files": ["b"]}]}}' ;;
build.t1)
	echo t1 >a; echo t1 >list
	while ! [ -e "$HOME/both" ]; do sleep 0.05; done
	[ -e "$HOME/tried" ] || { touch "$HOME/tried"; `+attack+`; } ;;
*)
	touch "$HOME/both"; sleep 1
	echo t2 >b; echo t2 >list2 ;;
esac
`)
			l := s.start("run", "--issue-file", "../7.md", "--pipeline", "../own.cue", "--push", "--sandbox", "off", "--jobs", "2")
			if code := l.code(); code != exit.Done {
				why := "a program has put something else in the place of"
				if strings.HasSuffix(name, "nowhere") {
					why = "the next start makes it again"
				}
				if code != exit.Failed || !strings.Contains(l.said.String(), why) {
					t.Errorf("exit code %d:\n%s", code, l.said.String())
				}
				s.run(exit.Done, "run", "--issue", "7", "--sandbox", "off", "--jobs", "2")
			}
			run := s.holds("7")
			if run.Status != metadata.Completed {
				t.Errorf("the run is %s: %+v", run.Status, run.Stop)
			}
			for file, want := range map[string]string{"a": "t1\n", "list": "t1\n", "b": "t2\n", "list2": "t2\n"} {
				if got, err := testenv.Git(s.path("origin.git"), "show", "reprise/issue-7:"+file); err != nil || got != want {
					t.Errorf("the branch has %s with %q (%v)", file, got, err)
				}
			}
			testenv.Lacks(t, "the branch", s.tree("--name-only"), "precious", "hooked")
			data, err := os.ReadFile(s.path("home/outside/precious"))
			entries, _ := os.ReadDir(s.path("home/outside")) // the file says whether it is there
			if string(data) != "mine\n" || len(entries) != 1 {
				t.Errorf("outside there is %q (%v) in %v", data, err, entries)
			}
		})
	}
}
