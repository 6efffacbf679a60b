//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// A run that is killed in the middle of its setup begins it again, on a tree in which nothing
// of the first try is left, and has paid for nothing before.
func TestKilledInTheSetup(t *testing.T) {
	p := newPlace(t)
	p.write("repo/.gitignore", "deps\n")
	p.git(p.repo, "add", ".")
	p.git(p.repo, "commit", "--quiet", "-m", "Ignore deps")
	on := filepath.Join(p.root, "bin", "go-on")
	p.write("bin/README", "What lies beside programs can be read in the sandbox.\n")
	p.more = []string{"PATH=" + programs + ":" + filepath.Dir(on) + ":" + os.Getenv("PATH")}
	p.write("ready.cue", `name: "ready"
agents: writer: use: "claude"
setup: [{name: "deps", run: "test ! -e deps && mkdir deps && echo half > deps/half && { test -e '`+on+`' || sleep 600; } && mv deps/half deps/made"}]
phases: [{
	name: "analyze", goal: "Find the cause.", writes: "analysis.md", review: false
	checks: [{name: "made", run: "test -e deps/made && test ! -e deps/half"}]
}]
`)
	p.write("issue.md", issueText)
	p.says((&worker{}).script())
	stopped := make(chan output)
	run := p.begin("run", "--issue-file", "../issue.md", "--pipeline", "../ready.cue", "--push", "--sandbox", "required")
	go func() { stopped <- run.wait() }()
	half := filepath.Join(p.root, "runs", "*", "7", "*", "deps", "half")
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if found, err := filepath.Glob(half); err != nil || len(found) > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the setup has not begun: there is no %s", half)
		}
	}
	if err := run.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.want(-1, <-stopped)
	p.nobodyLeft()
	if n := len(p.model.Requests()); n != 0 {
		t.Errorf("the model was asked %d times before the setup was over", n)
	}
	p.write("bin/go-on", "")
	p.want(0, p.reprise("run", "--issue-file", "../issue.md", "--pipeline", "../ready.cue", "--push", "--sandbox", "required"))
	after := p.record()
	if after.Status != metadata.Completed || len(after.Setup) != 1 || !after.Setup[0].Pass || !after.Phases[0].Checks.Results[0].Pass {
		t.Errorf("the run is %s, with the setup %+v and checks %+v", after.Status, after.Setup, after.Phases[0].Checks)
	}
}
