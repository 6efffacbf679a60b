//go:build slow

package git

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const (
	lfsAttributes = "*.bin filter=lfs diff=lfs merge=lfs -text\n"
	content       = "the content of a\n"
)

func pointerTo(data string) string {
	return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", oidOf(data), len(data))
}

func oidOf(data string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(data))) }

// lfsUser makes a repository with git-lfs set up, and one file that it keeps.
func lfsUser(t *testing.T, more map[string]string) string {
	t.Helper()
	files := map[string]string{".gitattributes": lfsAttributes, "a.bin": pointerTo(content), "text": "text\n"}
	for name, text := range more {
		files[name] = text
	}
	user := newUser(t, files)
	useLFS(t, user)
	write(t, largeFile(filepath.Join(user, ".git/lfs"), oidOf(content)), content)
	return user
}

// useLFS is git lfs install, but that the command which it writes must not be run.
func useLFS(t *testing.T, user string) {
	t.Helper()
	sh(t, user, "config", "filter.lfs.process", "touch "+filepath.Join(user, "run-from-configuration"))
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(user, "run-from-configuration")); err == nil {
			t.Error("the command in the user's configuration was run")
		}
	})
}

func treeHas(t *testing.T, r *Repo, name, want string) {
	t.Helper()
	if got := read(t, filepath.Join(r.Tree(), name)); got != want {
		t.Errorf("the tree has in %s:\n%q, want\n%q", name, got, want)
	}
}

func committed(t *testing.T, r *Repo, name, want string) {
	t.Helper()
	got, err := r.ReadFile(t.Context(), r.Tip(), name)
	if err != nil || string(got) != want {
		t.Errorf("committed is in %s:\n%q, %v, want\n%q", name, got, err, want)
	}
}

func TestLFSContent(t *testing.T) {
	user := lfsUser(t, nil)
	bare := withRemote(t, user)
	r := openRun(t, user, pushing)
	if got := r.Lacks(); got != nil {
		t.Errorf("it lacks %q", got)
	}
	treeHas(t, r, "a.bin", content)
	clean(t, r)
	start := r.Tip()

	// The agent's own git sees no change either.
	must(t, r.buildScratch("tree", r.home("index"), r.tip))
	if got := sh(t, r.Tree(), "status", "--porcelain"); got != "" {
		t.Errorf("the agent's git sees changes:\n%s", got)
	}

	write(t, filepath.Join(r.Tree(), "a.bin"), "changed\n")
	write(t, filepath.Join(r.Tree(), "dir/new.bin"), "new\n")
	changes := changesOf(t, r)
	if len(changes) != 2 || changes[0].Large || changes[1].Large || changes[0].Size != 8 {
		t.Errorf("changes: %+v", changes)
	}
	text, _, err := diffOf(t, r, start)
	if err != nil || !strings.Contains(text, "+oid sha256:"+oidOf("changed\n")) {
		t.Errorf("the difference is %q, %v", text, err)
	}
	patch, err := r.Patch(t.Context(), 1<<20)
	if err != nil || !strings.Contains(string(patch), "+changed\n") {
		t.Errorf("the patch of what is uncommitted is %q, %v", patch, err)
	}
	objects := filepath.Join(user, ".git/lfs")
	if _, err := os.Stat(largeFile(objects, oidOf("changed\n"))); err == nil {
		t.Error("looking at a change has put it into the user's repository")
	}
	commit(t, r, "one", "a.bin", "dir/new.bin")
	committed(t, r, "a.bin", pointerTo("changed\n"))
	committed(t, r, "dir/new.bin", pointerTo("new\n"))
	clean(t, r)
	for _, data := range []string{"changed\n", "new\n"} {
		for _, place := range []string{objects, filepath.Join(bare, "lfs")} {
			if got := read(t, largeFile(place, oidOf(data))); got != data {
				t.Errorf("%s has %q for %q", place, got, data)
			}
		}
	}
	if _, err := os.Stat(largeFile(filepath.Join(bare, "lfs"), oidOf(content))); err == nil {
		t.Error("a file that no commit of the run has brought was uploaded")
	}

	// A tree beside it has the content, and its git sees no change.
	for name, commit := range map[string]string{"tip": "", "start": start} {
		must(t, r.CheckOutBeside(t.Context(), commit, name))
		dir, want := filepath.Join(r.opt.Root, "copies", name), map[string]string{"tip": "changed\n", "start": content}[name]
		if got := read(t, filepath.Join(dir, "a.bin")); got != want {
			t.Errorf("beside it, of the %s there is %q, want %q", name, got, want)
		}
		if got := sh(t, dir, "status", "--porcelain", "--", ".", ":!.reprise"); got != "" {
			t.Errorf("beside it, of the %s git sees\n%s", name, got)
		}
	}

	// Back to where it began: the old content.
	back, err := r.RestoreTree(t.Context(), start, state)
	if err != nil || strings.Join(back.Paths, " ") != "dir/new.bin a.bin" {
		t.Fatalf("going back changes %+v, %v", back, err)
	}
	treeHas(t, r, "a.bin", content)
	commitStage(t, r, "back", back)
	committed(t, r, "a.bin", pointerTo(content))
	clean(t, r)

	// What an agent leaves is taken back.
	write(t, filepath.Join(r.Tree(), "a.bin"), "wrong\n")
	must(t, r.Restore(t.Context()))
	treeHas(t, r, "a.bin", content)

	// Its pointer is no change, and is filled before the next call.
	write(t, filepath.Join(r.Tree(), "a.bin"), pointerTo(content))
	if got := changed(t, r); got != nil {
		t.Errorf("the pointer of a file is a change: %q", got)
	}
	prepare(t, r, Guard{Instruct: func(string) bool { return false }})
	treeHas(t, r, "a.bin", content)
	clean(t, r)

	// Another machine fetches what it has not.
	must(t, r.Close())
	sh(t, bare, "update-server-info")
	other := filepath.Join(filepath.Dir(user), "other")
	sh(t, filepath.Dir(user), "clone", "-q", bare, other)
	useLFS(t, other)
	write(t, largeFile(filepath.Join(bare, "lfs"), oidOf(content)), content)
	again := openRun(t, other, pushing, inRoot(filepath.Join(filepath.Dir(user), "run2")))
	treeHas(t, again, "a.bin", content)
	if _, err := os.Stat(largeFile(filepath.Join(other, ".git/lfs"), oidOf(content))); err != nil {
		t.Errorf("what was fetched is not in the user's repository: %v", err)
	}
	back, err = again.RestoreTree(t.Context(), sh(t, other, "rev-parse", again.Tip()+"^"), state)
	must(t, err)
	treeHas(t, again, "a.bin", "changed\n")
	commitStage(t, again, "again", back)
	committed(t, again, "dir/new.bin", pointerTo("new\n"))
}

// What is not to be had stays a pointer, by name, and what is written in its
// place is known.
func TestLFSMissing(t *testing.T) {
	for _, c := range []struct {
		name, says string
		prepare    func(t *testing.T, user string)
	}{
		{"no remote", "no remote", func(t *testing.T, user string) {}},
		{"not on the remote", "", func(t *testing.T, user string) { withRemote(t, user) }},
		{"remote gone", "could not be fetched", func(t *testing.T, user string) {
			sh(t, user, "remote", "add", "origin", filepath.Join(filepath.Dir(user), "nowhere"))
		}},
		{"skipped", "set up to leave it out", func(t *testing.T, user string) { t.Setenv("GIT_LFS_SKIP_SMUDGE", "1") }},
		{"excluded", "set up to leave it out", func(t *testing.T, user string) { sh(t, user, "config", "lfs.fetchexclude", "*.bin") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			user := lfsUser(t, map[string]string{"gone.bin": pointerTo("gone"), "moved.bin": pointerTo("moves")})
			excluded := strings.Contains(c.says, "set up")
			if excluded {
				for _, data := range []string{"gone", "moves"} {
					write(t, largeFile(filepath.Join(user, ".git/lfs"), oidOf(data)), data)
				}
			}
			c.prepare(t, user)
			r := openRun(t, user)
			lacks := strings.Join(r.Lacks(), "\n")
			if !strings.Contains(lacks, "gone.bin, moved.bin stay pointers") || !strings.Contains(lacks, c.says) {
				t.Errorf("it lacks %q", lacks)
			}
			treeHas(t, r, "gone.bin", pointerTo("gone"))
			clean(t, r)
			write(t, filepath.Join(r.Tree(), "gone.bin"), "something else")
			write(t, filepath.Join(r.Tree(), "new.bin"), "new")
			write(t, filepath.Join(r.Tree(), "dangling.bin"), pointerTo("nowhere"))
			must(t, os.Rename(filepath.Join(r.Tree(), "moved.bin"), filepath.Join(r.Tree(), "there.bin")))
			changes := changesOf(t, r)
			var large []string
			for _, c := range changes {
				if c.Large {
					large = append(large, c.Path)
				}
			}
			if got := strings.Join(large, " "); got != "dangling.bin gone.bin" {
				t.Errorf("not to be committed are %q", got)
			}
			must(t, r.Restore(t.Context(), large...))
			treeHas(t, r, "gone.bin", pointerTo("gone"))
			commit(t, r, "one", "moved.bin", "there.bin", "new.bin")
			committed(t, r, "there.bin", pointerTo("moves"))
			committed(t, r, "new.bin", pointerTo("new"))
			clean(t, r)
		})
	}
}

// A repository may begin to use Git LFS in a run.
func TestLFSBeginsWithContent(t *testing.T) {
	user := newUser(t, map[string]string{"old.bin": "old\n"})
	useLFS(t, user)
	bare := withRemote(t, user)
	r := openRun(t, user, pushing)
	write(t, filepath.Join(r.Tree(), ".gitattributes"), lfsAttributes)
	write(t, filepath.Join(r.Tree(), "new.bin"), "new\n")
	if got := strings.Join(changed(t, r), ", "); got != "added .gitattributes, added new.bin" {
		t.Errorf("changes: %s", got)
	}
	commit(t, r, "one", ".gitattributes", "new.bin")
	committed(t, r, "new.bin", pointerTo("new\n"))
	committed(t, r, "old.bin", "old\n")
	if got := read(t, largeFile(filepath.Join(bare, "lfs"), oidOf("new\n"))); got != "new\n" {
		t.Errorf("uploaded is %q", got)
	}
}

// A try writes nothing into the user's repository, and does not need to fetch.
func TestLFSDryRun(t *testing.T) {
	user := lfsUser(t, map[string]string{"gone.bin": pointerTo("gone")})
	bare := withRemote(t, user)
	write(t, largeFile(filepath.Join(bare, "lfs"), oidOf("gone")), "gone")
	r := openRun(t, user, pushing, func(o *Options) { o.DryRun = true })
	treeHas(t, r, "a.bin", content)
	treeHas(t, r, "gone.bin", pointerTo("gone"))
	write(t, filepath.Join(r.Tree(), "a.bin"), "changed\n")
	commit(t, r, "one", "a.bin")
	committed(t, r, "a.bin", pointerTo("changed\n"))
	prepare(t, r, Guard{Instruct: func(string) bool { return false }})
	write(t, filepath.Join(r.Tree(), "a.bin"), "wrong\n")
	must(t, r.Restore(t.Context()))
	treeHas(t, r, "a.bin", "changed\n")
	for _, data := range []string{"changed\n", "wrong\n", "gone"} {
		if _, err := os.Stat(largeFile(filepath.Join(user, ".git/lfs"), oidOf(data))); err == nil {
			t.Errorf("the user's repository has got %q", data)
		}
	}
}

func TestLFSDoesNotWork(t *testing.T) {
	bin := t.TempDir()
	must(t, os.WriteFile(filepath.Join(bin, "git-lfs"), []byte("#!/bin/sh\necho fatal: it is broken >&2; exit 3\n"), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	_, err := tryOpen(t, lfsUser(t, nil))
	if err == nil || !strings.Contains(err.Error(), filepath.Join(bin, "git-lfs")+" does not work (git lfs-version: it is broken (exit status 3)): install it again") {
		t.Errorf("the error is %v", err)
	}
}

// Where an agent that nothing holds writes into the folder of git-lfs, it gains
// nothing.
func TestLFSFolderIsPutRight(t *testing.T) {
	r := openRun(t, lfsUser(t, nil))
	planted := filepath.Join(t.TempDir(), "planted")
	write(t, r.lfsDir("config"), "[lfs \"extension.x\"]\n\tclean = touch '"+planted+"'; cat\n\tsmudge = cat\n\tpriority = 0\n")
	write(t, filepath.Join(r.Tree(), "a.bin"), "changed\n")
	commit(t, r, "one", "a.bin")
	committed(t, r, "a.bin", pointerTo("changed\n"))
	if _, err := os.Stat(planted); err == nil {
		t.Error("a program that was planted has run")
	}
}

// What is judged is the content, for that is what is uploaded.
func TestLFSContentIsJudged(t *testing.T) {
	user := lfsUser(t, nil)
	r := openRun(t, user)
	write(t, filepath.Join(r.Tree(), "a.bin"), "a secret\n")
	refused := errors.New("refused")
	var seen []string
	stage := staged(t, r, []string{"a.bin"})
	err := r.EachStaged(t.Context(), stage, func(s Staged) error {
		seen = append(seen, string(s.Data))
		if string(s.Data) == "a secret\n" && s.Was == File {
			return refused
		}
		return nil
	})
	if !errors.Is(err, refused) {
		t.Errorf("judging ended with %v; judged was %q", err, seen)
	}
	if _, err := os.Stat(largeFile(filepath.Join(user, ".git/lfs"), oidOf("a secret\n"))); err == nil {
		t.Error("what was refused is in the user's repository")
	}
	before, err := r.Held(t.Context(), "a.bin", 11)
	if err != nil || string(before) != content[:11] {
		t.Errorf("the tip holds %q, %v", before, err)
	}
}

// The server is named by the user and by the default branch, and by nobody else.
func TestLFSConfigOfTheTree(t *testing.T) {
	user := lfsUser(t, map[string]string{".lfsconfig": "[lfs]\n\turl = https://user:word@lfs.example/right\n\tfetchexclude = other\n[lfs \"customtransfer.x\"]\n\tpath = /bin/false\n[lfs \"extension.x\"]\n\tclean = touch planted\n"})
	sh(t, user, "config", "lfs.concurrenttransfers", "3")
	r := openRun(t, user)
	must(t, os.WriteFile(filepath.Join(r.Tree(), ".lfsconfig"), []byte("[lfs]\n\turl = https://wrong.example\n\tfetchexclude = *\n"), 0o644))
	got := fmt.Sprint(r.lfs)
	for _, want := range []string{"{lfs.url https://lfs.example/right}", "{lfs.fetchexclude other}", "{lfs.concurrenttransfers 3}", "{http.https://lfs.example/.extraheader Authorization: Basic"} {
		if !strings.Contains(got, want) {
			t.Errorf("the settings of git-lfs are without %s:\n%s", want, got)
		}
	}
	for _, never := range []string{"wrong", "customtransfer", "extension", "word"} {
		if strings.Contains(got, never) {
			t.Errorf("the settings of git-lfs have %s:\n%s", never, got)
		}
	}
	// Nor does the program find it by itself.
	write(t, filepath.Join(r.Tree(), "a.bin"), "wrong\n")
	must(t, r.Restore(t.Context(), "a.bin"))
	treeHas(t, r, "a.bin", content)
}

// git-lfs learns nothing that it does not need, and works beside the tree.
func TestLFSEnvironment(t *testing.T) {
	t.Setenv("SOME_TOKEN", "secret")
	t.Setenv("GIT_EDITOR", "vi")
	bin, said := t.TempDir(), filepath.Join(t.TempDir(), "said")
	must(t, os.WriteFile(filepath.Join(bin, "git-lfs"), []byte("#!/bin/sh\n{ pwd; env; } >'"+said+"'\nexec '"+filepath.Join(testHome, "bin/git-lfs")+"' \"$@\"\n"), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	r := openRun(t, lfsUser(t, nil))
	treeHas(t, r, "a.bin", content)
	var names []string
	for line := range strings.Lines(read(t, said)) {
		name, _, is := strings.Cut(line, "=")
		if !is {
			name = strings.TrimSpace(line)
		}
		if !strings.HasPrefix(name, "GIT_CONFIG_") && name != "TMPDIR" && name != "_" && name != "SHLVL" && name != "OLDPWD" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	want := r.lfsDir() + " GIT_DIR GIT_LFS_SKIP_DOWNLOAD_ERRORS GIT_TERMINAL_PROMPT HOME LC_ALL PATH PWD"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("git-lfs works in, and knows:\n%s\nwant\n%s", got, want)
	}
}

// Whatever converts a file is held: it writes where no commit is made of it unseen, and
// what the agent's tree, the run's record and the user's checkout have is nothing to it.
func TestLFSIsHeld(t *testing.T) {
	user := lfsUser(t, map[string]string{"strange\n\"'$(x).bin": pointerTo("strange")})
	withRemote(t, user)
	write(t, largeFile(filepath.Join(user, ".git/lfs"), oidOf("strange")), "strange")
	log := filepath.Join(t.TempDir(), "log")
	var written string
	var reads []string
	r := openRun(t, user, pushing, func(o *Options) {
		o.Hold = func(argv, env, read []string, write string) ([]string, []string, error) {
			written, reads = write, read
			return append([]string{"/bin/sh", "-c", `echo held >>"$0" && exec "$@"`, log}, argv...), append(env, "HELD=it's so"), nil
		}
	})
	treeHas(t, r, "strange\n\"'$(x).bin", "strange")
	if written != r.lfsDir("store") {
		t.Errorf("git-lfs may write to %s", written)
	}
	for _, dir := range reads {
		if Under(r.Tree(), dir) || Under(dir, r.Tree()) || Under(dir, user) && !Under(dir, filepath.Join(user, ".git/objects")) && !Under(dir, filepath.Join(user, ".git/lfs")) {
			t.Errorf("git-lfs may read %s", dir)
		}
	}
	for _, step := range []func(){
		func() { write(t, filepath.Join(r.Tree(), "a.bin"), "changed\n"); commit(t, r, "one", "a.bin") },
		func() { write(t, filepath.Join(r.Tree(), "a.bin"), "wrong\n"); must(t, r.Restore(t.Context())) },
		func() {
			_, err := r.RestoreTree(t.Context(), sh(t, user, "rev-parse", r.Tip()+"^"), state)
			must(t, err)
		},
	} {
		must(t, os.Remove(log))
		step()
		if _, err := os.Stat(log); err != nil {
			t.Errorf("something was converted, and git-lfs was not held: %v", err)
		}
	}
	treeHas(t, r, "a.bin", content)

	_, err := tryOpen(t, lfsUser(t, nil), func(o *Options) {
		o.Hold = func([]string, []string, []string, string) ([]string, []string, error) {
			return nil, nil, errors.New("there is no sandbox")
		}
	})
	if err == nil || !strings.Contains(err.Error(), "there is no sandbox") {
		t.Errorf("the error is %v", err)
	}
	_, err = tryOpen(t, lfsUser(t, nil), func(o *Options) {
		o.Hold = func(argv, env, _ []string, _ string) ([]string, []string, error) {
			return append([]string{"/bin/sh", "-c", "echo fatal: it may not >&2; exit 3"}, argv...), env, nil
		}
	})
	if err == nil || !strings.Contains(err.Error(), "git-lfs does not work in the sandbox (git lfs-version: it may not (exit status 3)): install it where") {
		t.Errorf("the error is %v", err)
	}
}

func TestLFSNotInstalled(t *testing.T) {
	user := lfsUser(t, nil)
	sh(t, user, "config", "--unset", "filter.lfs.process")
	source := found(t, user)
	if source.LFS() != "" {
		t.Errorf("git-lfs is used though it is not set up: %s", source.LFS())
	}
	r := openRun(t, user)
	treeHas(t, r, "a.bin", pointerTo(content))
}

// Whatever a pointer says, it leads nowhere but into the folder of objects.
func FuzzPointer(f *testing.F) {
	f.Add([]byte(pointerTo(content)))
	f.Add([]byte("version https://git-lfs.github.com/spec/v1\next-0-x sha256:" + oidOf("x") + "\noid sha256:" + oidOf("y") + "\nsize 3\n"))
	f.Add([]byte("version https://git-lfs.github.com/spec/v1\noid sha256:../../x\nsize -1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, ok := parsePointer(text)
		if !ok {
			return
		}
		if len(text) > maxPointer || p.size < 0 || len(p.oid) != 64 || strings.Trim(p.oid, "0123456789abcdef") != "" {
			t.Fatalf("%q is read as %+v", text, p)
		}
		rel, err := filepath.Rel("/s/objects", largeFile("/s", p.oid))
		if err != nil || !filepath.IsLocal(rel) {
			t.Fatalf("%q leads to %s", text, largeFile("/s", p.oid))
		}
		if !strings.Contains(string(text), "\noid sha256:"+p.oid+"\nsize ") {
			t.Fatalf("%q is read as %+v", text, p)
		}
	})
}

// What git-lfs leaves where it works is taken only if it is what the pointer stands for:
// no other content, and nothing of elsewhere.
func TestWhatIsTakenFromAStore(t *testing.T) {
	t.Parallel()
	p := pointer{op: op{path: "a.bin"}, oid: oidOf(content), size: int64(len(content))}
	for name, c := range map[string]struct {
		prepare func(object, secret string) error
		want    string
	}{
		"it":     {func(object, _ string) error { return os.WriteFile(object, []byte(content), 0o600) }, ""},
		"other":  {func(object, _ string) error { return os.WriteFile(object, []byte(strings.ToUpper(content)), 0o600) }, "git-lfs has stored something else for a.bin"},
		"longer": {func(object, _ string) error { return os.WriteFile(object, []byte(content+"more"), 0o600) }, "git-lfs has stored something else for a.bin"},
		"link":   {func(object, secret string) error { return os.Symlink(secret, object) }, "it is no ordinary file"},
		"folder linked": {func(object, secret string) error {
			dir := filepath.Dir(object)
			return errors.Join(os.Remove(dir), os.Symlink(filepath.Dir(secret), dir))
		}, "escapes"},
		"pipe":    {func(object, _ string) error { return syscall.Mkfifo(object, 0o600) }, "no ordinary file"},
		"nothing": {func(string, string) error { return nil }, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			store := t.TempDir()
			secret := filepath.Join(t.TempDir(), p.oid) // with the very content, so that only where it lies can be wrong
			write(t, secret, content)
			object := largeFile(store, p.oid)
			must(t, errors.Join(os.MkdirAll(filepath.Dir(object), 0o755), c.prepare(object, secret)))
			data, err := p.read(store)
			if c.want == "" && (err != nil || string(data) != content) {
				t.Errorf("read %q, %v", data, err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
