// Package world makes what a test of the whole program finds in its folder: a repository
// with an origin, an issue, and an environment in which nothing of the machine's user
// counts. It also says whether what a run has left on a branch is true.
package world

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Make lays out what a test finds in its folder:
//
//	7.md          an issue
//	project       a repository
//	origin.git    its origin
//	bin           first in the PATH; its files are programs
//	home          HOME
//	runs          REPRISE_HOME, not there yet
//	tmp           TMPDIR
//
// Files that are there stay as they are. It returns the environment for it.
func Make(dir string) ([]string, error) {
	work := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	if err := lay(layout, dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(work("tmp"), 0o755); err != nil {
		return nil, err
	}
	programs, err := filepath.Glob(work("bin", "*"))
	if err != nil {
		return nil, err
	}
	for _, p := range programs {
		if err := os.Chmod(p, 0o755); err != nil {
			return nil, err
		}
	}
	vars := []string{
		"PATH=" + work("bin") + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + work("home"),
		"REPRISE_HOME=" + work("runs"), "GIT_CONFIG_GLOBAL=" + work("home", ".gitconfig"), "GIT_CONFIG_NOSYSTEM=1",
		"XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", // those of HOME
		"GOGC=off", "GOMEMLIMIT=256MiB", // processes that live for a moment need not tidy up
		"TMPDIR=" + work("tmp"), NoRaceWait, "NO_COLOR=1", "CI=", "GITHUB_ACTIONS=",
	}
	return vars, repository(append(os.Environ(), vars...), dir)
}

//go:embed all:testdata/layout
var files embed.FS

// layout is what Make lays out, but for the repository of project and its origin.
var layout = sub(files, "testdata/layout")

func sub(all fs.FS, name string) fs.FS {
	f, _ := fs.Sub(all, name) // fails only where the name is no path
	return f
}

// NoRaceWait is a variable for processes that tests start: the race detector would have each
// of them wait a second at its end.
const NoRaceWait = "GORACE=atexit_sleep_ms=0"

// models are repositories that were made before, to be copied: making one takes
// ten processes.
var models = &modelStore{made: map[string]func() (string, error){}}

// Models has models made in a folder, and gives what removes all of them. It is called before
// any test: a test may have a temporary folder of its own, which ends with it.
func Models(in string) (remove func()) {
	models.in = in
	return func() { _ = os.RemoveAll(models.dir) } // a temporary folder
}

// Model gives the folder in which fill has made something, which it does once for each key
// in a process.
func Model(key string, fill func(dir string) error) (string, error) { return models.model(key, fill) }

type modelStore struct {
	in   string // the folder below which dir is made
	mu   sync.Mutex
	dir  string // where they are; "" before the first
	made map[string]func() (string, error)
}

func (m *modelStore) model(key string, fill func(dir string) error) (string, error) {
	m.mu.Lock()
	if m.dir == "" {
		dir, err := os.MkdirTemp(m.in, "reprise-models-")
		if err != nil {
			m.mu.Unlock()
			return "", err
		}
		m.dir = dir
	}
	get, there := m.made[key]
	if !there {
		dir := filepath.Join(m.dir, fmt.Sprint(len(m.made)))
		get = sync.OnceValues(func() (string, error) { return dir, fill(dir) })
		m.made[key] = get
	}
	m.mu.Unlock()
	return get()
}

// repository makes the project a repository with one commit of all that is in it,
// and an origin of that.
func repository(env []string, dir string) error {
	project, key := filepath.Join(dir, "project"), sha256.New()
	err := WalkFiles(os.DirFS(project), func(name string, data []byte) error {
		fmt.Fprintf(key, "%q %q\n", name, data)
		return nil
	})
	if err != nil {
		return err
	}
	settings, err := os.ReadFile(filepath.Join(dir, "home", ".gitconfig"))
	if err != nil {
		return err
	}
	model, err := models.model(fmt.Sprintf("%x %q", key.Sum(nil), settings), func(model string) error {
		if err := lay(os.DirFS(project), filepath.Join(model, "project")); err != nil {
			return err
		}
		return modelRepository(env, filepath.Join(model, "project"), filepath.Join(model, "origin.git"))
	})
	if err != nil {
		return err
	}
	for _, name := range []string{"project/.git", "origin.git"} {
		if err := CopyModel(filepath.Join(model, name), filepath.Join(dir, name), model, dir); err != nil {
			return err
		}
	}
	return GitAll(env, []string{"-C", project, "update-index", "-q", "--refresh"}) // the files are others than those of the model
}

func modelRepository(env []string, dir, origin string) error {
	return GitAll(
		env,
		[]string{"init", "--quiet", dir},
		[]string{"-C", dir, "add", "--all"},
		[]string{"-C", dir, "commit", "--quiet", "--message=start"},
		// Without a process for each push, which here finds nothing to do.
		[]string{"clone", "--quiet", "--bare", "--config=receive.autogc=false", dir, origin},
		[]string{"-C", dir, "remote", "add", "origin", origin},
	)
}

// GitAll runs commands of git one after the other, up to the first that fails.
func GitAll(env []string, commands ...[]string) error {
	for _, args := range commands {
		c := exec.Command("git", args...)
		c.Env = env
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// CopyModel copies a repository of Model with the modes of its files. Its configuration then
// has one place where it had the other.
func CopyModel(from, to, place, other string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(name, from)
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if d.Type() == fs.ModeSymlink {
			leads, err := os.Readlink(name)
			if err != nil {
				return err
			}
			return os.Symlink(leads, target)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if d.Name() == "config" {
			data = bytes.ReplaceAll(data, []byte(place), []byte(other))
		}
		return os.WriteFile(target, data, info.Mode().Perm())
	})
}

// lay copies a folder, but for what is there already.
func lay(from fs.FS, to string) error {
	return WalkFiles(from, func(name string, data []byte) error {
		file := filepath.Join(to, filepath.FromSlash(name))
		if _, err := os.Lstat(file); err == nil {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, data, 0o644)
	})
}

// WalkFiles visits the regular files of a folder.
func WalkFiles(root fs.FS, visit func(name string, data []byte) error) error {
	return fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		return visit(name, data)
	})
}

// Hosted lets git reach the origin at git@github.com:acme/widget.git.
func Hosted(dir string) error {
	ssh := filepath.Join(dir, "ssh")
	script := fmt.Sprintf("#!/bin/sh\nfor last; do :; done\ncd '%s/hosted' && eval \"exec git ${last#git-}\"\n", dir)
	project := filepath.Join(dir, "project")
	wrong := []error{
		os.MkdirAll(filepath.Join(dir, "hosted", "acme"), 0o755),
		os.Symlink(filepath.Join(dir, "origin.git"), filepath.Join(dir, "hosted", "acme", "widget.git")),
		os.WriteFile(ssh, []byte(script), 0o755),
		exec.Command("git", "-C", project, "config", "core.sshCommand", fmt.Sprintf("%q", ssh)).Run(), // a shell reads it
		exec.Command("git", "-C", project, "remote", "set-url", "origin", "git@github.com:acme/widget.git").Run(),
	}
	return errors.Join(wrong...)
}
