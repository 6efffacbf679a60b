//go:build slow

package git

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// plants are what an agent may leave behind. Each works on a run whose tree has
// a submodule "sub", a folder "dir" and a fresh .git.
var plants = map[string]func(t *testing.T, p trap, r *Repo){
	".git of the tree": func(t *testing.T, p trap, r *Repo) {
		dir := r.Tree() + "/.git"
		write(t, dir+"/config", p.config(t, "own"))
		write(t, dir+"/info/attributes", evilAttributes)
		p.hooks(t, dir+"/hooks")
		write(t, r.Tree()+"/.gitattributes", evilAttributes)
		write(t, r.Tree()+"/.gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ext::"+p.program(t, "gitmodules/url")+"\n\tupdate = !"+p.program(t, "gitmodules/update")+"\n")
		write(t, r.Tree()+"/x.bin", "x")
	},
	".git is a file": func(t *testing.T, p trap, r *Repo) {
		elsewhere := filepath.Join(p.dir, "elsewhere")
		p.repository(t, elsewhere, "gitfile")
		must(t, os.RemoveAll(r.Tree()+"/.git"))
		write(t, r.Tree()+"/.git", "gitdir: "+elsewhere+"\n")
		write(t, r.Tree()+"/.gitattributes", evilAttributes)
	},
	".git is a link": func(t *testing.T, p trap, r *Repo) {
		elsewhere := filepath.Join(p.dir, "elsewhere")
		p.repository(t, elsewhere, "gitlink")
		must(t, os.RemoveAll(r.Tree()+"/.git"))
		must(t, os.Symlink(elsewhere, r.Tree()+"/.git"))
	},
	"repositories in the tree": func(t *testing.T, p trap, r *Repo) {
		p.repository(t, r.Tree()+"/nested/.git", "nested")
		write(t, r.Tree()+"/nested/file", "x")
		p.repository(t, r.Tree()+"/dir/.git", "dir")
		write(t, r.Tree()+"/dir/one.txt", "changed")
		p.repository(t, r.Tree()+"/sub/.git", "sub")
		write(t, r.Tree()+"/sub/file", "x")
		p.repository(t, r.Tree()+"/"+state+"/deep/.git", "state")
		p.repository(t, r.Tree()+"/barerepo", "barerepo")
	},
	"the tree is a bare repository": func(t *testing.T, p trap, r *Repo) {
		must(t, os.RemoveAll(r.Tree()+"/.git"))
		p.repository(t, r.Tree(), "bare")
		write(t, r.Tree()+"/commondir", filepath.Join(p.dir, "elsewhere")+"\n")
		p.repository(t, filepath.Join(p.dir, "elsewhere"), "commondir")
	},
	// What follows takes an agent that is not contained.
	"the run's own git directory": func(t *testing.T, p trap, r *Repo) {
		p.repository(t, filepath.Join(p.dir, "elsewhere"), "commondir")
		write(t, r.home("config"), p.config(t, "home")+"[extensions]\n\tpartialClone = origin\n")
		write(t, r.home("config.worktree"), p.config(t, "worktreeconfig"))
		write(t, r.home("commondir"), filepath.Join(p.dir, "elsewhere")+"\n")
		p.hooks(t, r.home("hooks"))
		write(t, r.Tree()+"/.gitattributes", evilAttributes)
		write(t, r.Tree()+"/x.bin", "x")
	},
	"the user's git directory": func(t *testing.T, p trap, r *Repo) {
		write(t, r.src.CommonDir+"/config", p.config(t, "user")+"[extensions]\n\tpartialClone = origin\n")
		write(t, r.src.CommonDir+"/info/attributes", evilAttributes)
		p.hooks(t, r.src.CommonDir+"/hooks")
		write(t, r.Tree()+"/.gitattributes", evilAttributes)
	},
	usersOwn: func(t *testing.T, p trap, r *Repo) {
		write(t, os.Getenv("GIT_CONFIG_GLOBAL"), p.config(t, "global"))
		write(t, filepath.Join(os.Getenv("HOME"), ".config/git/attributes"), evilAttributes)
		write(t, r.Tree()+"/.gitattributes", evilAttributes)
	},
}

// everything calls all that the engine can call, with changes to work on.
func everything(t *testing.T, r *Repo, base string) {
	t.Helper()
	ctx := t.Context()
	write(t, r.Tree()+"/a.txt", "changed")
	write(t, r.Tree()+"/dir/two.txt", "changed")
	write(t, r.Tree()+"/new.txt", "new")
	changes, err := r.Changes(ctx)
	must(t, err)
	var paths, rest []string
	for _, c := range changes {
		if c.Type == Repository || c.Type == Other || checkPath(c.Path) != nil {
			rest = append(rest, c.Path)
		} else {
			paths = append(paths, c.Path)
		}
	}
	_, err = r.Patch(ctx, 1<<20)
	must(t, err)
	must(t, r.Restore(ctx, rest...))
	stage, err := r.Stage(ctx, paths)
	must(t, err)
	must(t, r.EachStaged(ctx, stage, func(Staged) error { return nil }))
	_, _, err = r.Diff(ctx, base, stage)
	must(t, err)
	id := commitStage(t, r, "{planted}", stage)
	write(t, r.Tree()+"/a.txt", "changed again")
	must(t, r.Restore(ctx, "a.txt"))
	restored, err := r.RestoreTree(ctx, base, state)
	must(t, err)
	commitStage(t, r, "{restored}", restored)
	write(t, r.Tree()+"/a.txt", "changed once more")
	must(t, r.Restore(ctx))
	clean(t, r)
	_, err = r.Log(ctx, base)
	must(t, err)
	_, err = r.ReadFile(ctx, id, "a.txt")
	must(t, err)
	_, err = r.src.ReadFile(ctx, branch, "a.txt")
	must(t, err)
	_, err = r.src.Refs(ctx, "refs/heads/reprise")
	must(t, err)
}

// pushElsewhere pushes to the run's branch with a configuration of its own.
func pushElsewhere(t *testing.T, dir string) {
	t.Helper()
	poisoned := os.Getenv("GIT_CONFIG_GLOBAL")
	write(t, poisoned+".good", "[user]\n\tname = Bob\n\temail = bob@example.com\n")
	os.Setenv("GIT_CONFIG_GLOBAL", poisoned+".good")
	defer os.Setenv("GIT_CONFIG_GLOBAL", poisoned)
	pushFile(t, dir, "theirs.txt", "theirs")
}

func TestAgentCannotRunCodeInEngine(t *testing.T) {
	for name, plant := range plants {
		t.Run(name, func(t *testing.T) {
			if name == usersOwn {
				home := realTemp(t)
				t.Setenv("HOME", home)
				write(t, home+"/.gitconfig", read(t, os.Getenv("GIT_CONFIG_GLOBAL")))
				t.Setenv("GIT_CONFIG_GLOBAL", home+"/.gitconfig")
			} else {
				t.Parallel()
			}
			user := oddTree(t)
			bare := withRemote(t, user)
			r := openRun(t, user, pushing)
			base := commit(t, r, "{1}")
			must(t, r.buildScratch("tree", r.home("index"), r.tip))
			theirs := other(t, bare)
			p := newTrap(t)
			plant(t, p, r)

			everything(t, r, base)
			if got := p.sprung(t); got != nil {
				t.Errorf("the engine ran %q", got)
			}
			// Somebody else pushes, so that the trees have to be joined.
			if name == usersOwn {
				pushElsewhere(t, theirs)
			} else {
				pushFile(t, theirs, "theirs.txt", "theirs")
			}
			commit(t, r, "{joined}")
			plant(t, p, r)
			// A new process finds it all, and the user's configuration too.
			write(t, r.Tree()+"/a.txt", "left over")
			source := r.src
			r.Close()
			o := r.opt
			o.Source = source
			r, err := Open(t.Context(), o)
			must(t, err)
			defer r.Close()
			must(t, r.buildScratch("tree", r.home("index"), r.tip))
			_, _ = Find(t.Context(), user) // may refuse a configuration like this
			if got := p.sprung(t); got != nil {
				t.Errorf("the engine ran %q", got)
			}
		})
	}
}

// The traps work: git as people run it springs them.
func TestTrapsAreLive(t *testing.T) {
	t.Parallel()
	live := map[string]bool{}
	for _, name := range []string{".git of the tree", ".git is a file", ".git is a link", "repositories in the tree", "the tree is a bare repository"} {
		user := oddTree(t)
		r := openRun(t, user)
		commit(t, r, "{1}")
		must(t, r.buildScratch("tree", r.home("index"), r.tip))
		p := newTrap(t)
		plants[name](t, p, r)
		write(t, r.Tree()+"/dir/one.txt", "changed")
		write(t, r.Tree()+"/a.txt", "changed")
		for _, args := range [][]string{
			{"status"},
			{"diff"},
			{"diff", "--no-ext-diff"},
			{"add", "a.txt"},
			{"add", "-A"},
			{"commit", "-m", "x"},
			{"commit", "--no-verify", "--no-gpg-sign", "-m", "x"},
			{"push", "origin", "HEAD"},
			{"fetch", "origin"},
			{"checkout", "-f", "HEAD"},
			{"ls-files"},
			{"fast-import"},
			{"-C", "dir", "status"},
			{"-C", "nested", "status"},
			{"-C", "sub", "status"},
			{"-C", "barerepo", "branch", "x"},
		} {
			call := call{Dir: r.Tree(), Env: append(os.Environ(), "GIT_TERMINAL_PROMPT=0"), Args: args}
			_ = plain(t, call)
		}
		for _, s := range p.sprung(t) {
			live[s] = true
		}
	}
	t.Logf("%d traps work: %v", len(live), live)
	if len(live) < 30 {
		t.Errorf("only %d traps work: %v", len(live), live)
	}
}

// Whatever modes a program leaves behind, its work is taken back and the run
// goes on: in this process, in the next call, and in the next process.
func TestLockedFolders(t *testing.T) {
	testenv.Ordinary(t, func(t *testing.T) {
		for name, closer := range closers {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r, user := openedRun(t)
				closer := func(t *testing.T, tree string) {
					folders.Unlock(r.root, "tree") // what is ignored may be closed as before
					closer(t, tree)
				}
				closer(t, r.Tree())
				must(t, r.Restore(t.Context()))
				clean(t, r)

				closer(t, r.Tree())
				_, err := r.Patch(t.Context(), 1<<20)
				must(t, err)
				prepare(t, r, Guard{Instruct: instructs})
				must(t, r.Restore(t.Context()))
				clean(t, r)
				if _, err := os.Lstat(r.Tree() + "/ignored/deep/CLAUDE.md"); err == nil {
					t.Error("an instruction in a closed folder is still there")
				}

				closer(t, r.Tree())
				must(t, r.Close())
				r = openRun(t, user)
				clean(t, r)
				commit(t, r, "{2}")
				clean(t, r)
				if got := read(t, r.Tree()+"/gone/two.txt") + read(t, r.Tree()+"/"+record); got != "2\n{2}" {
					t.Errorf("the tree reads %q", got)
				}
			})
		}
	})
}

var hookNames = []string{
	"applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit", "post-index-change",
	"post-merge", "post-receive", "post-rewrite", "post-update", "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push",
	"pre-rebase", "pre-receive", "prepare-commit-msg", "proc-receive", "push-to-checkout", "reference-transaction", "sendemail-validate", "update",
}

// hooks fills a folder with every hook git knows.
func (p trap) hooks(t testing.TB, dir string) {
	t.Helper()
	for _, name := range hookNames {
		file := filepath.Join(dir, name)
		write(t, file, fmt.Sprintf("#!/bin/sh\nexec %s\n", p.program(t, filepath.Base(filepath.Dir(dir))+"/hooks/"+name)))
		must(t, os.Chmod(file, 0o755))
	}
}

// config returns a configuration that names a program wherever git lets one.
func (p trap) config(t testing.TB, where string) string {
	t.Helper()
	run := func(key string) string { return p.program(t, where+"/"+key) }
	hooks := filepath.Join(p.dir, where+"-hookspath", "hooks")
	p.hooks(t, hooks)
	write(t, filepath.Join(p.dir, where+"-included"), "[core]\n\tfsmonitor = "+run("include")+"\n")
	return fmt.Sprintf(`[core]
	repositoryformatversion = 0
	bare = false
	fsmonitor = %s
	hooksPath = %s
	sshCommand = %s
	gitProxy = %s
	askPass = %s
	pager = %s
	editor = %s
	alternateRefsCommand = %s
	attributesFile = %s
[sequence]
	editor = %[7]s
[gpg]
	program = %[10]s
[commit]
	gpgSign = true
[push]
	gpgSign = if-asked
	recurseSubmodules = on-demand
[fetch]
	recurseSubmodules = true
[submodule]
	recurse = true
[submodule "sub"]
	update = "!%[11]s"
	url = "ext::%[12]s"
[diff]
	external = %[13]s
	ignoreSubmodules = none
[diff "evil"]
	command = %[14]s
	textconv = %[15]s
[merge "evil"]
	driver = %[16]s
[filter "evil"]
	clean = %[17]s
	smudge = %[18]s
	required = true
[filter "lfs"]
	process = %[19]s
[alias]
	ls-files = "!%[20]s"
	fast-import = "!%[20]s"
	update-index = "!%[20]s"
	read-tree = "!%[20]s"
	status = "!%[20]s"
[interactive]
	diffFilter = %[21]s
[credential]
	helper = "!%[22]s"
[uploadpack]
	packObjectsHook = %[23]s
[url "ext::%[24]s "]
	insteadOf = /
	pushInsteadOf = /
[remote "origin"]
	url = "ext::%[25]s"
	fetch = +refs/heads/*:refs/remotes/origin/*
	receivepack = %[26]s
	uploadpack = %[27]s
	vcs = ext
[protocol "ext"]
	allow = always
[trailer "Reprise-Issue"]
	command = %[28]s
	cmd = %[28]s
[gc]
	auto = 1
	recentObjectsHook = %[29]s
[log]
	showSignature = true
[include]
	path = %[30]s
[includeIf "gitdir:/**"]
	path = %[30]s
`, run("fsmonitor"), hooks, run("sshCommand"), run("gitProxy"), run("askPass"), run("pager"), run("editor"), run("alternateRefs"),
		filepath.Join(p.dir, where+"-attributes"), run("gpg"), run("submodule"), run("submoduleURL"), run("diffExternal"), run("diffCommand"),
		run("textconv"), run("mergeDriver"), run("clean"), run("smudge"), run("process"), run("alias"), run("diffFilter"), run("credential"),
		run("packObjects"), run("insteadOf"), run("remoteURL"), run("receivepack"), run("uploadpack"), run("trailer"), run("recentObjects"),
		filepath.Join(p.dir, where+"-included"))
}

const evilAttributes = "* filter=evil diff=evil merge=evil\n*.bin filter=lfs\n"

// repository fills a folder with a repository that is a trap.
func (p trap) repository(t testing.TB, dir, where string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Join(dir, "objects"), 0o755))
	must(t, os.MkdirAll(filepath.Join(dir, "refs", "heads"), 0o755))
	write(t, filepath.Join(dir, "HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(dir, "config"), p.config(t, where))
	write(t, filepath.Join(dir, "info", "attributes"), evilAttributes)
	p.hooks(t, filepath.Join(dir, "hooks"))
}

const usersOwn = "the user's own configuration"

// closers are what a program may leave behind that keeps an ordinary user from
// looking at the work tree or from writing there.
var closers = map[string]func(t *testing.T, tree string){
	"folders": func(t *testing.T, tree string) {
		write(t, tree+"/cache/mod/file", "x")
		must(t, os.Remove(tree+"/gone/one.txt"))
		nestedReadOnly(t, tree)
		write(t, tree+"/.git.new/x/file", "x")
		write(t, tree+"/.git/x/file", "x")
		write(t, tree+"/ignored/deep/CLAUDE.md", "x")
		write(t, tree+"/ignored/\xff/deep/file", "x") // a name that is not UTF-8
		write(t, tree+"/new.txt", "x")
		chmod(t, 0, tree+"/new.txt", tree+"/a.txt", tree+"/"+record)
		chmod(t, 0, tree+"/"+state, tree+"/.reprise", tree+"/closed", tree+"/.git.new/x", tree+"/.git.new", tree+"/.git/x", tree+"/.git",
			tree+"/ignored/deep", tree+"/ignored")
		chmod(t, 0o555, tree+"/cache/mod", tree+"/cache", tree+"/gone")
		chmod(t, 0o666, tree+"/no-entry")
		chmod(t, 0o333, tree+"/no-look")
	},
	"the top, and the record a folder": func(t *testing.T, tree string) {
		must(t, os.RemoveAll(tree+"/"+record))
		write(t, tree+"/"+record+"/file", "x")
		chmod(t, 0, tree+"/"+record, tree)
	},
	"the top read-only, and the record an empty folder": func(t *testing.T, tree string) {
		must(t, os.RemoveAll(tree+"/"+record))
		must(t, os.Mkdir(tree+"/"+record, 0))
		chmod(t, 0o555, tree)
	},
}

func nestedReadOnly(t *testing.T, tree string) {
	t.Helper()
	sh(t, tree, "init", "-q", "nested")
	write(t, tree+"/nested/file", "x")
	must(t, filepath.WalkDir(tree+"/nested", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			err = os.Chmod(name, 0o400)
		}
		return err
	}))
	chmod(t, 0o500, tree+"/nested/.git/refs", tree+"/nested/.git/objects", tree+"/nested/.git", tree+"/nested")
}

// plain runs git without any of the settings that make it safe.
func plain(t testing.TB, c call) error {
	t.Helper()
	cmd := exec.Command("git", c.Args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	return cmd.Run()
}
