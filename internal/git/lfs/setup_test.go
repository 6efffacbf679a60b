package lfs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/reprise-ci/reprise/internal/git/program"
)

// In the place of a shim stands what it starts, as its manager says from the checkout; where
// that does not say, the shim stays. What is none is asked nothing.
func TestShims(t *testing.T) {
	const which = "#!/bin/sh\n[ \"$1 $2\" = 'which git-lfs' ] && cat \"$PWD/version\"\n"
	for name, c := range map[string]struct {
		shim, manager string // where they are; shim is linked to it if that is mise
		at            string // where the program is, as the manager says
		want          string
	}{
		"asdf":              {"shims/git-lfs", "bin/asdf", "installs/git-lfs/3/bin/git-lfs", "installs/git-lfs/3/bin/git-lfs"},
		"asdf in PATH":      {"data/shims/git-lfs", "bin/asdf", "installs/git-lfs/3/bin/git-lfs", "installs/git-lfs/3/bin/git-lfs"},
		"mise":              {"share/shims/git-lfs", "other/mise", "installs/git-lfs/3/git-lfs", "installs/git-lfs/3/git-lfs"},
		"no version":        {"shims/git-lfs", "bin/asdf", "", "shims/git-lfs"},
		"what is not there": {"shims/git-lfs", "bin/asdf", "installs/git-lfs/4/bin/git-lfs", "shims/git-lfs"},
		"no manager":        {"shims/git-lfs", "other/asdf", "installs/git-lfs/3/bin/git-lfs", "shims/git-lfs"},
		"no shim":           {"programs/git-lfs", "bin/asdf", "installs/git-lfs/3/bin/git-lfs", "programs/git-lfs"},
	} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "a b")
			at := func(name string) string { return filepath.Join(root, name) }
			put(t, at("checkout/version"), "")
			if c.at != "" {
				put(t, at("checkout/version"), at(c.at)+"\n")
			}
			for _, name := range []string{"installs/git-lfs/3/bin/git-lfs", "installs/git-lfs/3/git-lfs", c.manager, c.shim} {
				put(t, at(name), which)
				if err := os.Chmod(at(name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if filepath.Base(c.manager) == "mise" {
				if err := errors.Join(os.Remove(at(c.shim)), os.Symlink(at(c.manager), at(c.shim))); err != nil {
					t.Fatal(err)
				}
			}
			env := program.Environ{"PATH=" + filepath.Dir(at(c.shim)) + ":" + at("bin") + ":/usr/bin:/bin"}
			found := Find(t.Context(), program.Config{{Key: "filter.lfs.process", Value: "x"}}, env, at("checkout"), at("checkout/.git"))
			if found.Program != at(c.want) {
				t.Errorf("git-lfs is %s, want %s", found.Program, at(c.want))
			}
			if first := inPath("git-lfs", found.First(env)); first != at(c.want) {
				t.Errorf("git finds %s, want %s", first, at(c.want))
			}
		})
	}
}
