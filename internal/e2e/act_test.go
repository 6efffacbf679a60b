//go:build e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/setup"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// hub is a place with GitHub: a repository on GitHub whose origin is the one
// of the place, and act, which runs the jobs of its workflows on this machine,
// as GitHub Actions would. There is no network.
//
// act does not know everything. It has no concurrency, refuses a workflow with a queue of jobs, has no time limit for
// jobs; it does not hold a token to the permissions of a job, which is done here
// instead, with those of the job run; it copies the repository where actions/checkout would clone it; and it kills a step that
// it cancels, where GitHub first sends SIGINT.
type hub struct {
	*place
	github  *githubtest.Server
	action  string            // the action, as a workflow would get it
	env     map[string]string // of every job
	secrets map[string]string // of the repository
	sent    atomic.Int64      // events so far
}

const (
	repository = "acme/demo"      // of the place, on GitHub
	botToken   = "ghs_0123456789" // of its jobs
	released   = "v0.0.1"
)

// newHub makes a hub whose action starts a program that is given by its path,
// and whose repository has the workflow that init writes for an agent.
func newHub(t *testing.T, program, agent string) *hub {
	t.Helper()
	h := &hub{place: newPlace(t), github: githubtest.New(t)}
	h.github.AddRepository(repository, false)
	h.github.Bare(repository, filepath.Join(h.root, "origin.git"))
	h.github.AddInstallation(botToken, "github-actions[bot]")
	h.action = filepath.Join(h.root, "action")
	h.layAction(program)
	h.write("npm/npm", npm)
	h.write("held/.keep", "")
	testenv.Must(t, os.Chmod(filepath.Join(h.root, "npm/npm"), 0o755))
	h.env = map[string]string{
		"GITHUB_API_URL": h.github.URL, "GITHUB_GRAPHQL_URL": h.github.URL + "/graphql", "GITHUB_REPOSITORY": repository,
		"REPRISE_RELEASES_URL": "file://" + filepath.Join(h.root, "releases"), "REPRISE_LISTEN_EVERY": "200ms", "UPLOADS": filepath.Join(h.root, "uploads"),
		"ANTHROPIC_BASE_URL": h.model.URL, "OPENAI_BASE_URL": h.model.URL + "/v1",
	}
	h.secrets = map[string]string{"GITHUB_TOKEN": botToken, "ANTHROPIC_API_KEY": "test-key", "OPENAI_API_KEY": "test-key"}
	if out := h.reprise("init", "--agent", agent, "--workflow", "long", "--uses", setup.DefaultUses()); out.code != 0 {
		t.Fatalf("init: %s%s", out.stdout, out.stderr)
	}
	h.checkOutHere()
	h.publish("Add the workflow of reprise")
	return h
}

// checkOutHere takes the branch out of the step that checks out, and the queue of jobs, which
// act refuses. The branch is for reviews, whose jobs GitHub gives another one; act copies the
// repository for a step without one, and would ask the network for one with it.
func (h *hub) checkOutHere() {
	h.t.Helper()
	h.checkOutIn("repo/.github/workflows/reprise.yml")
}

// checkOutIn does so in a file of the place.
func (h *hub) checkOutIn(name string) {
	h.t.Helper()
	text := h.read(filepath.Join(h.root, name))
	without := regexp.MustCompile(`(?m)^ +(ref: \$\{\{ github\.event\.pull_request |queue: max ).*\n`).ReplaceAllString(text, "")
	if text == without {
		h.t.Fatalf("no step of the workflow checks out a branch:\n%s", text)
	}
	h.write(name, without)
}

// publish brings what was written into the repository to the default branch.
func (h *hub) publish(subject string) {
	h.t.Helper()
	h.git(h.repo, "add", ".")
	h.git(h.repo, "commit", "--quiet", "-m", subject)
	h.git(h.repo, "push", "--quiet", "origin", "main")
}

// workflow changes one line of the workflow that init has written, as people
// would, and publishes it.
func (h *hub) workflow(line, by string) {
	h.t.Helper()
	const name = "repo/.github/workflows/reprise.yml"
	text := h.read(filepath.Join(h.root, name))
	if strings.Count(text, line) != 1 {
		h.t.Fatalf("the workflow has not once %q:\n%s", line, text)
	}
	h.write(name, strings.ReplaceAll(text, line, by))
	h.publish("Change the workflow of reprise")
}

// npm stands in for npm, which would ask the network. The agent programs are
// in the PATH. It is the first thing that a job run calls, and waits there
// while the job is held.
const npm = `#!/bin/sh
here=$(dirname "$0")
case $1 in
ci)
	echo "$*" >> "$here/installed"
	mkdir -p "$3/node_modules/@anthropic-ai/claude-code"
	touch "$3/node_modules/@anthropic-ai/claude-code/install.cjs"
	touch "$here/../held/$GITHUB_RUN_ID.here"
	while [ -e "$here/../held/$GITHUB_RUN_ID" ]; do sleep 0.05; done
	;;
esac
`

// layAction makes the action and a release of the program, and pins it.
func (h *hub) layAction(program string) {
	h.t.Helper()
	for _, name := range []string{"action.yml", ".github/action/start"} {
		h.write("action/"+name, h.source(name))
	}
	testenv.Must(h.t, os.Chmod(filepath.Join(h.action, ".github/action/start"), 0o755))
	archive, err := archived(program)
	testenv.Must(h.t, err)
	name := fmt.Sprintf("reprise_%s_%s_%s.tar.gz", released, runtime.GOOS, runtime.GOARCH)
	h.write("releases/"+released+"/"+name, string(archive))
	h.write("action/.github/action/checksums.txt", fmt.Sprintf("# acme/reprise %s\n%x  %s\n", released, sha256.Sum256(archive), name))
	h.write("upload/action.yml", uploads)
	h.write("download/action.yml", downloads)
	// Go is in the PATH.
	h.write("setup/action.yml", "name: setup\ninputs: {go-version: {}, cache: {}}\nruns: {using: composite, steps: [{shell: bash, run: go version}]}\n")
}

// uploads stands in for the action that keeps files of a job.
const uploads = `name: upload
inputs: {name: {}, path: {}, if-no-files-found: {}, retention-days: {}, overwrite: {}}
runs:
  using: composite
  steps:
    - shell: bash
      env: {NAME: "${{ inputs.name }}", DIR: "${{ inputs.path }}"}
      run: mkdir -p "$UPLOADS/$NAME" && if [ -d "$DIR" ]; then cp -r "$DIR/." "$UPLOADS/$NAME"; else cp "$DIR" "$UPLOADS/$NAME"; fi
`

// downloads stands in for the action that fetches what earlier jobs have kept.
const downloads = `name: download
inputs: {pattern: {}, path: {}, merge-multiple: {}}
runs:
  using: composite
  steps:
    - shell: bash
      env: {PATTERN: "${{ inputs.pattern }}", DIR: "${{ inputs.path }}", MERGE: "${{ inputs.merge-multiple }}"}
      run: mkdir -p "$DIR" && if [ "$MERGE" ]; then cp -r "$UPLOADS"/$PATTERN/. "$DIR"; else cp -r "$UPLOADS"/$PATTERN "$DIR"; fi
`

// source gives a file of this repository.
func (h *hub) source(name string) string {
	h.t.Helper()
	return testenv.Read(h.t, filepath.Join("..", "..", filepath.FromSlash(name)))
}

// archives keeps what archived has made, by program.
var archives sync.Map

// archived packs a program as a release has it.
func archived(program string) ([]byte, error) {
	pack := func() ([]byte, error) {
		data, err := os.ReadFile(program)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed) // the level is one
		w := tar.NewWriter(z)
		err = w.WriteHeader(&tar.Header{Name: "reprise", Mode: 0o755, Size: int64(len(data))})
		if err == nil {
			_, err = w.Write(data)
		}
		err = errors.Join(err, w.Close(), z.Close())
		return out.Bytes(), err
	}
	once, _ := archives.LoadOrStore(program, sync.OnceValues(pack))
	return once.(func() ([]byte, error))()
}

// act builds act, once, and gives its path. It has a go.mod of its own, since
// it needs much that nothing else here does.
var act = sync.OnceValues(func() (string, error) {
	c := exec.Command("go", "tool", "-modfile=internal/e2e/act.mod", "-n", "act")
	c.Dir = filepath.Join("..", "..")
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("build act: %w\n%s", err, said.String())
	}
	return strings.TrimSpace(out.String()), nil
})

// delivery is what an event led to.
type delivery struct {
	code    int                          // 0 if every job that ran went well
	results map[string]string            // success or failure, by job; without those that were skipped
	outputs map[string]map[string]string // of the steps that have an id, by "job/step"
	summary map[string]string            // by job
	log     string                       // what the steps wrote, but for the end of one that fails, which act does not wait for, and what act says of them
}

// deliver sends an event to the workflow and waits until all jobs are done.
// The actor is the sender of the event.
func (h *hub) deliver(event string, payload any) delivery {
	h.t.Helper()
	return h.deliverTo(event, payload).wait(h.t)
}

// deliverTo sends an event and does not wait.
func (h *hub) deliverTo(event string, payload any) *pending {
	h.t.Helper()
	data, raw := payload.([]byte)
	if !raw {
		var err error
		if data, err = json.Marshal(payload); err != nil {
			h.t.Fatal(err)
		}
	}
	var sent struct{ Sender struct{ Login string } }
	testenv.Must(h.t, json.Unmarshal(data, &sent))
	p := &pending{run: h.sent.Add(1), hub: h}
	number, name := fmt.Sprint(p.run), fmt.Sprintf("event-%d.json", p.run)
	h.write(name, string(data))
	h.github.AddRun(repository, githubtest.Run{ID: p.run, Event: event})
	program, err := act()
	testenv.Must(h.t, err)
	args := []string{
		event, "--json", "--eventpath", filepath.Join(h.root, name), "--actor", sent.Sender.Login,
		"--platform", "ubuntu-24.04=-self-hosted", "--action-cache-path", filepath.Join(h.root, "act", number), "--no-cache-server", "--pull=false",
		"--insecure-secrets", // or act would hide what must not be there
		"--local-repository", "reprise-ci/reprise@v1=" + h.action,
		"--local-repository", h.pinned("actions/upload-artifact") + "=" + filepath.Join(h.root, "upload"),
		"--local-repository", h.pinned("actions/download-artifact") + "=" + filepath.Join(h.root, "download"),
		"--local-repository", h.pinned("actions/setup-go") + "=" + filepath.Join(h.root, "setup"),
		"--env", "GITHUB_TRIGGERING_ACTOR=" + sent.Sender.Login, "--env", "GITHUB_RUN_ID=" + number,
		"--env", "REPRISE_HOME=" + filepath.Join(h.root, "runs", number), // every job has a machine of its own
	}
	for name, value := range h.env {
		args = append(args, "--env", name+"="+value)
	}
	for name, value := range h.secrets {
		args = append(args, "--secret", name+"="+value)
	}
	p.cmd = exec.CommandContext(h.t.Context(), program, args...)
	// Nothing of this machine but what is named: it may have keys and tokens.
	p.cmd.Dir, p.cmd.Env = h.repo, []string{
		"PATH=" + filepath.Join(h.root, "npm") + ":" + programs + ":" + os.Getenv("PATH"), "HOME=" + h.home, "LANG=C.UTF-8",
	}
	// A file: what a job that was dropped has started may hold on to it.
	p.out = filepath.Join(h.root, fmt.Sprintf("event-%d.log", p.run))
	out, err := os.Create(p.out)
	testenv.Must(h.t, err)
	defer out.Close()
	p.cmd.Stdout, p.cmd.Stderr = out, out
	testenv.Must(h.t, p.cmd.Start())
	return p
}

// pinned gives an action as action.yml or our own workflow names it.
func (h *hub) pinned(name string) string {
	h.t.Helper()
	text := h.source("action.yml") + h.source(".github/workflows/reprise.yml")
	m := regexp.MustCompile(`uses: (` + name + `@\S+)`).FindStringSubmatch(text)
	if m == nil {
		h.t.Fatalf("%s is not used", name)
	}
	return m[1]
}

// pending is an event whose jobs run.
type pending struct {
	hub *hub
	run int64 // its id, for GitHub
	cmd *exec.Cmd
	out string // file with what act says
}

// hold makes the next event's job run wait before it does anything.
func (h *hub) hold() {
	h.t.Helper()
	h.write(fmt.Sprintf("held/%d", h.sent.Load()+1), "")
}

// arrive waits until the job run of an event is there, and held.
func (p *pending) arrive() {
	p.hub.t.Helper()
	p.hub.until("the job run", func() bool {
		_, err := os.Stat(filepath.Join(p.hub.root, fmt.Sprintf("held/%d.here", p.run)))
		return err == nil
	})
}

// release lets the job run of an event go on.
func (p *pending) release() {
	p.hub.t.Helper()
	testenv.Must(p.hub.t, os.Remove(filepath.Join(p.hub.root, fmt.Sprintf("held/%d", p.run))))
}

// drop ends an event whose job run is held, as GitHub drops one that waits.
func (p *pending) drop() {
	p.hub.t.Helper()
	testenv.Must(p.hub.t, p.cmd.Process.Kill())
	p.cmd.Wait() // it was killed
	p.hub.github.AddRun(repository, githubtest.Run{ID: p.run, Status: "completed", Conclusion: "cancelled"})
}

// until waits until something is so.
func (h *hub) until(what string, so func() bool) {
	h.t.Helper()
	for end := time.Now().Add(5 * time.Minute); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("%s: that has not come", what)
		}
	}
}

// line is one line of act's log.
type line struct {
	Msg, Command, Name, Arg, Content, JobID, JobResult string

	StepID []string `json:"stepID"`
}

func (p *pending) wait(t *testing.T) delivery {
	t.Helper()
	p.cmd.Wait() // the exit code tells how it ended
	p.hub.github.AddRun(repository, githubtest.Run{ID: p.run, Status: "completed", Conclusion: "success"})
	d := delivery{
		code: p.cmd.ProcessState.ExitCode(), results: map[string]string{}, outputs: map[string]map[string]string{}, summary: map[string]string{},
	}
	var log strings.Builder
	for text := range strings.Lines(p.hub.read(p.out)) {
		var l line
		if json.Unmarshal([]byte(text), &l) != nil {
			io.WriteString(&log, text) // what act says before it reads the workflow
			continue
		}
		if l.Command == "add-mask" { // which GitHub does not show
			continue
		}
		fmt.Fprintf(&log, "%s: %s\n", l.JobID, strings.TrimSuffix(l.Msg, "\n"))
		if l.JobResult != "" {
			d.results[l.JobID] = l.JobResult
		}
		if len(l.StepID) != 1 { // a step of an action says it a second time
			continue
		}
		switch step := l.JobID + "/" + l.StepID[0]; l.Command {
		case "set-output":
			if d.outputs[step] == nil {
				d.outputs[step] = map[string]string{}
			}
			d.outputs[step][l.Name] = l.Arg
		case "summary":
			d.summary[l.JobID] += l.Content
		}
	}
	d.log = log.String()
	return d
}
