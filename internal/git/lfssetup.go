// Package lfs is how a user has set up Git LFS and how it is started to convert files, the
// pointers that are committed in place of the files that it keeps, and where those are.
package git

import (
	"cmp"
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Setup is how the user has set up Git LFS.
type lfsSetup struct {
	Program  string    // Path of git-lfs; "": it is not there, or not to be used
	Storage  string    // the user's folder of what Git LFS keeps
	Skips    bool      // the user has pointers left as they are
	Settings []setting // as they were when the Source was found
}

// Find looks for git-lfs, which works for the checkout dir. Of what the configuration names
// only whether it names something counts: what is run is git-lfs itself.
func findLFS(ctx context.Context, c configuration, env environ, dir, commonDir string) lfsSetup {
	found := lfsSetup{Storage: cmp.Or(c.Get("lfs.storage"), "lfs"), Skips: skipsContent(c, env), Settings: aboutLFS(c)}
	if !filepath.IsAbs(found.Storage) {
		found.Storage = filepath.Join(commonDir, found.Storage)
	}
	if c.Get("filter.lfs.process") == "" && c.Get("filter.lfs.clean") == "" {
		return found
	}
	if first := inPath("git-lfs", env); first != "" {
		found.Program = cmp.Or(behindShim(ctx, first, env, dir), first)
	}
	return found
}

func inPath(name string, env environ) string {
	for _, dir := range filepath.SplitList(env.Path()) {
		if program, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return program
		}
	}
	return ""
}

// behind gives the program that a shim of asdf or mise starts in dir, or "" for what is none.
// The shim itself would look for the version to start in the home of the user and in the
// checkout, of which a sandbox shows nothing.
func behindShim(ctx context.Context, shim string, env environ, dir string) string {
	folder := filepath.Dir(shim)
	if filepath.Base(folder) != "shims" {
		return ""
	}
	manager, err := filepath.EvalSymlinks(shim)
	if err != nil || filepath.Base(manager) != "mise" {
		manager = cmp.Or(inPath("asdf", env), filepath.Join(filepath.Dir(folder), "bin", "asdf"))
	}
	which := exec.CommandContext(ctx, manager, "which", "git-lfs")
	which.Dir, which.Env = dir, env
	out, _ := which.Output() // nothing where it knows of none
	program := strings.TrimSpace(string(out))
	if _, err := exec.LookPath(program); err != nil || !filepath.IsAbs(program) {
		return ""
	}
	return program
}

// First is an environment in which git finds this git-lfs before all others.
func (s lfsSetup) First(env environ) environ {
	if s.Program == "" || s.Program == inPath("git-lfs", env) {
		return env
	}
	return append(environ{"PATH=" + filepath.Dir(s.Program)}, env...)
}

// Works says whether it starts as the user starts it, outside of any sandbox.
func (s lfsSetup) Works(ctx context.Context, env environ, dir string) bool {
	version := exec.CommandContext(ctx, s.Program, "version")
	version.Dir, version.Env = dir, env
	return version.Run() == nil
}

// skipsContent says whether the user has pointers left as they are.
func skipsContent(c configuration, env environ) bool {
	skip := strings.Contains(c.Get("filter.lfs.process")+c.Get("filter.lfs.smudge"), "--skip")
	for _, pair := range env.Pick("GIT_LFS_SKIP_SMUDGE") {
		_, value, _ := strings.Cut(pair, "=")
		skip = skip || !slices.Contains([]string{"", "0", "false", "no", "off"}, strings.ToLower(value))
	}
	return skip
}

// aboutLFS are the settings of Git LFS in a configuration.
func aboutLFS(all configuration) []setting {
	var out []setting
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
func sharedLFS(key string) bool {
	return slices.Contains([]string{"lfs.url", "lfs.pushurl", "lfs.fetchinclude", "lfs.fetchexclude", "lfs.gitprotocol"}, key) ||
		strings.HasPrefix(key, "lfs.") && strings.HasSuffix(key, ".access") ||
		strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".lfsurl")
}
