//go:build slow

package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/secrets"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// meddledRepo is a branch in whose tree somebody meddles at the moments between
// what reprise asks of it.
type meddledRepo struct {
	Tree
	top   *os.Root
	todo  []moment
	n     int
	at    bool // the agent has ended
	count int  // of what was done
}

func (r *meddledRepo) pass() {
	if !r.at {
		return
	}
	r.n++
	for _, m := range r.todo {
		if m.At == r.n {
			meddle()[m.Do](r.top, m.What)
			r.count++
		}
	}
}

func (r *meddledRepo) Changes(ctx context.Context) ([]phases.Change, error) {
	r.pass()
	defer r.pass()
	return r.Tree.Changes(ctx)
}

func (r *meddledRepo) Restore(ctx context.Context, paths ...string) error {
	defer r.pass()
	return r.Tree.Restore(ctx, paths...)
}

func (r *meddledRepo) Stage(ctx context.Context, paths ...string) (engine.StagedTree, error) {
	defer r.pass()
	s, err := r.Tree.Stage(ctx, paths...)
	return meddledStaged{s, r}, err
}

func (r *meddledRepo) Commit(ctx context.Context, c engine.BranchCommit) error {
	if s, ok := c.Staged.(meddledStaged); ok {
		c.Staged = s.StagedTree
	}
	return r.Tree.Commit(ctx, c)
}

// meddledStaged is what a commit takes, while somebody meddles in the tree.
type meddledStaged struct {
	engine.StagedTree
	repo *meddledRepo
}

func (s meddledStaged) Each(ctx context.Context, f func(phases.Change, []byte) error) error {
	return s.StagedTree.Each(ctx, func(c phases.Change, data []byte) error {
		defer s.repo.pass()
		return f(c, data)
	})
}

func (s meddledStaged) Read(ctx context.Context, name string) ([]byte, error) {
	defer s.repo.pass()
	return s.StagedTree.Read(ctx, name)
}

func (s meddledStaged) Diff(ctx context.Context, from string) (string, metadata.Diff, error) {
	defer s.repo.pass()
	return s.StagedTree.Diff(ctx, from)
}

// searchedFiles notes what was searched for secrets and had none.
type searchedFiles struct {
	leakGuard
	clean map[string]bool
}

func (s searchedFiles) Leaks(ctx context.Context, path string, data []byte) ([]engine.Leak, error) {
	leaks, err := s.leakGuard.Leaks(ctx, path, data)
	if err == nil && len(leaks) == 0 {
		s.clean[path+" "+sumOf(data)] = true
	}
	return leaks, err
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// meddledRun is a run of one phase in a repository of its own.
type meddledRun struct {
	user   string // the user's repository
	base   string
	repo   *meddledRepo
	loop   *engine.Engine
	run    metadata.Run
	search searchedFiles
}

func newMeddledRun(t *testing.T, m meddling) *meddledRun {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() { _ = folders.RemoveAll(dir) }) // folders of it may be locked
	x := &meddledRun{user: filepath.Join(dir, "user")}
	for name, text := range map[string]string{"code.go": "package calc\n", "lib/a.go": "package lib\n", "CLAUDE.md": "be good\n"} {
		testenv.Must(t, testenv.PutText(filepath.Join(x.user, name), text))
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "start"}} {
		testenv.MustGit(t, x.user, args...)
	}
	src, err := git.Find(t.Context(), x.user)
	testenv.Must(t, err)
	repo, err := git.Open(t.Context(), git.Options{Source: src, Root: filepath.Join(dir, "run"), Branch: "reprise/issue-7", State: ".reprise/issue-7"})
	testenv.Must(t, err)
	t.Cleanup(func() { _ = repo.Close() })
	top, err := os.OpenRoot(repo.Tree())
	testenv.Must(t, err)
	t.Cleanup(func() { _ = top.Close() })
	testenv.Must(t, testenv.PutText(filepath.Join(outside(top), "a.go"), knownValue))
	x.repo, x.base = &meddledRepo{Tree: Tree{repo, repo.Tip()}, top: top, todo: m.Moments}, repo.Tip()
	x.search = searchedFiles{leakGuard{secrets.New(secrets.Secret{Name: "A_TOKEN", Value: knownValue}), Tree{Repo: repo}}, map[string]bool{}}
	words, err := prompts.Load(nil, "en")
	testenv.Must(t, err)
	plan := onePhase()
	clock := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	x.loop = &engine.Engine{
		Journal: engine.Journal{
			Plan: plan, Tree: x.repo, SecretFinder: x.search, Now: func() time.Time { clock = clock.Add(time.Second); return clock },
		},
		Calls: engine.Calls{
			Prompts: words,
			Agent:   func(string) (engine.Agent, error) { return meddler{x.repo}, nil },
			Issue:   prompts.Issue{ID: "7", Title: "T", Body: "B"},
			See:     func(_ context.Context, is prompts.Issue) (prompts.Issue, []string) { return is, nil },
			NewID:   uuid.NewString,
			Rand:    rand.NewChaCha8([32]byte{}),
		},
		Store: recordFolder(repo.Tree(), "7"), Report: x, Sleep: func(context.Context, time.Duration) error { return nil },
	}
	x.run = phases.Fresh(phases.On(plan, metadata.Run{
		IssueNumber: "7", IssueTitle: "T", BranchName: "reprise/issue-7", BaseCommit: x.base, Language: "en", WorkflowVersion: "test",
		Pipeline:  metadata.Pipeline{Name: "test", Digest: "sha256:" + strings.Repeat("0", 64), Definition: "sha256:" + strings.Repeat("0", 64), Source: "builtin:test"},
		Execution: metadata.Execution{ID: "run"},
	}), clock)
	return x
}

func onePhase() *pipelines.Pipeline {
	step := pipelines.Step{Agent: "writer", Timeout: pipelines.Duration(time.Minute), Idle: pipelines.Duration(time.Minute)}
	return &pipelines.Pipeline{
		Name: "test", Language: "en", Agents: map[string]pipelines.Agent{"writer": {Use: "claude"}},
		Phases: []pipelines.Phase{{
			Name: "code", Goal: "write code", Folder: "00_code", Writes: "code.md", Access: pipelines.AccessTree,
			Gates: []string{"It is right."}, NoReview: true, Execute: step,
		}},
	}
}

// Report passes over what is told.
func (*meddledRun) Report(engine.Event) {}

// meddler is an agent that does its work, and leaves somebody behind.
type meddler struct{ repo *meddledRepo }

func (a meddler) Run(context.Context, engine.Task) (engine.Result, error) {
	var err error
	for name, text := range map[string]string{
		"code.go": "package calc // by the agent\n", "new.go": "package calc\n", "lib/a.go": "package lib\n\nfunc A() {}\n",
		codeFolder + "/code.md": "# What was done\n", codeFolder + "/extra.md": "more\n",
	} {
		err = errors.Join(err, meddledFile(a.repo.top, name, text))
	}
	a.repo.at = true
	if err != nil { // somebody was in the way
		err = &engine.AgentError{Class: metadata.Crash, Agent: "writer", Err: err}
	}
	return engine.Result{Text: "done"}, err
}

// goOn lets the run go on while somebody meddles.
func (x *meddledRun) goOn(t *testing.T, m meddling) error {
	t.Helper()
	testenv.Must(t, x.loop.Begin(t.Context(), x.run))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	if m.Race > 0 {
		wg.Go(func() { race(x.repo.top, m.Race, stop) })
	}
	run, err := x.loop.Run(t.Context(), x.run)
	close(stop)
	wg.Wait()
	x.run = run
	return err
}

// hold holds every commit of the run to what is promised of it.
func (x *meddledRun) hold(t *testing.T) {
	t.Helper()
	log := testenv.MustGit(t, x.user, "rev-list", "--reverse", x.base+"..refs/heads/reprise/issue-7")
	for _, commit := range strings.Fields(log) {
		x.holdBlobs(t, commit)
		x.holdRecord(t, commit)
	}
	all, err := os.ReadDir(outside(x.repo.top))
	if text, e := os.ReadFile(filepath.Join(outside(x.repo.top), "a.go")); err != nil || e != nil || len(all) != 1 || string(text) != knownValue {
		t.Errorf("outside of the tree are now %v, and %q (%v, %v)", all, text, err, e)
	}
}

// holdBlobs holds what a commit has put on the branch to the rules, and against
// what was searched.
func (x *meddledRun) holdBlobs(t *testing.T, commit string) {
	t.Helper()
	raw := testenv.MustGit(t, x.user, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", commit+"^", commit)
	fields := strings.Split(strings.TrimSuffix(raw, "\x00"), "\x00")
	for ; len(fields) >= 2; fields = fields[2:] {
		f, name := strings.Fields(fields[0]), fields[1]
		byEngine := strings.HasPrefix(name, ".reprise/issue-7/") && name != codeFolder+"/code.md" && name != codeFolder+"/extra.md"
		if !byEngine && pipelines.IsProtected(name, nil) && !strings.HasPrefix(name, codeFolder+"/") {
			t.Errorf("%s is protected, and was changed", name)
		}
		if f[4] == "D" {
			continue
		}
		text := testenv.MustGit(t, x.user, "cat-file", "blob", f[3])
		switch {
		case f[1] != "100644":
			t.Errorf("%s was committed with mode %s", name, f[1])
		case strings.Contains(text, knownValue), strings.Contains(text, "AKIA"+"Q3EGRIV2N5XZWMKT"):
			t.Errorf("%s was committed with a secret", name)
		case len(text) > 32<<20, phases.ContentOf([]byte(text)).Opaque():
			t.Errorf("%s was committed, of %d bytes and %s", name, len(text), phases.ContentOf([]byte(text)))
		case !byEngine && !x.search.clean[name+" "+sumOf([]byte(text))]:
			t.Errorf("%s was committed as nobody has searched it: %.60q", name, text)
		}
	}
}

// holdRecord compares what the record of a commit says of the work with the
// commit.
func (x *meddledRun) holdRecord(t *testing.T, commit string) {
	t.Helper()
	data := testenv.MustGit(t, x.user, "show", commit+":.reprise/issue-7/metadata.json")
	run, err := metadata.Parse([]byte(data), "the record")
	testenv.Must(t, err)
	rec := run.Phase("code")
	if rec.Written == 0 {
		return
	}
	document, err := testenv.Git(x.user, "show", commit+":"+codeFolder+"/code.md")
	if err != nil || sumOf([]byte(document)) != rec.Digest {
		t.Errorf("the record has the digest %s, the commit %q (%v)", rec.Digest, document, err)
	}
	for _, file := range rec.OutputFiles {
		if _, err := testenv.Git(x.user, "cat-file", "-e", commit+":"+file); err != nil {
			t.Errorf("the record names %s: %v", file, err)
		}
	}
	numbers := testenv.MustGit(t, x.user, "diff", "--numstat", "-M", rec.Base, commit, "--", ".", ":(exclude).reprise")
	var want metadata.Diff
	for line := range strings.Lines(numbers) {
		f := strings.Fields(line)
		added, _ := strconv.Atoi(f[0]) // "-" for what is binary
		deleted, _ := strconv.Atoi(f[1])
		want = metadata.Diff{Files: want.Files + 1, Lines: want.Lines + added + deleted, Added: want.Added + added, Deleted: want.Deleted + deleted}
	}
	if diff := cmp.Diff(want, *rec.Diff); diff != "" {
		t.Errorf("the commit and the record count otherwise (-commit +record):\n%s", diff)
	}
}

// Whatever something that outlived its call does to the tree, at whatever moment
// before the commit: all that is committed was searched for secrets and held to
// the rules, and the record counts and names what was committed.
func TestWhateverHappensToTheTree(t *testing.T) {
	cases := rapid.Custom(someMeddling)
	var mu sync.Mutex
	ended := map[string]int{}
	t.Run("cases", func(t *testing.T) {
		for seed := range 40 {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				m := cases.Example(seed)
				x := newMeddledRun(t, m)
				err := x.goOn(t, m)
				x.hold(t)
				if t.Failed() {
					t.Logf("%+v: the run is %s, %v", m, x.run.Status, err)
				}
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err != nil:
					ended["an error"]++
				case x.run.Status == metadata.Completed && x.repo.count > 0:
					ended["completed"]++
				default:
					ended["stopped"]++
				}
			})
		}
	})
	if ended["an error"] == 0 || ended["completed"] == 0 {
		t.Errorf("the cases show too little: %v", ended)
	}
	t.Log(ended)
}

// meddling is what something that outlived its agent does to the tree.
type meddling struct {
	Moments []moment
	Race    uint64 // not 0: it also does this and that all the time
}

// moment is one thing that it does.
type moment struct {
	At       int // counted in what reprise asks of the branch and in the staged files that it looks at
	Do, What string
}

const (
	knownValue = "known-value-0123456789abcdef"
	codeFolder = ".reprise/issue-7/00_code"
)

// meddled are the files it does something to.
var meddled = []string{
	"code.go", "new.go", "lib/a.go", codeFolder + "/code.md", codeFolder + "/extra.md",
	".gitattributes", ".gitignore", "lib/.gitignore", "CLAUDE.md", ".github/workflows/x.yml",
}

// meddle are what it does, by name. Any of it may fail: others are at it. All of
// it stays in the tree, whatever links there are.
func meddle() map[string]func(top *os.Root, name string) {
	text := func(text string) func(*os.Root, string) {
		return func(top *os.Root, name string) { _ = meddledFile(top, name, text) }
	}
	return map[string]func(top *os.Root, name string){
		"known value": text("a\n" + knownValue + "\n"),
		"shape":       text("key = AKIA" + "Q3EGRIV2N5XZWMKT\n"),
		"other text":  text("other\ntext\nof\nfive\nlines\n"),
		"first text":  text("package calc // by the agent\n"),
		"empty":       text(""),
		"program":     text("\x7fELF\x00\x01"),
		"binary":      text("a\x00b"),
		"attributes":  text("* -diff\n*.md -text\n* filter=lfs\n*.go merge=union\n"),
		"ignore":      text("*\n"),
		"executable":  func(top *os.Root, name string) { _ = top.Chmod(name, 0o755) },
		"locked":      func(top *os.Root, name string) { _ = top.Chmod(name, 0) },
		"removed":     func(top *os.Root, name string) { _ = top.RemoveAll(name) },
		"link":        func(top *os.Root, name string) { _, _ = top.RemoveAll(name), top.Symlink(outside(top), name) },
		"hard link":   func(top *os.Root, name string) { _, _ = top.RemoveAll(name), top.Link("lib/a.go", name) },
		"folder":      func(top *os.Root, name string) { _, _ = top.RemoveAll(name), meddledFile(top, name+"/x", "x") },
		"pipe": func(top *os.Root, name string) {
			_, _, _ = syscall.Mkfifo(top.Name()+"/pipe", 0o644), top.RemoveAll(name), top.Rename("pipe", name)
		},
		"huge": func(top *os.Root, name string) {
			if meddledFile(top, name, "x") == nil {
				if f, err := top.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
					_, _ = f.Truncate(40<<20), f.Close()
				}
			}
		},
		"renamed folder": func(top *os.Root, name string) {
			if at := path.Dir(name); at != "." {
				_, _ = top.Rename(at, at+"-away"), top.Symlink(outside(top), at)
			}
		},
		"renamed back": func(top *os.Root, name string) {
			if at := path.Dir(name); at != "." {
				_, _ = top.Remove(at), top.Rename(at+"-away", at)
			}
		},
	}
}

// outside is a folder beside the tree that nobody may write to through a link.
func outside(top *os.Root) string {
	return filepath.Join(filepath.Dir(filepath.Dir(top.Name())), "outside")
}

// meddledFile writes a file of the tree, and does not wait for a pipe that stands
// in its place.
func meddledFile(top *os.Root, name, text string) error {
	_, _ = top.MkdirAll(path.Dir(name), 0o755), top.RemoveAll(name)
	f, err := top.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func someMeddling(t *rapid.T) meddling {
	var m meddling
	names := slices.Sorted(maps.Keys(meddle()))
	for range rapid.IntRange(1, 6).Draw(t, "moments") {
		m.Moments = append(m.Moments, moment{
			rapid.IntRange(1, 16).Draw(t, "at"), rapid.SampledFrom(names).Draw(t, "do"), rapid.SampledFrom(meddled).Draw(t, "what"),
		})
	}
	if rapid.IntRange(0, 2).Draw(t, "race") == 0 {
		m.Race = 1 + rapid.Uint64Max(1000).Draw(t, "seed")
	}
	return m
}

// race does this and that until it is stopped. Others are at it: whatever fails,
// it goes on. It leaves out pipes: one that is taken away again while git waits for
// it, nobody can find any more.
func race(top *os.Root, seed uint64, stop <-chan struct{}) {
	all, draw := meddle(), rand.New(rand.NewPCG(seed, 1))
	delete(all, "pipe")
	delete(all, "huge") // it would be at that alone
	names := slices.Sorted(maps.Keys(all))
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(draw.IntN(2000)) * time.Microsecond):
			all[names[draw.IntN(len(names))]](top, meddled[draw.IntN(len(meddled))])
		}
	}
}
