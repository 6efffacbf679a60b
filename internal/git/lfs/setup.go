// Package lfs is how a user has set up Git LFS and how it is started to convert files, the
// pointers that are committed in place of the files that it keeps, and where those are.
package lfs

import (
	"cmp"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/git/program"
)

// Setup is how the user has set up Git LFS.
type Setup struct {
	Program  string            // Path of git-lfs; "": it is not there, or not to be used
	Storage  string            // the user's folder of what Git LFS keeps
	Skips    bool              // the user has pointers left as they are
	Settings []program.Setting // as they were when the Source was found
}

// Find looks for git-lfs. Of what the configuration names only whether it
// names something counts: what is run is git-lfs itself.
func Find(c program.Config, env program.Environ, commonDir string) Setup {
	found := Setup{Storage: cmp.Or(c.Get("lfs.storage"), "lfs"), Skips: skipsContent(c, env), Settings: aboutLFS(c)}
	if !filepath.IsAbs(found.Storage) {
		found.Storage = filepath.Join(commonDir, found.Storage)
	}
	if c.Get("filter.lfs.process") == "" && c.Get("filter.lfs.clean") == "" {
		return found
	}
	for _, dir := range filepath.SplitList(env.Path()) {
		if program, err := exec.LookPath(filepath.Join(dir, "git-lfs")); err == nil {
			found.Program = program
			return found
		}
	}
	return found
}

// skipsContent says whether the user has pointers left as they are.
func skipsContent(c program.Config, env program.Environ) bool {
	skip := strings.Contains(c.Get("filter.lfs.process")+c.Get("filter.lfs.smudge"), "--skip")
	for _, pair := range env.Pick("GIT_LFS_SKIP_SMUDGE") {
		_, value, _ := strings.Cut(pair, "=")
		skip = skip || !slices.Contains([]string{"", "0", "false", "no", "off"}, strings.ToLower(value))
	}
	return skip
}

// aboutLFS are the settings of Git LFS in a configuration.
func aboutLFS(all program.Config) []program.Setting {
	var out []program.Setting
	for _, c := range all {
		if strings.HasPrefix(c.Key, "lfs.") && c.Key != "lfs.storage" ||
			strings.HasPrefix(c.Key, "remote.") && (strings.HasSuffix(c.Key, ".lfsurl") || strings.HasSuffix(c.Key, ".lfspushurl")) {
			out = append(out, c)
		}
	}
	return out
}

// Shared are the settings that git-lfs takes from .lfsconfig, which is a file of
// the repository. None of them names a program.
func Shared(key string) bool {
	return slices.Contains([]string{"lfs.url", "lfs.pushurl", "lfs.fetchinclude", "lfs.fetchexclude", "lfs.gitprotocol"}, key) ||
		strings.HasPrefix(key, "lfs.") && strings.HasSuffix(key, ".access") ||
		strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".lfsurl")
}
