package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// What a program may do depends on its access level and on nothing else. Most
// of these attempts work for everybody outside of the sandbox.
func TestSandbox(t *testing.T) {
	always := []string{"git-log", "own-home", "own-temp", "null", "read-system", "read-tree", "signal-own"}
	for access, more := range map[pipelines.Access][]string{
		pipelines.AccessNone:      {},
		pipelines.AccessRead:      {},
		pipelines.AccessRun:       {"artifact", "rename", "tree", "tree-git"}, // of the copy that it is given
		pipelines.AccessArtifacts: {"artifact"},
		pipelines.AccessTree:      {"artifact", "rename", "tree", "tree-git"},
	} {
		each := func(t *testing.T, own bool) {
			t.Parallel()
			c := newCell(t)
			c.access = access
			if c.box.together.namespaced = c.box.together.namespaced && own; c.box.together.namespaced != own {
				t.Logf("calls have no namespaces here: %s", c.box.together.why)
			}
			reprise := os.Getpid()
			c.write(c.artifact, "# Plan\n")
			c.write(filepath.Join(c.dir, "a", "file"), "")
			c.write(filepath.Join(c.dir, "b", "file"), "")
			commands := map[string]string{
				"git-log": "git log", "own-home": "echo > ~/x", "own-temp": "echo > $TMPDIR/x", "null": "echo > /dev/null",
				"read-system": "cat /etc/passwd", "read-tree": "cat main.go", "signal-own": "sleep 9 & kill $!",
				"artifact": "echo >> $artifact", "tree": "echo > new.txt", "rename": "mv a/file b/moved", "tree-git": "echo > .git/x",
				"write-repo": "echo > $repo/x", "append-repo": "echo >> $repo/main.go", "cut-repo": "truncate -s 0 $repo/main.go",
				"remove-repo": "rm $repo/main.go", "objects": "echo > $repo/.git/objects/x", "link": "ln $repo/main.go here",
				"write-home": "echo >> $user/.profile", "write-root": "echo > $root/x", "write-git": "echo >> $root/git/config",
				"write-lock": "echo >> $root/lock", "other-home": "mkdir $root/homes/x", "write-temp": "echo > $temp/x", "new-temp": "echo > /tmp/reprise-escaped-" + filepath.Base(c.dir),
				"read-home": "cat $user/.ssh/id_ed25519", "list-home": "ls $user", "link-home": "ln -s $user/.ssh $TMPDIR/s && cat $TMPDIR/s/id_ed25519",
				"read-netrc": "cat $user/.netrc", "read-aws": "cat $user/.aws/credentials", "read-gh": "cat $user/.config/gh/hosts.yml",
				"read-docker": "cat $user/.docker/config.json", "read-git-login": "cat $user/.git-credentials", "read-gitconfig": "cat $user/.gitconfig",
				"read-state": "cat $user/.claude.json", "read-repo-config": "cat $repo/.git/config", "read-temp": "cat $temp/token", "list-temp": "ls /tmp",
				"push": "git push $bare HEAD:main", "push-back": "git push $repo HEAD:other",
				"signal": fmt.Sprintf("kill -0 %d", reprise), "trace-it": fmt.Sprintf("cat /proc/%d/environ", reprise), "memory-of-it": fmt.Sprintf("head -c 1 /proc/%d/mem", reprise),
				// With namespaces this is their first process.
				"trace": "cat /proc/$PPID/environ", "descriptors": "readlink /proc/$PPID/fd/0", "around": "cat /proc/$PPID/root$temp/token",
				"memory": "head -c 1 /proc/$PPID/mem", "device": "mknod $TMPDIR/disk b 1 0", "terminals": "ls /dev/pts", "kernel": "echo x > /proc/sys/kernel/domainname",
			}
			want := slices.Concat(more, always)
			if c.box.held().Landlock < 6 && !c.box.together.namespaced { // nothing else keeps signals back
				want = append(want, "signal")
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, c.attempts(commands)); diff != "" {
				t.Errorf("what worked (-want +got):\n%s", diff)
			}
			if c.git(c.bare, "for-each-ref") != "" || c.read(filepath.Join(c.repo, "main.go")) != "package main\n" {
				t.Error("origin or the user's checkout has changed")
			}
		}
		t.Run(string(access), func(t *testing.T) { each(t, true) })
		t.Run(string(access)+" without namespaces", func(t *testing.T) { each(t, false) })
	}
}

// In a home that is kept, sessions and caches are found again, and nothing that
// tells the program or its tools what to do. Locked folders do not keep it.
func TestKeptHome(t *testing.T) {
	c := newCell(t)
	own := filepath.Join(c.root, "homes", "claude-tree")
	kept := []string{".claude/projects/-tree/0a1b.jsonl", ".cache/x/y", ".npm/_cacache/z"}
	for _, name := range append(kept, ".claude/projects/-tree/memory/MEMORY.md", ".claude/skills/x/SKILL.md", ".claude/shell-snapshots/s.sh", ".claude.json", ".npmrc", ".bashrc") {
		c.write(filepath.Join(own, name), "x")
	}
	for _, dir := range []string{".claude/projects/-tree", ".claude/skills"} {
		testenv.Must(t, os.Chmod(filepath.Join(own, dir), 0o500))
	}
	testenv.Must(t, os.Symlink(c.temp, filepath.Join(own, ".cargo")))
	h, leave, err := c.box.home(t.Context(), Home{Program: "claude", Keep: []string{".claude/projects/*/*.jsonl"}}, pipelines.AccessTree)
	testenv.Must(t, err)
	h.close()
	leave(false)
	var left []string
	err = filepath.WalkDir(own, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(own, name) // it lies below
			left = append(left, rel)
		}
		return err
	})
	slices.Sort(kept)
	if diff := cmp.Diff(kept, left); err != nil || diff != "" {
		t.Errorf("error %v, what is left (-want +got):\n%s", err, diff)
	}
}

// homeOf is the home of a program. A setup has that of checks.
func homeOf(program string) Home {
	if program == "setup" {
		return Home{Program: "check", Clean: true}
	}
	return Home{Program: program}
}

// What a setup leaves in its home is there for checks, with the caches for those who may run commands, as it was: nothing
// that others do to theirs gets into it or into the judgment of another, and no link leads it elsewhere.
func TestCleanHome(t *testing.T) {
	c := newCell(t)
	homes := filepath.Join(c.root, "homes")
	use := func(program string, access pipelines.Access, work func(home string)) {
		t.Helper()
		call := Call{Home: c.root, Access: access, Dir: c.dir}
		leave, err := c.box.MoveIn(t.Context(), &call, homeOf(program))
		testenv.Must(t, err)
		work(call.Home)
		leave(false)
	}
	const module, settings = "go/pkg/mod/m/a.go", ".config/tool/settings"
	finds := func(want, set string) func(string) {
		return func(home string) {
			t.Helper()
			data, _ := os.ReadFile(filepath.Join(home, module))
			told, _ := os.ReadFile(filepath.Join(home, settings))
			if string(data) != want || string(told) != set {
				t.Errorf("%s has %q and %q, want %q and %q", filepath.Base(home), data, told, want, set)
			}
		}
	}
	taint := func(home string) {
		for _, name := range []string{module, settings, ".bashrc", ".cache/x", "go/pkg/mod/m/b.go"} {
			c.write(filepath.Join(home, name), "tainted")
		}
		dir, times := filepath.Join(home, "go/pkg/mod/m"), time.Unix(1, 0)
		testenv.Must(t, errors.Join(os.Chtimes(filepath.Join(home, module), times, times), os.Chmod(dir, 0)))
	}
	untouched := func(home string) {
		t.Helper()
		for _, name := range []string{".bashrc", ".cache/x", "go/pkg/mod/m/b.go"} {
			if exists(filepath.Join(home, name)) {
				t.Errorf("%s has %s of another call", filepath.Base(home), name)
			}
		}
	}
	use("codex", pipelines.AccessRun, finds("", ""))
	use("setup", pipelines.AccessTree, func(home string) {
		c.write(filepath.Join(home, module), "fetched")
		c.write(filepath.Join(home, settings), "set")
		c.write(filepath.Join(homes, "codex-run/repository/theirs"), "theirs")
		testenv.Must(t, os.Symlink("../codex-run", filepath.Join(home, ".m2")))
	})
	for _, program := range []string{"check", "claude"} {
		access := map[string]pipelines.Access{"check": pipelines.AccessTree, "claude": pipelines.AccessRun}[program]
		set := map[string]string{"check": "set"}[program]
		for range 3 {
			use(program, access, func(home string) {
				finds("fetched", set)(home)
				untouched(home)
				if exists(filepath.Join(home, ".m2", "theirs")) || exists(filepath.Join(home, ".m2", "repository")) && program != "check" {
					t.Error("a link was followed out of the home")
				}
				taint(home)
			})
		}
	}
	use("claude", pipelines.AccessRead, finds("", ""))
	for range 2 { // who writes code keeps its own
		use("claude", pipelines.AccessTree, func(home string) {
			finds(map[bool]string{true: "tainted", false: "fetched"}[exists(filepath.Join(home, ".cache/x"))], "")(home)
			c.write(filepath.Join(home, module), "tainted")
			c.write(filepath.Join(home, ".cache/x"), "own")
		})
	}
	use("setup", pipelines.AccessTree, func(home string) {
		finds("fetched", "set")(home)
		untouched(home)
		c.write(filepath.Join(home, module), "newer")
	})
	use("claude", pipelines.AccessTree, finds("newer", ""))
	use("claude", pipelines.AccessRun, finds("newer", ""))
	use("check", pipelines.AccessTree, func(home string) {
		finds("newer", "set")(home)
		taint(home)
	})
	use("claude", pipelines.AccessRun, func(string) { // which may use programs there
		finds("newer", "set")(filepath.Join(homes, checks))
		untouched(filepath.Join(homes, checks))
	})
	testenv.Must(t, os.RemoveAll(filepath.Join(homes, checks)))
	leave, err := c.box.Enter(t.Context())
	testenv.Must(t, err)
	use("check", pipelines.AccessTree, finds("newer", "set"))
	use("check", pipelines.AccessTree, func(home string) { c.write(filepath.Join(home, module), "staying") })
	use("check", pipelines.AccessTree, finds("staying", "set"))
	leave()
	use("check", pipelines.AccessTree, finds("newer", "set"))
}

func TestPrepare(t *testing.T) {
	none := errors.New("this kernel has no Landlock")
	for _, tt := range []struct {
		how        Containment
		missing    error
		contained  bool
		note, fail string
	}{
		{Required, nil, true, "", ""},
		{BestEffort, nil, true, "", ""},
		{uncontained, nil, false, "", ""},
		{Required, none, false, "", "the sandbox is required, but this kernel has no Landlock: use Linux 5.13 or newer with Landlock, or do without (best-effort or off)"},
		{BestEffort, none, false, "there is no sandbox: this kernel has no Landlock; agents and checks can reach all that you can", ""},
		{uncontained, none, false, "", ""},
		{"always", nil, false, "", `sandbox: "always" is not one of required, best-effort, off`},
	} {
		box, note, err := Sandbox{}.prepare(tt.how, nil, tt.missing)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if (box != nil) != tt.contained || note != tt.note || said != tt.fail {
			t.Errorf("%s, %v: contained %v, note %q, error %q", tt.how, tt.missing, box != nil, note, said)
		}
	}
}

// Who calls the helper without limits gets no program.
func TestEnterWithoutLimits(t *testing.T) {
	for _, tt := range []struct{ policy, want string }{
		{"", "for reprise itself"}, {"{", "reading its limits"},
	} {
		if err := Enter([]string{"/bin/true"}, []string{policyVar + "=" + tt.policy}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v", tt.policy, err)
		}
	}
}

// What is hidden stays so where a service's home or a checkout lies in a folder
// of the system.
func TestHiddenInTheSystem(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"opt/go/bin", "opt/runner/_work/_temp", "opt/runner/_work/_tool/bin", "opt/src/repo/.git/objects", "opt/src/other", "home"} {
		testenv.Must(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	apart := resolved(hidden([]string{"RUNNER_TEMP=" + root + "/opt/runner/_work/_temp"}, []string{root + "/opt/src/repo/.git/objects"}))
	for dir, want := range map[string]string{
		"opt":                        "opt/go opt/src/other",
		"opt/go":                     "opt/go",
		"opt/runner/_work/_tool/bin": "opt/runner/_work/_tool/bin",
		"opt/src/repo/.git":          "",
	} {
		got := strings.ReplaceAll(strings.Join(around(filepath.Join(root, dir), apart), " "), root+"/", "")
		if got != want {
			t.Errorf("%s: %q is read, want %q", dir, got, want)
		}
	}
}

// What installations look like, and what is read of them.
func TestInstallation(t *testing.T) {
	home := filepath.Join(t.TempDir(), "people", "me")
	for dir, want := range map[string]string{
		home:                          "",
		filepath.Dir(home):            "",
		home + "/.local/bin":          "bin,lib",
		home + "/.cargo/bin":          "bin,lib",
		home + "/go/bin":              "bin,lib",
		home + "/checkout":            "",
		home + "/checkout/bin":        "bin,lib",
		home + "/sdk/bin":             "bin,lib,share",
		home + "/p/node_modules/.bin": "node_modules",
		home + "/gone":                "",
	} {
		if dir != home+"/gone" {
			for _, d := range []string{dir, filepath.Join(dir, "../lib"), filepath.Join(dir, "../share"), home + "/checkout/.git"} {
				testenv.Must(t, os.MkdirAll(d, 0o755))
			}
		}
		var got []string
		for _, path := range resolved(installation(dir, home)) {
			got = append(got, filepath.Base(path))
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s: %q, want %s", dir, got, want)
		}
	}
}

// A shim starts what lies beside it: the program that made it, and the versions that it
// chooses among. Other things beside it are not read, and
// nothing of a checkout in which no such program is.
func TestShims(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"pyenv", "checkout"} {
		for _, name := range []string{"shims", "libexec", "versions/3.13.0/bin", "pyenv.d", "plugins", "private"} {
			testenv.Must(t, os.MkdirAll(filepath.Join(top, dir, name), 0o755))
		}
	}
	for _, name := range []string{"version", "libexec/pyenv"} {
		testenv.Must(t, os.WriteFile(filepath.Join(top, "pyenv", name), nil, 0o600))
	}
	for _, dir := range []string{"pyenv", "checkout"} {
		testenv.Must(t, os.Mkdir(filepath.Join(top, dir, ".git"), 0o755))
	}
	for dir, want := range map[string]string{"pyenv": "libexec plugins pyenv.d shims version versions", "checkout": "shims"} {
		var got []string
		for _, path := range resolved(installation(filepath.Join(top, dir, "shims"), filepath.Join(top, "me"))) {
			got = append(got, filepath.Base(path))
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %q is read, want %q", dir, text, want)
		}
	}
}

// What installs programs may be elsewhere than at home, but nowhere where other things are.
func TestElsewhere(t *testing.T) {
	top := t.TempDir()
	home := filepath.Join(top, "me")
	for _, dir := range []string{home, filepath.Join(home, ".config"), filepath.Join(top, "rustup"), filepath.Join(top, "checkout", ".git")} {
		testenv.Must(t, os.MkdirAll(dir, 0o755))
	}
	for dir, want := range map[string]bool{
		filepath.Join(top, "rustup"): true,
		home:                         false, top: false, "/": false, filepath.Join(home, ".config"): false, filepath.Join(top, "checkout"): false,
		filepath.Join(top, "gone"): false, "rustup": false, "": false,
	} {
		if got := elsewhere([]string{"RUSTUP_HOME=" + dir}, home); (len(got) == 1 && got[0] == dir) != want {
			t.Errorf("%q: %q is read", dir, got)
		}
	}
}

// Programs in Java ask the system who the user is, and not HOME: they are told where theirs is.
func TestJavaIsAtHome(t *testing.T) {
	c := newCell(t)
	for given, more := range map[string]string{"": "", "-Xmx1g": " -Xmx1g"} {
		call := Call{Home: c.root, Access: pipelines.AccessTree, Dir: c.dir, Env: []string{"TMPDIR=/with a space", "JAVA_TOOL_OPTIONS=" + given}}
		leave, err := c.box.MoveIn(t.Context(), &call, Home{Program: "check"})
		testenv.Must(t, err)
		leave(false)
		home := "-Duser.home=" + call.Home
		if strings.Contains(home, " ") {
			home = `"` + home + `"`
		}
		want := `"-Djava.io.tmpdir=/with a space" ` + home + more
		if got := process.Lookup(call.Env, "JAVA_TOOL_OPTIONS"); got != want {
			t.Errorf("given %q, Java is told %q, want %q", given, got, want)
		}
	}
}

// What a setup installs in its home can be run by those who may run commands, and changed by
// none of them. No program of the system is hidden by it.
func TestToolsOfASetup(t *testing.T) {
	c := newCell(t)
	path := "PATH=" + process.Lookup(c.environ, "PATH")
	use := func(program string, access pipelines.Access, command string) (code int) {
		t.Helper()
		call := c.call(command)
		call.Access = access
		e, err := insideOf(t.Context(), c.box, call, homeOf(program), process.Program{Whole: time.Minute})
		testenv.Must(t, err)
		return e.Code()
	}
	install := `mkdir -p ~/.local/bin && echo beside >~/.local/lib && printf '#!/bin/sh\ncat "%s/.local/lib"' "$HOME" >~/.local/bin/tool && cp ~/.local/bin/tool ~/.local/bin/cat && chmod +x ~/.local/bin/*`
	if code := use("setup", pipelines.AccessTree, install); code != 0 {
		t.Fatalf("the setup ended with %d", code)
	}
	for program, access := range map[string]pipelines.Access{"setup": pipelines.AccessTree, "check": pipelines.AccessTree, "claude": pipelines.AccessRun} {
		for _, bad := range []string{"true", `echo exit 1 >>"$(command -v tool)"`, `rm "$(command -v tool)"`, `touch "$(dirname "$(command -v tool)")/more"`} {
			if code := use(program, access, `tool | grep -q beside && test "$(echo new | cat)" = new`); code != 0 {
				t.Errorf("%s: the tool ended with %d", program, code)
			}
			// A check has that home itself for as long as it lasts.
			if program != "setup" && (use(program, access, bad) == 0) != (program == "check" || bad == "true") {
				t.Errorf("%s could do, or could not: %s", program, bad)
			}
		}
	}
	if use("claude", pipelines.AccessRead, "tool") == 0 {
		t.Error("who may run nothing of the work has its tools")
	}
	call := Call{Home: c.root, Access: pipelines.AccessTree, Dir: c.dir, Env: []string{path}}
	if got := withTools(call.Env, "", false); !slices.Equal(got, []string{path}) {
		t.Errorf("without a setup: %q", got)
	}
}
