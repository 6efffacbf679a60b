package house_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNotices shows that a release carries a license of every module that is in
// the program, of Go itself, and of the rules of gitleaks.
func TestNotices(t *testing.T) {
	c := exec.Command(".github/action/notices", "linux/amd64")
	c.Dir = root
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, err.(*exec.ExitError).Stderr)
	}
	var got []string
	for _, section := range strings.Split("\n"+string(out), "\n=== ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		got = append(got, title)
		if !regexp.MustCompile(`(?i)license|copyright|permission is hereby granted`).MatchString(text) {
			t.Errorf("%s: this is no license:\n%.300s", title, text)
		}
	}
	want := append([]string{"Go, its standard library and runtime"}, modulesOf(t)...)
	want = append(want, "The rules of github.com/zricethezav/gitleaks/v8 v8.30.1")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
}

// modulesOf asks the toolchain for the modules that the program is made of on
// Linux.
func modulesOf(t *testing.T) []string {
	t.Helper()
	c := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/reprise")
	c.Dir = root
	c.Env = append(c.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(modules)
	return slices.Compact(modules)
}
