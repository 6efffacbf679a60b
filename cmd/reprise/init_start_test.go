package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// machine is what the action's script starts the program on.
type machine struct {
	t   *testing.T
	dir string
	env map[string]string
}

// standIn is the program in the archives of these tests. It says which process
// it is, and what it was told.
const standIn = "#!/bin/sh\necho \"started $* as $$\"\n"

// newMachine lays out a runner: the action in "action", with a source that can
// be built; releases in "releases"; and in "bin" all programs there are, which
// are few.
func newMachine(t *testing.T) *machine {
	t.Helper()
	t.Parallel()
	m := &machine{t: t, dir: t.TempDir()}
	m.env = map[string]string{
		"PATH": m.path("bin"), "HOME": m.path("home"), "RUNNER_TEMP": m.path("temp"), "RUNNER_TOOL_CACHE": m.path("tools"),
		"REPRISE_RELEASES_URL": fileAddress(m.path("releases")), "REPRISE_ACTION_REPOSITORY": "acme/reprise",
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	testenv.Must(t, err)
	m.env["GOCACHE"] = strings.TrimSpace(string(cache)) // or the standard library is compiled again
	m.write("action/.github/action/start", testenv.Read(t, "../../.github/action/start"))
	m.write("home/.keep", "")
	m.write("action/go.mod", "module example.com/reprise\n")
	m.write("action/cmd/reprise/main.go", "package main\n\nfunc main() { println(\"started what was built\") }\n")
	for _, name := range strings.Fields("awk bash cat chmod cp curl cut dirname env find grep gzip mkdir mktemp mv rm sh sha256sum sleep sort tar tr uname xargs") {
		m.install(name)
	}
	return m
}

func (m *machine) path(name string) string { return filepath.Join(m.dir, filepath.FromSlash(name)) }

// fileAddress is the address of a file, whatever characters are in its name.
func fileAddress(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

func (m *machine) write(name, text string) {
	m.t.Helper()
	testenv.Must(m.t, os.MkdirAll(filepath.Dir(m.path(name)), 0o755))
	testenv.Must(m.t, os.WriteFile(m.path(name), []byte(text), 0o755))
}

// install puts a program of this machine onto the runner.
func (m *machine) install(name string) {
	m.t.Helper()
	program, err := exec.LookPath(name)
	if err == nil {
		err = os.MkdirAll(m.path("bin"), 0o755)
	}
	if err == nil {
		err = os.Symlink(program, m.path("bin/"+name))
	}
	testenv.Must(m.t, err)
}

func archiveName(version string) string {
	return "reprise_" + version + "_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
}

// release publishes a version and gives its checksums.
func (m *machine) release(version, program string) string {
	m.t.Helper()
	var archive bytes.Buffer
	z := gzip.NewWriter(&archive)
	w := tar.NewWriter(z)
	testenv.Must(m.t, w.WriteHeader(&tar.Header{Name: "reprise", Mode: 0o755, Size: int64(len(program))}))
	fmt.Fprint(w, program)
	w.Close()
	z.Close()
	name := archiveName(version)
	m.write("releases/"+version+"/"+name, archive.String())
	sums := fmt.Sprintf("# acme/reprise %s\n%x  %s\n", version, sha256.Sum256(archive.Bytes()), name)
	m.write("releases/"+version+"/checksums.txt", sums)
	return sums
}

// flip changes one byte in the middle of a file.
func (m *machine) flip(name string) {
	m.t.Helper()
	data := []byte(testenv.Read(m.t, m.path(name)))
	data[len(data)/2] ^= 1
	m.write(name, string(data))
}

func (m *machine) command() *exec.Cmd {
	c := exec.CommandContext(m.t.Context(), m.path("action/.github/action/start"), "action")
	for k, v := range m.env {
		c.Env = append(c.Env, k+"="+v)
	}
	return c
}

// start runs the script and gives what it said, and whether that went well.
func (m *machine) start() (string, bool) {
	m.t.Helper()
	out, err := m.command().CombinedOutput()
	return string(out), err == nil
}

// starts checks that the program was started.
func (m *machine) starts(want string) string {
	m.t.Helper()
	out, ok := m.start()
	if !ok || !strings.Contains(out, want) {
		m.t.Errorf("did not start, or does not say %q:\n%s", want, out)
	}
	return out
}

// refuses checks that nothing was run, and that people are told why.
func (m *machine) refuses(want string) {
	m.t.Helper()
	testenv.Must(m.t, os.RemoveAll(m.path("temp")))
	out, ok := m.start()
	if ok || strings.Contains(out, "started") || !strings.Contains(out, "::error") || !strings.Contains(out, want) {
		m.t.Errorf("was started, or does not say %q:\n%s", want, out)
	}
	if left, err := filepath.Glob(m.path("temp/*")); err != nil || len(left) > 0 {
		m.t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestStartReleased(t *testing.T) {
	m := newMachine(t)
	m.release("v1.2.3", standIn)
	m.env["REPRISE_ACTION_REF"] = "v1.2.3"
	m.starts("started action as ")

	// From now on without the place it came from, but for the checksums.
	testenv.Must(t, os.Remove(m.path("releases/v1.2.3/"+archiveName("v1.2.3"))))
	m.starts("started action as ")
	m.flip("tools/reprise/" + archiveName("v1.2.3"))
	m.refuses("is not what release v1.2.3 of acme/reprise is made of")
}

func TestStartRefusesOtherBytes(t *testing.T) {
	m := newMachine(t)
	m.release("v1.2.3", standIn)
	m.flip("releases/v1.2.3/" + archiveName("v1.2.3"))
	m.env["REPRISE_ACTION_REF"] = "v1.2.3"
	m.refuses("is not what release v1.2.3 of acme/reprise is made of")
	if _, err := os.Stat(m.path("tools/reprise")); err == nil {
		t.Error("kept for later jobs")
	}
}

// With checksums in the action itself, the commit that a workflow calls says
// which bytes are run, whoever can change the release.
func TestStartPinned(t *testing.T) {
	m := newMachine(t)
	m.write("action/.github/action/checksums.txt", m.release("v1.2.3", standIn))
	m.env["REPRISE_ACTION_REF"], m.env["REPRISE_ACTION_REPOSITORY"] = "v1", ""
	m.starts("started action as ")

	m = &machine{t: t, dir: m.dir, env: m.env}
	m.env["RUNNER_TOOL_CACHE"] = ""
	m.release("v1.2.3", standIn+"# changed later\n")
	m.refuses("is not what release v1.2.3 of acme/reprise is made of")
	testenv.Must(t, os.RemoveAll(m.path("releases/v1.2.3")))
	m.refuses("release v1.2.3 of acme/reprise has no " + archiveName("v1.2.3"))

	m.release("v1.3.0", standIn)
	m.env["INPUT_VERSION"] = "1.3.0"
	m.starts("started action as ")
}

func TestStartBuilds(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"branch":              {"REPRISE_ACTION_REF": "main"},
		"commit":              {"REPRISE_ACTION_REF": strings.Repeat("0123456789", 4)},
		"tag without release": {"REPRISE_ACTION_REF": "v9.9.9"},
		"in the repository":   {"REPRISE_ACTION_REPOSITORY": ""},
		"asked for":           {"REPRISE_ACTION_REF": "v1.2.3", "INPUT_VERSION": "source"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.release("v1.2.3", standIn)
			m.write("bin/go", quickGo)
			m.write("home/built", "#!/bin/sh\necho started what was built\n")
			for k, v := range env {
				m.env[k] = v
			}
			m.starts("started what was built")

			// A later job takes what is kept by this name, and nothing that lies there by itself.
			m.env["GITHUB_OUTPUT"] = m.path("output")
			m.write("temp/reprise-built/reprise", "#!/bin/sh\necho started another\n")
			c := m.command()
			c.Args[1] = "name"
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			m.starts("started what was built")
			m.write("temp/reprise-built/reprise", "#!/bin/sh\necho started what was kept\n")
			testenv.Must(t, os.Chmod(m.path("temp/reprise-built/reprise"), 0o644))
			m.starts("started what was kept")
			released := name == "tag without release" // that takes asking
			if said, err := os.ReadFile(m.path("output")); released != (err != nil) || !released && !regexp.MustCompile(`^name=reprise-built-\w+-\w+-[0-9a-f]{64}\n$`).Match(said) {
				t.Errorf("%v, it is kept as %q", err, said)
			}
		})
	}
	t.Run("without go", func(t *testing.T) {
		m := newMachine(t)
		m.refuses("Go is not here to build it")
	})
	t.Run("with go", func(t *testing.T) {
		m := newMachine(t)
		m.install("go")
		m.env["REPRISE_ACTION_REF"] = "main"
		m.starts("started what was built")
		m.write("action/cmd/reprise/main.go", "package main\n")
		m.refuses("cannot be built")
	})
}

// quickGo stands for go, which builds a part of the standard library anew for these
// flags: it builds in no time, if it is asked for the program from a folder with its source.
const quickGo = `#!/bin/sh
[ "$1 $2" = "build -C" ] && grep -q "package main" "$3/cmd/reprise/main.go" || exit 1
for last; do :; done
[ "$last" = ./cmd/reprise ] || exit 1
while [ "$1" != -o ]; do shift; done
cp "$HOME/built" "$2"
`

func TestStartVersionInput(t *testing.T) {
	for in, want := range map[string]string{
		"v9.9.9":             "there is no release v9.9.9 of acme/reprise",
		"v1":                 "give a full version such as v1.2.3",
		"../v1.2.3":          "give a full version such as v1.2.3",
		"v1.2.3\n::set-env ": "give a full version such as v1.2.3",
	} {
		t.Run(in, func(t *testing.T) {
			m := newMachine(t)
			m.install("go")
			m.release("v1.2.3", standIn)
			m.env["INPUT_VERSION"] = in
			m.refuses(want)
		})
	}
}

// TestStartAsks shows where the script looks on GitHub, with a curl that has
// the files of "web" and writes down what it is asked for.
func TestStartAsks(t *testing.T) {
	const curl = `#!/bin/sh
for last; do :; done
while [ "$1" != --output ]; do shift; done
echo "$last" >> "$HOME/asked"
[ -z "$BROKEN" ] || { printf "$BROKEN"; exit 0; }
file=$HOME/web/${last#https://}
if [ -f "$file" ]; then cp "$file" "$2"; printf 200; else printf 404; fi
`
	m := newMachine(t)
	m.release("v1.2.3", standIn)
	testenv.Must(t, os.Remove(m.path("bin/curl")))
	m.write("bin/curl", curl)
	for _, name := range []string{"checksums.txt", archiveName("v1.2.3")} {
		m.write("home/web/github.com/acme/reprise/releases/download/v1.2.3/"+name, testenv.Read(t, m.path("releases/v1.2.3/"+name)))
	}
	m.env["REPRISE_RELEASES_URL"], m.env["REPRISE_ACTION_REF"], m.env["GITHUB_SERVER_URL"] = "", "v1.2.3", "https://ghe.example.com"
	m.starts("started action as ")
	at := "/acme/reprise/releases/download/v1.2.3/"
	want := ""
	for _, name := range []string{"checksums.txt", archiveName("v1.2.3")} {
		want += "https://ghe.example.com" + at + name + "\nhttps://github.com" + at + name + "\n"
	}
	if got := testenv.Read(t, m.path("home/asked")); got != want {
		t.Errorf("asked for\n%swant\n%s", got, want)
	}
	m = &machine{t: t, dir: m.dir, env: m.env}
	m.env["BROKEN"] = "503"
	m.refuses("the server answers 503")
}

// TestStartAttestation shows that a release that vouches for itself needs
// GitHub's word, too, where there is a gh to ask.
func TestStartAttestation(t *testing.T) {
	const gh = "#!/bin/sh\n[ \"$2\" = --help ] && exit 0\necho \"$*\" >> \"$HOME/asked\"\n[ \"$GH_TOKEN\" = right ]\n"
	for _, tt := range []struct {
		token, want string
		ok          bool
	}{
		{"right", "started action as ", true},
		{"wrong", "has no valid attestation by acme/reprise for its release v1.2.3", false},
		{"", "attestation not checked", true},
	} {
		t.Run("token "+tt.token, func(t *testing.T) {
			m := newMachine(t)
			m.release("v1.2.3", standIn)
			// In place of the network: what is asked of GitHub is in the releases.
			curl, err := exec.LookPath("curl")
			testenv.Must(t, err)
			testenv.Must(t, os.Remove(m.path("bin/curl")))
			m.write("bin/curl", "#!/bin/bash\nurl=${!#}\nexec "+curl+" \"${@:1:$#-1}\" \""+fileAddress(m.path("releases"))+"${url#*/download}\"\n")
			m.write("bin/gh", gh)
			m.env["REPRISE_RELEASES_URL"], m.env["REPRISE_ACTION_REF"], m.env["INPUT_GITHUB_TOKEN"] = "", "v1.2.3", tt.token
			if !tt.ok {
				m.refuses(tt.want)
				return
			}
			m.starts(tt.want)
			if tt.token == "" {
				return
			}
			// The tag is part of it: an archive of an older release has an attestation, too.
			const identity = "--repo acme/reprise --cert-identity https://github.com/acme/reprise/.github/workflows/release.yml@refs/tags/v1.2.3"
			testenv.Has(t, "what gh was asked", testenv.Read(t, m.path("home/asked")), identity)
		})
	}
}

// TestStartSignals shows that the program takes the place of the script: what
// GitHub sends to a cancelled job's step reaches it.
func TestStartSignals(t *testing.T) {
	m := newMachine(t)
	m.release("v1.2.3", "#!/bin/bash\ntrap 'echo told to stop; exit 5' INT\necho \"started as $$\"\nfor i in {1..6000}; do sleep 0.1; done\n")
	m.env["REPRISE_ACTION_REF"] = "v1.2.3"
	c := m.command()
	out, err := c.StdoutPipe()
	testenv.Must(t, err)
	testenv.Must(t, c.Start())
	defer time.AfterFunc(5*time.Minute, func() { c.Process.Kill() }).Stop()
	var said []byte
	for chunk := make([]byte, 1024); !bytes.Contains(said, []byte("stop")); {
		n, err := out.Read(chunk)
		if said = append(said, chunk[:n]...); err != nil {
			break
		}
		if bytes.Contains(said, []byte("started as "+strconv.Itoa(c.Process.Pid)+"\n")) {
			testenv.Must(t, c.Process.Signal(syscall.SIGINT))
		}
	}
	err = c.Wait()
	if !strings.Contains(string(said), "told to stop") || c.ProcessState.ExitCode() != 5 {
		t.Errorf("%v, of process %d:\n%s", err, c.Process.Pid, said)
	}
}
