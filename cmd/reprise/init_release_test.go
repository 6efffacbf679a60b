package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// describe publishes v1.2.3 for every platform, with what is written about it.
func (m *machine) describe() {
	m.t.Helper()
	m.release("v1.2.3", standIn)
	archive := testenv.Read(m.t, m.path("releases/v1.2.3/"+archiveName("v1.2.3")))
	for _, platform := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"} {
		m.write("releases/v1.2.3/reprise_v1.2.3_"+platform+".tar.gz", archive)
	}
	c := exec.Command("../../.github/action/describe", "v1.2.3", m.path("releases/v1.2.3"))
	c.Env = append(os.Environ(), "GITHUB_SERVER_URL=https://git.example.com", "GITHUB_REPOSITORY=acme/reprise")
	if out, err := c.CombinedOutput(); err != nil {
		m.t.Fatalf("%v\n%s", err, out)
	}
}

// installs runs the script that installs, as from a pipe, and gives what it said.
func (m *machine) installs(script string) (string, bool) {
	c := exec.CommandContext(m.t.Context(), m.path("bin/sh"))
	for k, v := range m.env {
		c.Env = append(c.Env, k+"="+v)
	}
	c.Stdin = strings.NewReader(script)
	out, err := c.CombinedOutput()
	return string(out), err == nil
}

// The script of a release installs the program for one user, and nothing that is
// not the release.
func TestInstallScript(t *testing.T) {
	m := newMachine(t)
	m.describe()
	script := testenv.Read(t, m.path("releases/v1.2.3/install.sh"))
	testenv.Lacks(t, "the script", script, "@")
	out, ok := m.installs(script)
	if !ok || !strings.Contains(out, "is not in your PATH") {
		t.Errorf("it is not installed, or nothing is said of PATH:\n%s", out)
	}
	said, err := exec.Command(m.path("home/.local/bin/reprise"), "hello").Output()
	if err != nil || !strings.HasPrefix(string(said), "started hello") {
		t.Errorf("the program says %q, %v", said, err)
	}

	m.env["REPRISE_PREFIX"] = m.path("another place")
	for name, script := range map[string]string{
		"cut off":     script[:strings.LastIndex(script, "\ninstall")],
		"other bytes": script,
	} {
		if name == "other bytes" {
			m.flip("releases/v1.2.3/" + archiveName("v1.2.3"))
		}
		out, ok := m.installs(script)
		if name == "other bytes" && (ok || !strings.Contains(out, "is not what v1.2.3 is made of")) {
			t.Errorf("%s: went on:\n%s", name, out)
		}
		if _, err := os.Stat(m.path("another place")); err == nil {
			t.Errorf("%s: something was installed", name)
		}
	}
}

// Checksums and formula are of the archives.
func TestReleaseDescribed(t *testing.T) {
	m := newMachine(t)
	m.describe()
	check := exec.Command("sha256sum", "--check", "--strict", "checksums.txt")
	check.Dir = m.path("releases/v1.2.3")
	if out, err := check.CombinedOutput(); err != nil || strings.Count(string(out), ": OK") != 6 {
		t.Errorf("checksums: %v\n%s", err, out)
	}
	formula, sums := testenv.Read(t, m.path("releases/v1.2.3/reprise.rb")), testenv.Read(t, m.path("releases/v1.2.3/checksums.txt"))
	for line := range strings.Lines(sums) {
		sum, archive, is := strings.Cut(strings.TrimSpace(line), "  reprise_")
		if is && !strings.Contains(formula, "/v1.2.3/reprise_"+archive+"\"\n      sha256 \""+sum+"\"") {
			t.Errorf("the formula does not have %s of %s", sum, archive)
		}
	}
	testenv.Has(t, "the formula", formula, `version "1.2.3"`, `url "https://git.example.com/acme/reprise/releases/download/v1.2.3/reprise_v1.2.3_darwin_arm64.tar.gz"`)
	testenv.Lacks(t, "the formula", formula, "@")
}

// The SBOM of a release names every module that is in its program.
func TestSBOM(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	testenv.Must(t, err)
	c := exec.Command("../../.github/action/sbom", self, "v1.2.3")
	c.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1767225600")
	out, err := c.Output()
	testenv.Must(t, err)
	var sbom struct {
		SPDXVersion  string
		CreationInfo struct{ Created string }
		Packages     []struct{ SPDXID, Name, VersionInfo string }
		Relations    []struct{ SPDXElementID, RelationshipType, RelatedSPDXElement string } `json:"relationships"`
	}
	if err := json.Unmarshal(out, &sbom); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("this test does not know what it is made of")
	}
	want := []string{"reprise v1.2.3", "go " + info.GoVersion}
	for _, module := range info.Deps {
		want = append(want, module.Path+" "+module.Version)
	}
	var got, ids, related []string
	for _, p := range sbom.Packages {
		got, ids = append(got, p.Name+" "+p.VersionInfo), append(ids, p.SPDXID)
	}
	testenv.Same(t, "packages", want, got)
	for _, r := range sbom.Relations {
		related = append(related, r.RelatedSPDXElement)
	}
	slices.Sort(ids)
	slices.Sort(related)
	if diff := cmp.Diff(ids, related); diff != "" {
		t.Errorf("what is related (-packages +relationships):\n%s", diff)
	}
	if sbom.SPDXVersion != "SPDX-2.3" || sbom.CreationInfo.Created != "2026-01-01T00:00:00Z" {
		t.Errorf("it is %q of %q", sbom.SPDXVersion, sbom.CreationInfo.Created)
	}
}
