//go:build e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// forge is GitHub as a release sees it: the repository of reprise itself, to which tags are
// pushed; a job for each tag, which takes the steps of release.yml; and the server that has
// what they published. gh and the attestation are stand-ins.
type forge struct {
	t      *testing.T
	root   string
	source string // a clone, where people work
	steps  []releaseStep
}

type releaseStep struct {
	Name, Uses, Run string
	Env             map[string]string
	With            map[string]any
}

// ghOfForge stands for gh, in a job and on a machine of the action: releases are the folders of
// published, and attested has the checksums of what was attested.
const ghOfForge = `#!/bin/sh
here=$(dirname "$0")/..
case "$1 $2" in
"release view")
	[ -d "$here/published/$3" ] || { echo "release not found" >&2; exit 1; }
	echo false
	;;
"release create")
	[ "$GH_TOKEN" = of-job ] && git ls-remote --exit-code origin "refs/tags/$3" >/dev/null || exit 1
	to=$here/published/$3
	mkdir "$to" || exit 1
	shift 3
	for file; do case $file in dist/*) cp "$file" "$to" ;; esac; done
	echo "$*" >"$to.said"
	;;
"release download") cat "$here/published/$3/$5" ;;
"attestation verify") grep -q "^$(sha256sum "$3" | cut -d ' ' -f 1) $7$" "$here/attested" ;;
"auth setup-git" | "attestation --help") ;;
*) echo "gh: $*" >&2; exit 2 ;;
esac
`

// GitHub refuses a push by a job of a workflow that is on no branch.
const updateOfForge = `#!/bin/sh
[ "$(git rev-parse "$3:.github/workflows")" = "$(git rev-parse main:.github/workflows)" ] && exit
case $1 in refs/tags/v?) echo "refusing to allow a GitHub App to create or update workflow"; exit 1 ;; esac
`

// Where time counts, each platform is built as that of this machine, which is compiled already, and
// packed in a hurry.
const (
	goOfHost   = "#!/bin/sh\nunset GOOS GOARCH CGO_ENABLED\nPATH=${PATH#*:} exec go \"$@\"\n"
	quickGzip  = "#!/bin/sh\nPATH=${PATH#*:} exec gzip -n -1\n"
	ofAMachine = "awk bash cat chmod cp curl cut dirname find grep gzip mkdir mktemp mv rm sh sha256sum sort tar tr uname xargs"
)

func newForge(t *testing.T) *forge {
	t.Helper()
	root := t.TempDir()
	if err := os.Chmod(filepath.Dir(root), 0o755); err != nil { // another user comes here, too
		t.Fatal(err)
	}
	f := &forge{t: t, root: root, source: filepath.Join(root, "source")}
	f.write("source/.keep", "")
	f.write("published/.keep", "")
	f.write("attested", "")
	for _, dir := range []string{"programs", "machine"} {
		f.write(dir+"/gh", ghOfForge)
	}
	for _, name := range strings.Fields(ofAMachine) { // and no Go
		program, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(program, filepath.Join(root, "machine", name))
		}
		testenv.Must(t, err)
	}
	if os.Getenv("REPRISE_E2E_PLATFORMS") == "host" {
		f.write("programs/go", goOfHost)
		f.write("programs/gzip", quickGzip)
	}
	f.write(".gitconfig", "[user]\n\tname = Tester\n\temail = tester@example.com\n[init]\n\tdefaultBranch = main\n[safe]\n\tdirectory = *\n")
	f.must(f.root, "git", "init", "--quiet", "--bare", "origin.git")
	f.must(filepath.Join("..", ".."), "sh", "-c", `git ls-files -coz --exclude-standard | tar -c --null --ignore-failed-read -T - | tar -x -C "$1"`, "sh", f.source)
	f.must(f.source, "git", "init", "--quiet")
	f.must(f.source, "git", "remote", "add", "origin", filepath.Join(root, "origin.git"))
	f.commit("Start")
	f.write("origin.git/hooks/update", updateOfForge)

	var workflow struct {
		Jobs struct{ Release struct{ Steps []releaseStep } }
	}
	testenv.Must(t, yaml.Unmarshal([]byte(f.read("source/.github/workflows/release.yml")), &workflow))
	f.steps = workflow.Jobs.Release.Steps
	return f
}

func (f *forge) write(name, text string) {
	f.t.Helper()
	name = filepath.Join(f.root, name)
	testenv.Must(f.t, os.MkdirAll(filepath.Dir(name), 0o755))
	testenv.Must(f.t, os.WriteFile(name, []byte(text), 0o755))
}

func (f *forge) read(name string) string {
	f.t.Helper()
	return testenv.Read(f.t, filepath.Join(f.root, name))
}

// run runs a program in a folder, with the programs of the forge first.
func (f *forge) run(dir string, env []string, program string, args ...string) (string, error) {
	c := exec.CommandContext(f.t.Context(), program, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(f.root, ".gitconfig"), "PATH="+filepath.Join(f.root, "programs")+":"+os.Getenv("PATH"))
	c.Env = append(c.Env, env...)
	out, err := c.CombinedOutput()
	return string(out), err
}

func (f *forge) must(dir, program string, args ...string) string {
	f.t.Helper()
	out, err := f.run(dir, nil, program, args...)
	if err != nil {
		f.t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
	return strings.TrimSpace(out)
}

func (f *forge) commit(subject string) {
	f.t.Helper()
	f.must(f.source, "git", "add", ".")
	f.must(f.source, "git", "commit", "--quiet", "--allow-empty", "-m", subject)
	f.must(f.source, "git", "push", "--quiet", "origin", "main")
}

// tag pushes a tag.
func (f *forge) tag(tag string) {
	f.t.Helper()
	f.must(f.source, "git", "tag", tag)
	f.must(f.source, "git", "push", "--quiet", "origin", tag)
}

// job gives the folder of a new job for a tag, with what actions/checkout leaves there, and what was built for the
// tag before, if anything was.
func (f *forge) job(tag string) string {
	f.t.Helper()
	job, before := filepath.Join(f.root, "job "+tag), filepath.Join(f.root, "published", tag)
	f.must(f.root, "rm", "-rf", job)
	f.must(f.root, "git", "clone", "--quiet", "--branch", tag, "origin.git", job)
	if _, err := os.Stat(before); err == nil {
		f.must(f.root, "cp", "-r", before, filepath.Join(job, "dist"))
	}
	return job
}

// take takes the steps of the workflow for a tag, beginning with the one that has this name.
func (f *forge) take(job, tag, first string) (string, error) {
	f.t.Helper()
	var all strings.Builder
	from := max(0, slices.IndexFunc(f.steps, func(s releaseStep) bool { return s.Name == first }))
	for _, step := range f.steps[from:] {
		name, _, _ := strings.Cut(step.Uses, "@")
		switch name {
		case "":
			env := []string{"GITHUB_REF_NAME=" + tag, "GH_TOKEN="}
			for k, v := range step.Env {
				env = append(env, k+"="+strings.ReplaceAll(v, "${{ github.token }}", "of-job"))
			}
			out, err := f.run(job, env, "bash", "-e", "-c", step.Run)
			all.WriteString(out)
			if err != nil {
				return all.String(), err
			}
		case "actions/attest-build-provenance":
			files, err := filepath.Glob(filepath.Join(job, step.With["subject-path"].(string)))
			if err != nil || len(files) == 0 {
				f.t.Fatalf("what is attested: %q, %v", files, err)
			}
			for _, file := range files {
				data := []byte(testenv.Read(f.t, file))
				const identity = "https://github.com/reprise-ci/reprise/.github/workflows/release.yml@refs/tags/"
				f.write("attested", f.read("attested")+fmt.Sprintf("%x %s%s\n", sha256.Sum256(data), identity, tag))
			}
		case "actions/checkout", "actions/setup-go":
		default:
			f.t.Fatalf("this rehearsal knows no %s", name)
		}
	}
	return all.String(), nil
}

// release makes a release of what is on the default branch.
func (f *forge) release(tag string) {
	f.t.Helper()
	f.tag(tag)
	if out, err := f.take(f.job(tag), tag, ""); err != nil {
		f.t.Fatalf("%s: %v\n%s", tag, err, out)
	}
}

// serve serves the releases as GitHub does, from a place that it sends clients on to, and gives its
// address. For archives something may be wrong.
func (f *forge) serve(t *testing.T, wrong string) string {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := os.ReadFile(filepath.Join(f.root, "published", strings.TrimPrefix(r.URL.Path, "/reprise-ci/reprise/releases/download/")))
		archive := strings.HasSuffix(r.URL.Path, ".tar.gz")
		switch {
		case err != nil || archive && wrong == "missing":
			http.NotFound(w, r)
		case r.Host == "github.com":
			http.Redirect(w, r, "https://release-assets.githubusercontent.com"+r.URL.Path, http.StatusFound)
		case archive && wrong == "fails":
			http.Error(w, "no", http.StatusInternalServerError)
		case archive && wrong == "cut":
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			w.Write(data[:len(data)/2])
			panic(http.ErrAbortHandler)
		default:
			if archive && wrong == "other bytes" {
				data[len(data)/2] ^= 1
			}
			w.Write(data)
		}
	}))
	s.Config.ErrorLog = nil
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "https://")
}

// person is an ordinary user of a clean machine, to whom GitHub is a server of ours.
type person struct {
	*forge
	home string
}

func (f *forge) person(t *testing.T, server string) *person {
	t.Helper()
	p := &person{forge: &forge{t: t, root: f.root}, home: t.TempDir()}
	for _, dir := range []string{p.home, filepath.Dir(p.home)} {
		testenv.Must(t, os.Chmod(dir, 0o755))
	}
	p.at(server)
	for _, dir := range []string{"tmp", "tools", "temp"} {
		testenv.Must(t, os.Mkdir(filepath.Join(p.home, dir), 0o755))
	}
	if os.Geteuid() == 0 {
		p.must(p.home, "chown", "-R", "12345:12345", p.home)
	}
	return p
}

// at says which server is GitHub. It is not what is rehearsed that its certificate is for
// another name, or for how long curl tries again.
func (p *person) at(server string) {
	p.t.Helper()
	config := "insecure\nretry-max-time = 1\nconnect-to = \"::" + server + "\"\n"
	testenv.Put(p.t, filepath.Join(p.home, ".curlrc"), config)
}

// shell runs a line with nothing of the environment of these tests.
func (p *person) shell(line string, env ...string) (string, error) {
	c := exec.CommandContext(p.t.Context(), filepath.Join(p.root, "machine/bash"), "-c", line)
	c.Dir, c.Env = p.home, append([]string{"HOME=" + p.home, "TMPDIR=" + filepath.Join(p.home, "tmp"), "PATH=" + filepath.Join(p.root, "machine")}, env...)
	if os.Geteuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 12345, Gid: 12345}}
	}
	out, err := c.CombinedOutput()
	return string(out), err
}

// install runs the line that install.sh has for people.
func (p *person) install(version string) (string, error) {
	line := regexp.MustCompile(`(?m)^#   (curl .*)$`).FindStringSubmatch(p.read("published/v1.0.0/install.sh"))
	if line == nil {
		p.t.Fatal("install.sh does not say how it is run")
	}
	return p.shell(strings.ReplaceAll(line[1], "v1.0.0", version))
}

// action runs the action as a workflow that calls it by a ref does: its steps ask for the program, and start it.
func (p *person) action(ref string) (string, error) {
	action := filepath.Join(p.root, "action "+ref)
	if _, err := os.Stat(action); err != nil {
		p.must(p.root, "git", "clone", "--quiet", "--branch", ref, "origin.git", action)
	}
	start := "'" + action + "/.github/action/start'"
	return p.shell(start+" name && exec "+start+" --version",
		"RUNNER_TEMP="+filepath.Join(p.home, "temp"), "RUNNER_TOOL_CACHE="+filepath.Join(p.home, "tools"), "GITHUB_OUTPUT=/dev/null",
		"REPRISE_ACTION_REPOSITORY=reprise-ci/reprise", "REPRISE_ACTION_REF="+ref, "INPUT_GITHUB_TOKEN=of-job")
}

// has holds what is installed, and what is left lying about, against what should be.
func (p *person) has(version string) {
	p.t.Helper()
	if said, err := p.shell(".local/bin/reprise --version"); err != nil || said != "reprise "+version+"\n" {
		p.t.Errorf("installed is %q, %v; want %s", said, err, version)
	}
	for _, dir := range []string{"tmp/*", "temp/reprise.*", ".local/bin/.*"} {
		if left, err := filepath.Glob(filepath.Join(p.home, dir)); err != nil || len(left) > 0 {
			p.t.Errorf("left behind: %q, %v", left, err)
		}
	}
}

// TestRelease goes from the tag to the programs of people, twice, and through what can go wrong.
func TestRelease(t *testing.T) {
	t.Parallel()
	f := newForge(t)
	f.release("v1.0.0")
	f.commit("Work")
	f.release("v1.1.0")
	host := "reprise_v1.1.0_" + runtime.GOOS + "_" + runtime.GOARCH
	published := f.holds(t)

	if out, err := f.take(f.job("v1.1.0"), "v1.1.0", "Publish"); err != nil {
		t.Errorf("a job that is run again: %v\n%s", err, out)
	}
	job := f.job("v1.1.0")
	f.write("job v1.1.0/dist/checksums.txt", published+"# built by another Go\n")
	if out, err := f.take(job, "v1.1.0", "Publish"); err == nil || !strings.Contains(out, "::error::the release v1.1.0 is made of other bytes") {
		t.Errorf("another build: %v\n%s", err, out)
	}

	server := f.serve(t, "")
	t.Run("upgrade", func(t *testing.T) {
		p := f.person(t, server)
		for _, version := range []string{"v1.0.0", "v1.1.0"} {
			if out, err := p.install(version); err != nil || strings.Count(out, "\n") != 2 || !strings.HasPrefix(out, "reprise "+version+" is installed: "+p.home) {
				t.Errorf("%v\n%s", err, out)
			}
			p.has(version)
		}
	})
	t.Run("action", func(t *testing.T) {
		for ref, want := range map[string]string{"v1": "reprise v1.1.0\n", "v1.0.0": "reprise v1.0.0\n", "v1.1.0": "reprise v1.1.0\n"} {
			p := f.person(t, server)
			if out, err := p.action(ref); err != nil || out != want {
				t.Errorf("called by %s: %v\n%s", ref, err, out)
			}
			// The machine has kept the archive, and v1 the checksums.
			p.at("127.0.0.1:1")
			if out, err := p.action(ref); ref == "v1" && (err != nil || out != want) {
				t.Errorf("called by %s once more: %v\n%s", ref, err, out)
			}
		}
	})
	for wrong, want := range map[string]struct{ script, action string }{
		"other bytes": {host + ".tar.gz is not what v1.1.0 is made of", "is not what release v1.1.0 of reprise-ci/reprise is made of"},
		"missing":     {host + ".tar.gz cannot be downloaded", "release v1.1.0 of reprise-ci/reprise has no " + host},
		"fails":       {host + ".tar.gz cannot be downloaded", host + ".tar.gz: the server answers 500; try again later"},
		"cut":         {host + ".tar.gz cannot be downloaded", "cannot download https://github.com/reprise-ci/reprise/releases/download/v1.1.0/" + host},
		"gone":        {host + ".tar.gz cannot be downloaded", "cannot download https://github.com/reprise-ci/reprise/releases/download/v1.1.0/" + host},
	} {
		t.Run(wrong, func(t *testing.T) {
			p := f.person(t, server)
			if out, err := p.install("v1.0.0"); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			at := "127.0.0.1:1"
			if wrong != "gone" {
				at = f.serve(t, wrong)
			}
			p.at(at)
			out, err := p.shell("sh <'" + filepath.Join(f.root, "published/v1.1.0/install.sh") + "'")
			if last := out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]; err == nil || strings.Count(out, "not installed") != 1 ||
				!strings.HasPrefix(last, "reprise was not installed: ") || !strings.Contains(last, want.script) {
				t.Errorf("install.sh does not say %q: %v\n%s", want.script, err, out)
			}
			out, err = p.action("v1")
			if err == nil || strings.Count(out, "::error") != 1 || !strings.Contains(out, want.action) || strings.Contains(out, "reprise v1") {
				t.Errorf("the action does not say %q: %v\n%s", want.action, err, out)
			}
			p.has("v1.0.0")
			if kept, err := filepath.Glob(filepath.Join(p.home, "tools/reprise/*")); err != nil || len(kept) > 0 {
				t.Errorf("kept for later jobs: %q, %v", kept, err)
			}
		})
	}

	// The tag is there, and its release is not yet.
	f.tag("v1.2.0-rc.1")
	t.Run("no release yet", func(t *testing.T) {
		p := f.person(t, server)
		if out, err := p.install("v1.0.0"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if out, _ := p.install("v1.2.0-rc.1"); !strings.HasPrefix(out, "curl: ") || !strings.HasSuffix(out, " 404\n") || strings.Count(out, "\n") != 1 {
			t.Errorf("install.sh:\n%s", out)
		}
		if out, err := p.action("v1.2.0-rc.1"); err == nil || strings.Count(out, "\n") != 1 || !strings.Contains(out, "::there is no release to download for this version of the action") {
			t.Errorf("the action: %v\n%s", err, out)
		}
		p.has("v1.0.0")
	})
	// What people call stays for a version that is not the newest, and where GitHub refuses to move it.
	pinned := f.must(f.source, "git", "ls-remote", "origin", "refs/tags/v1")
	out, err := f.take(f.job("v1.2.0-rc.1"), "v1.2.0-rc.1", "Move the tag that workflows call")
	if err != nil || out != "v1 stays: its newest release is v1.1.0\n" {
		t.Errorf("a version before the release: %v\n%s", err, out)
	}
	f.tag("v1.3.0")
	job = f.job("v1.3.0")
	f.write("job v1.3.0/dist/checksums.txt", published)
	f.write("source/.github/workflows/release.yml", "on: push\n")
	f.commit("Change a workflow")
	out, err = f.take(job, "v1.3.0", "Move the tag that workflows call")
	if err == nil || strings.Count(out, "::error::") != 1 || !strings.Contains(out, "v1.3.0 is published, but v1 stays") {
		t.Errorf("a push that GitHub refuses: %v\n%s", err, out)
	}
	if now := f.must(f.source, "git", "ls-remote", "origin", "refs/tags/v1"); now != pinned {
		t.Errorf("v1 was %s and is %s", pinned, now)
	}
}

// holds looks at the files of v1.1.0: each is attested and in checksums.txt, which v1 has too, and an SBOM is of the
// program in its archive. It gives checksums.txt.
func (f *forge) holds(t *testing.T) string {
	t.Helper()
	sums, attested := f.read("published/v1.1.0/checksums.txt"), f.read("attested")
	if pinned := f.must(f.root, "git", "--git-dir=origin.git", "show", "v1:.github/action/checksums.txt") + "\n"; pinned != sums {
		t.Errorf("v1 pins\n%snot\n%s", pinned, sums)
	}
	if said := f.read("published/v1.1.0.said"); !strings.HasSuffix(said, "--verify-tag --generate-notes\n") {
		t.Errorf("published with %s", said)
	}
	files, err := os.ReadDir(filepath.Join(f.root, "published/v1.1.0"))
	testenv.Must(t, err)
	sboms := 0
	for _, file := range files {
		text := f.read("published/v1.1.0/" + file.Name())
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
		if !strings.Contains(attested, sum+" ") || file.Name() != "checksums.txt" && !strings.Contains(sums, sum+"  "+file.Name()+"\n") {
			t.Errorf("%s is not attested, or not in checksums.txt", file.Name())
		}
		archive, is := strings.CutSuffix(file.Name(), ".spdx.json")
		if !is {
			continue
		}
		sboms++
		var sbom struct {
			Packages []struct {
				Name, VersionInfo string
				Checksums         []struct{ ChecksumValue string }
			}
		}
		program := f.program(t, archive+".tar.gz")
		err := json.Unmarshal([]byte(text), &sbom)
		if err != nil || len(sbom.Packages) < 10 || sbom.Packages[0].VersionInfo != "v1.1.0" || sbom.Packages[0].Checksums[0].ChecksumValue != fmt.Sprintf("%x", sha256.Sum256(program)) {
			t.Errorf("%s is not of the program in its archive: %v", file.Name(), err)
		}
		f.write("program", string(program))
		platform := strings.Split(archive, "_")[2:]
		if built := f.must(f.root, "go", "version", "-m", "program"); os.Getenv("REPRISE_E2E_PLATFORMS") != "host" &&
			(!strings.Contains(built, "GOOS="+platform[0]+"\n") || !strings.Contains(built, "GOARCH="+platform[1]+"\n")) {
			t.Errorf("the program for %s:\n%s", platform, built)
		}
	}
	if sboms != 4 {
		t.Errorf("%d SBOMs in %v", sboms, files)
	}
	return sums
}

// program gives the program in an archive of v1.1.0.
func (f *forge) program(t *testing.T, archive string) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader([]byte(f.read("published/v1.1.0/" + archive))))
	testenv.Must(t, err)
	for r := tar.NewReader(z); ; {
		header, err := r.Next()
		testenv.Must(t, err)
		if header.Name == "reprise" {
			program, err := io.ReadAll(r)
			testenv.Must(t, err)
			return program
		}
	}
}
