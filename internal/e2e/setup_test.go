//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
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
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if found, err := filepath.Glob(half); err != nil || len(found) > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the setup has not begun: there is no %s", half)
		}
	}
	testenv.Must(t, run.cmd.Process.Signal(syscall.SIGKILL))
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

// The setup that init wrote fetches a dependency, from the one host that init allowed it. The
// checks and the review, whose tests need it, find it in their copies.
func TestSetupFetches(t *testing.T) {
	p := initialized(t, "npm")
	testenv.Has(t, "what init has written of the network", p.read(filepath.Join(p.repo, ".github/reprise/pipelines/fix.cue")), `network: {allow: ["registry.npmjs.org"]}`)
	demo := tarball("package/package.json", `{"name":"demo","version":"1.0.0"}`)
	p.write("repo/.npmrc", "registry=http://registry.npmjs.org/\n")
	p.write("repo/package.json", `{"name":"greet","version":"1.0.0","scripts":{"test":"node --test"},"dependencies":{"demo":"1.0.0"}}`)
	p.write("repo/package-lock.json", locked("greet", demo))
	p.write("repo/demo.test.js", "require('node:test')('has demo', () => require('node:assert').strictEqual(require('demo/package.json').version, '1.0.0'))\n")
	p.git(p.repo, "add", ".")
	p.git(p.repo, "commit", "--quiet", "-m", "Depend on demo")
	p.git(p.repo, "push", "--quiet", "origin", "main")
	p.write("issue.md", issueText)
	p.says((&worker{change: "echo '// It greets.' >> greet.js; " + repositoryKinds["npm"].proof, tries: "npm test", passes: "pass 3"}).script())

	// Where the registry cannot be reached, the run ends before anything is paid for.
	unreached := p.reprise("run", "--issue-file", "../issue.md", "--pipeline", "fix", "--push", "--sandbox", "required")
	p.want(1, unreached)
	if run := p.record(); run.Stop == nil || run.Stop.Code != metadata.SetupFailed || len(run.Attempts) != 0 {
		t.Errorf("without a registry the run stopped with %+v, after %d attempts", run.Stop, len(run.Attempts))
	}

	proxy := registries(t, demo).String()
	p.more = append(p.more, "HTTP_PROXY="+proxy, "HTTPS_PROXY="+proxy, "NO_PROXY=127.0.0.1,localhost")
	p.want(0, p.reprise("run", "--issue-file", "../issue.md", "--pipeline", "fix", "--push", "--sandbox", "required"))
	run := p.record()
	if len(run.Setup) != 1 || !run.Setup[0].Pass || len(run.Baseline) != 1 || !run.Baseline[0].Pass {
		t.Errorf("the setup came to %+v, and the tests before the first change to %+v", run.Setup, run.Baseline)
	}
	after := run.Phases[1].Checks
	if run.Status != metadata.Completed || after == nil || !after.Results[0].Pass {
		t.Errorf("the run is %s, with checks %+v", run.Status, after)
	}
	reviewed := false
	for _, r := range p.model.Requests() {
		for _, result := range r.Results() {
			reviewed = reviewed || isReview(r) && strings.Contains(result.Text, "pass 3")
		}
	}
	if !reviewed {
		t.Error("the review has not seen the tests pass in its copy")
	}
	p.noCanary()
}
