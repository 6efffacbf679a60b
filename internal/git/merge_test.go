//go:build slow

package git

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// mergeScratch makes an empty repository: how merge calls git in it, and how a test does, which
// ends where git refuses.
func mergeScratch(t *testing.T) (dir string, git reader, run func(args ...string) string) {
	t.Helper()
	dir = t.TempDir()
	git = func(_ context.Context, c call) ([]byte, error) {
		cmd := exec.Command("git", c.Args...)
		cmd.Dir = dir
		return cmd.Output()
	}
	run = func(args ...string) string {
		t.Helper()
		out, err := git.git(t.Context(), args...)
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "--quiet")
	return dir, git, run
}

// Attributes in a tree hide a conflict from git, and Attributes keep them from that.
func TestAttributes(t *testing.T) {
	for attributes, want := range map[string]string{"": "", "* " + mergeAttributes + "\n": "a.txt"} {
		dir, git, run := mergeScratch(t)
		put := func(name, text string) {
			t.Helper()
			name = filepath.Join(dir, name)
			testenv.Put(t, name, text)
		}
		commit := func(text string) string {
			t.Helper()
			put("a.txt", text)
			run("add", "--all")
			run("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=one")
			return run("rev-parse", "HEAD")
		}
		put(".gitattributes", "* merge=union\n")
		from := commit("a\n")
		other := commit("theirs\n")
		run("reset", "--quiet", "--hard", from)
		tip := commit("ours\n")
		put(".git/info/attributes", attributes)
		got, err := compareWithBase(t.Context(), git, tip, other, from)
		if err != nil || got.Behind != 1 || strings.Join(got.Conflicts, " ") != want {
			t.Errorf("with %q it is %+v, %v", attributes, got, err)
		}
	}
}

// moveBase commits files to the branch main of a repository, and pushes it.
func moveBase(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	sh(t, dir, "checkout", "-q", "main")
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	sh(t, dir, "add", "-A")
	sh(t, dir, "commit", "-q", "-m", "the base moves")
	sh(t, dir, "push", "-q", "origin", "main")
	return sh(t, dir, "rev-parse", "HEAD")
}

// Where one has a file and the other one a folder, the file is in conflict, and is none that an agent can
// merge. A part keeps what the branch has: no name that git has made up comes to that.
func TestMergeOfAFileWithAFolder(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n", "gone/one": "1\n"})
	sh(t, user, "branch", "-M", "main")
	withRemote(t, user)
	from := sh(t, user, "rev-parse", "HEAD")
	r := openRun(t, user, pushing)
	must(t, os.RemoveAll(r.Tree()+"/gone"))
	for name, text := range map[string]string{"file": "ours\n", "folder/a": "ours\n", "gone": "ours\n"} {
		write(t, filepath.Join(r.Tree(), name), text)
	}
	commit(t, r, "one", "file", "folder/a", "gone", "gone/one")
	moved := moveBase(t, user, map[string]string{"file/b": "theirs\n", "folder": "theirs\n", "gone/one": "theirs\n", "new": "theirs\n"})
	paths := []string{"file", "folder", "gone/one", "gone"}
	_, state, err := r.FindBase(t.Context(), "main", from)
	if err != nil || !slices.Equal(state.Conflicts, paths) {
		t.Errorf("it will conflict in %q, %v; want %q", state.Conflicts, err, paths)
	}
	_, result, err := r.Merge(t.Context(), moved, from)
	if must(t, err); !slices.Equal(result.Paths(), paths) {
		t.Errorf("it conflicts in %q", result.Paths())
	}
	for _, c := range result.Conflicts {
		if (c.Sides[1].Data == nil && c.Sides[2].Data == nil) != (c.Path != "gone/one") {
			t.Errorf("%s is told as %+v", c.Path, c)
		}
	}
	id, conflicts, err := r.Combine(t.Context(), from, r.Tip(), moved, noon, func(string) bool { return false })
	if must(t, err); len(conflicts) != len(paths) {
		t.Errorf("the part conflicts in %+v", conflicts)
	}
	if got := sh(t, user, "ls-tree", "-r", "--name-only", id); got != "a.txt\nfile\nfolder/a\ngone\nnew" {
		t.Errorf("there is\n%s", got)
	}
}

// The base comes in as a second parent, also where the clone is shallow, and nothing of the run
// is lost.
func TestMerge(t *testing.T) {
	t.Parallel()
	for _, shallow := range []bool{false, true} {
		user := newUser(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
		sh(t, user, "branch", "-M", "main")
		bare := withRemote(t, user)
		from := moveBase(t, user, map[string]string{"c.txt": "c\n"}) // so that there is history to cut off
		at := user
		if shallow {
			at = filepath.Join(filepath.Dir(user), "shallow")
			sh(t, user, "clone", "-q", "--depth=1", "--branch=main", "file://"+bare, at)
		}
		r := openRun(t, at, pushing, inRoot(filepath.Join(filepath.Dir(user), "merging")))
		write(t, r.Tree()+"/a.txt", "ours\n")
		commit(t, r, "one", "a.txt")
		tip, none, err := r.FindBase(t.Context(), "main", from)
		if err != nil || none.Behind != 0 || len(none.Conflicts) > 0 {
			t.Fatalf("shallow %t: before the base moves it is %s, %+v, %v", shallow, tip, none, err)
		}
		began := r.Tip() // a phase after that
		moveBase(t, user, map[string]string{"b.txt": "theirs\n"})
		moved := moveBase(t, user, map[string]string{".gitattributes": "* merge=union\n"})
		to, state, err := r.FindBase(t.Context(), "main", from)
		if err != nil || to != moved || state.Behind != 2 || len(state.Conflicts) > 0 {
			t.Fatalf("shallow %t: it is %s, %+v, %v; want %s, 2 commits behind", shallow, to, state, err, moved)
		}
		s, result, err := r.Merge(t.Context(), to, from)
		must(t, err)
		if len(result.Conflicts) > 0 || !slices.Equal(s.Paths, []string{".gitattributes", "b.txt"}) {
			t.Errorf("shallow %t: it has %+v and brings %q", shallow, result.Conflicts, s.Paths)
		}
		id, err := r.Commit(t.Context(), Commit{Message: "merge", Files: map[string][]byte{record: []byte("two")}, Stage: s, Parents: []string{to}, Time: noon})
		must(t, err)
		if got := sh(t, bare, "log", "-1", "--format=%P", "refs/heads/"+branch); !strings.HasSuffix(got, " "+moved) {
			t.Errorf("shallow %t: the parents are %s", shallow, got)
		}
		if got := sh(t, bare, "merge-tree", "--write-tree", "main", id); got != sh(t, bare, "rev-parse", id+"^{tree}") {
			t.Errorf("shallow %t: main and the branch do not make what the branch has", shallow)
		}
		for name, want := range map[string]string{"a.txt": "ours\n", "b.txt": "theirs\n", record: "two"} {
			if got := read(t, r.Tree()+"/"+name); got != want {
				t.Errorf("shallow %t: %s has %q", shallow, name, got)
			}
		}
		if got := changed(t, r); got != nil {
			t.Errorf("shallow %t: the work tree is not as the tip: %q", shallow, got)
		}
		// Of what the base has brought, and of what was there before, the phase has done nothing;
		// also where a later process has the newest commits alone.
		again := filepath.Join(filepath.Dir(user), "again")
		sh(t, user, "clone", "-q", "--depth=1", "--branch=main", "file://"+bare, again)
		for _, r := range []*Repo{r, openRun(t, again, pushing, inRoot(filepath.Join(filepath.Dir(user), "later")))} {
			base, err := r.WithBase(t.Context(), began, from, to)
			must(t, err)
			if text, stat, err := r.Diff(t.Context(), base, nil); err != nil || stat.Files > 0 {
				t.Errorf("shallow %t: the phase has changed\n%s%v", shallow, text, err)
			}
			if _, stat, err := r.Diff(t.Context(), began, nil); err != nil || stat.Files != 2 {
				t.Errorf("shallow %t: without that it is %d files, %v", shallow, stat.Files, err)
			}
		}
		if _, state, err = r.FindBase(t.Context(), "main", to); err != nil || state.Behind != 0 {
			t.Errorf("shallow %t: then it is %+v, %v", shallow, state, err)
		}
	}
}

// A conflict shows, whatever attributes the branch or the user's files give to it.
func TestMergeShowsConflicts(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n", "gone.txt": "x\n"})
	sh(t, user, "branch", "-M", "main")
	withRemote(t, user)
	r := openRun(t, user)
	from := r.Tip()
	write(t, r.Tree()+"/a.txt", "ours\n")
	write(t, r.Tree()+"/gone.txt", "ours\n")
	write(t, r.Tree()+"/.gitattributes", "* merge=union conflict-marker-size=20\n")
	commit(t, r, "one", "a.txt", "gone.txt", ".gitattributes")
	sh(t, user, "rm", "-q", "gone.txt")
	moveBase(t, user, map[string]string{"a.txt": "theirs\n"})

	source := found(t, user)
	state, err := source.Behind(t.Context(), branch, "main", from)
	if err != nil || state.Behind != 1 || !slices.Equal(state.Conflicts, []string{"a.txt", "gone.txt"}) {
		t.Fatalf("it is %+v, %v", state, err)
	}
	to, state, err := r.FindBase(t.Context(), "main", from)
	if err != nil || state.Behind != 1 || !slices.Equal(state.Conflicts, []string{"a.txt", "gone.txt"}) {
		t.Fatalf("it is %+v, %v", state, err)
	}
	_, result, err := r.Merge(t.Context(), to, from)
	must(t, err)
	if got := read(t, r.Tree()+"/a.txt"); !strings.HasPrefix(got, "<<<<<<< reprise/ours\nours\n|||||||") || !strings.HasSuffix(got, "=======\ntheirs\n>>>>>>> reprise/base\n") {
		t.Errorf("the file has %q", got)
	}
	for i, c := range result.Conflicts {
		if string(c.Sides[1].Data) != "ours\n" || c.Sides[0].Data == nil || (c.Sides[2].Data == nil) != (i == 1) {
			t.Errorf("a conflict is %+v", c)
		}
	}
}

// Marks are found whichever way lines end and wherever the two sides have the file, and
// what a rename carries elsewhere is known to be mixed.
func TestMergeAcrossRenames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("line\n", 30)
	user := newUser(t, map[string]string{"windows.txt": "a\r\nb\r\n", "old.txt": long + "a\n", "ci.yml": long})
	sh(t, user, "branch", "-M", "main")
	withRemote(t, user)
	r := openRun(t, user)
	from := r.Tip()
	ours := map[string]string{"windows.txt": "ours\r\nb\r\n", "old.txt": long + "ours\n", "ci.yml": "ours\n" + long, "mine.txt": "ours\n"}
	for name, text := range ours {
		write(t, filepath.Join(r.Tree(), name), text)
	}
	commit(t, r, "one", keys(ours)...)
	sh(t, user, "checkout", "-q", "main")
	sh(t, user, "mv", "old.txt", "new.txt")
	sh(t, user, "mv", "ci.yml", "moved.yml")
	moveBase(t, user, map[string]string{"windows.txt": "theirs\r\nb\r\n", "new.txt": long + "theirs\n", "theirs.txt": "theirs\n"})
	to, _, err := r.FindBase(t.Context(), "main", from)
	must(t, err)
	_, result, err := r.Merge(t.Context(), to, from)
	must(t, err)
	if got := result.Paths(); !slices.Equal(got, []string{"new.txt", "windows.txt"}) {
		t.Fatalf("the conflicts are %q", got)
	}
	for _, name := range result.Paths() {
		if got := read(t, filepath.Join(r.Tree(), name)); !Marked([]byte(got)) {
			t.Errorf("%s is not taken for marked: %q", name, got)
		}
	}
	if Marked([]byte("a <<<<<<< reprise/ours\n")) {
		t.Error("what only looks similar is taken for a mark")
	}
	if got := result.Mixed; !slices.Equal(got, []string{"moved.yml", "new.txt", "windows.txt"}) {
		t.Errorf("of both sides are %q", got)
	}
}

// Parts that touch no file together come to the same tree, whatever order they go in.
func TestAnyOrderOfPartsGivesTheSameTree(t *testing.T) {
	t.Parallel()
	confluent(t, 3)
}

// confluent has the parts of so many trees come together in two orders each.
func confluent(t *testing.T, trees uint64) {
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	r := openRun(t, user)
	for seed := range trees {
		dice := rand.New(rand.NewPCG(seed, 4))
		const parts = 4
		base := imported(t, user, "", fmt.Sprint("seed ", seed), grown(dice, parts))
		heads, want := make([]string, parts), grown(dice, 0)
		for i := range heads {
			change := drift(dice, i)
			want = append(want, change...)
			heads[i] = imported(t, user, base, fmt.Sprint("part ", i), change)
		}
		all := sh(t, user, "rev-parse", imported(t, user, base, "all at once", want)+"^{tree}")
		for range 2 {
			order, tip := dice.Perm(parts), base
			for _, i := range order {
				next, conflicts, err := r.Combine(t.Context(), base, tip, heads[i], noon, func(string) bool { return false })
				if err != nil || len(conflicts) > 0 {
					t.Fatalf("seed %d: part %d of %v: %+v, %v", seed, i, order, conflicts, err)
				}
				tip = next
			}
			if got := sh(t, user, "rev-parse", tip+"^{tree}"); got != all {
				t.Errorf("seed %d: in the order %v it comes to another tree:\n%s", seed, order, sh(t, user, "diff-tree", "-r", all, got))
			}
		}
	}
}

// mostFiles is how many files the folder of a part has at most.
const mostFiles = 6

// pathOf names a file in the folder of a part.
func pathOf(part, file int) string { return fmt.Sprintf("part-%d/%d.txt", part, file) }

// someLines is a text of which a part has some lines.
func someLines(dice *rand.Rand) string {
	var b strings.Builder
	for range dice.IntN(20) {
		fmt.Fprintf(&b, "line %d\n", dice.IntN(5))
	}
	return b.String()
}

// putFile is the line of git fast-import that writes a file.
func putFile(name, text string, runs bool) string {
	mode := map[bool]string{false: "100644", true: "100755"}[runs]
	return fmt.Sprintf("M %s inline %s\ndata %d\n%s\n", mode, name, len(text), text)
}

// grown is what a tree has before parts begin: some files for each.
func grown(dice *rand.Rand, parts int) (ops []string) {
	for part := range parts {
		for file := range 1 + dice.IntN(mostFiles) {
			ops = append(ops, putFile(pathOf(part, file), someLines(dice), false))
		}
	}
	return ops
}

// drift is what a part changes: it writes, removes, renames and makes programs, in its
// own folder and in a file at the top.
func drift(dice *rand.Rand, part int) (ops []string) {
	ops = []string{putFile(fmt.Sprintf("top-%d", part), someLines(dice), dice.IntN(2) == 0)}
	for file := range mostFiles {
		switch dice.IntN(4) {
		case 0:
			ops = append(ops, putFile(pathOf(part, file), someLines(dice), dice.IntN(2) == 0))
		case 1:
			ops = append(ops, "D "+pathOf(part, file)+"\n")
		case 2:
			ops = append(ops, "D "+pathOf(part, file)+"\n", putFile(pathOf(part, file+mostFiles), someLines(dice), false))
		}
	}
	return ops
}

// imported makes a commit of changes on another one, or of a tree of its own.
func imported(t *testing.T, user, parent, message string, ops []string) string {
	t.Helper()
	from := ""
	if parent != "" {
		from = "from " + parent + "\n"
	}
	const ref = "refs/reprise/test"
	in := fmt.Sprintf("reset %s\ncommit %s\nmark :1\ncommitter A <a@example.com> 0 +0000\ndata %d\n%s\n%s%sget-mark :1\n", ref, ref, len(message), message, from, strings.Join(slices.Clip(ops), ""))
	c := exec.Command("git", "-C", user, "fast-import", "--quiet", "--force", "--cat-blob-fd=1")
	c.Stdin = strings.NewReader(in)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// A tree beside that of the run has its work in commits that no branch names, which
// come together with what went in meanwhile.
func TestSecondParents(t *testing.T) {
	t.Parallel()
	at, long := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), strings.Repeat("line\n", 30)
	for _, tt := range []struct {
		name          string
		theirs        map[string]string // that the lane writes
		ours          map[string]string // that went in meanwhile
		want          map[string]string
		wantConflicts []string
	}{
		{"apart", map[string]string{"b.txt": "lane\n", "new/x": "x"}, map[string]string{"a.txt": "run\n"}, map[string]string{"a.txt": "run\n", "b.txt": "lane\n", "new/x": "x"}, nil},
		{"the same line", map[string]string{"a.txt": "lane\n", "b.txt": "lane\n"}, map[string]string{"a.txt": "run\n"}, map[string]string{"a.txt": "run\n", "b.txt": "lane\n"}, []string{"a.txt"}},
		{"both added", map[string]string{"new": "lane\n"}, map[string]string{"new": "run\n"}, map[string]string{"new": "run\n"}, []string{"new"}},
		{"a union that an attribute asks for", map[string]string{".gitattributes": "* merge=union\n", "a.txt": "lane\n"}, map[string]string{"a.txt": "run\n"}, map[string]string{"a.txt": "run\n"}, []string{"a.txt"}},
		{"bytes", map[string]string{"c.bin": "\x00lane"}, map[string]string{"c.bin": "\x00run"}, map[string]string{"c.bin": "\x00run"}, []string{"c.bin"}},
		{"renamed by one", map[string]string{"a.txt": "", "long.txt": "", "new.txt": long}, map[string]string{"long.txt": long + "run\n"}, map[string]string{"new.txt": long + "run\n"}, nil},
		{"renamed by both", map[string]string{"long.txt": "", "lane.txt": long}, map[string]string{"long.txt": "", "run.txt": long}, map[string]string{"run.txt": long}, []string{"lane.txt", "long.txt", "run.txt"}},
		{"removed by one", map[string]string{"a.txt": "lane\n"}, map[string]string{"a.txt": ""}, map[string]string{"a.txt": ""}, []string{"a.txt"}},
		{"a folder for a file", map[string]string{"a.txt": "", "a.txt/x": "lane\n"}, map[string]string{"a.txt": "run\n"}, map[string]string{"a.txt": "run\n"}, []string{"a.txt"}},
		{"a folder for the file of another", map[string]string{"new": "lane\n"}, map[string]string{"new/x": "run\n"}, map[string]string{"new/x": "run\n"}, []string{"new"}},
		{"a file for the folder of another", map[string]string{"new/x": "lane\n"}, map[string]string{"new": "run\n"}, map[string]string{"new": "run\n"}, []string{"new"}},
		{"a file for a folder", map[string]string{"d/x": "", "d": "lane\n"}, map[string]string{"d/y": "run\n"}, map[string]string{"d/y": "run\n"}, []string{"d"}},
		{"programs", map[string]string{"a.txt": "x:a\n"}, map[string]string{"a.txt": "run\n"}, map[string]string{"a.txt": "x:run\n"}, nil},
		{"what the run's folder has, too", map[string]string{"copy.md": "# Plan\n" + long}, nil, map[string]string{"copy.md": "# Plan\n" + long}, nil},
		{"to a name that is refused", map[string]string{"new/x": "lane\n", "d/z": "lane\n"}, map[string]string{"d/x": "", "ci/x": long}, map[string]string{"new/x": "lane\n"}, []string{"ci/z"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			user := newUser(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.bin": "\x00c", "long.txt": long, "d/x": long})
			r := openRun(t, user)
			plan := ".reprise/issue-7/00_plan/plan.md"
			write(t, filepath.Join(r.Tree(), plan), "# Plan\n"+long)
			base := commit(t, r, "{1}", plan)
			lane := openRun(t, user, func(o *Options) {
				o.Aside, o.Base, o.Root = filepath.Join(user, ".git", "objects"), base, filepath.Join(filepath.Dir(user), "lane")
			})
			branches := sh(t, user, "branch", "--list")

			put(t, lane, tt.theirs)
			write(t, filepath.Join(lane.Tree(), ".reprise/issue-7/04_code.t1/code.md"), "done\n")
			stage := staged(t, lane, allPaths(t, lane))
			head, err := lane.Keep(t.Context(), stage, base, "t1", at)
			must(t, err)
			files, _, err := lane.State(t.Context(), stage)
			must(t, err)
			files[".reprise/issue-7/metadata.json"] = []byte("{2}")
			if _, err := r.Commit(t.Context(), Commit{Message: "beside", Files: files, Parents: []string{head}, Time: at}); err != nil {
				t.Fatal(err)
			}
			if got := sh(t, user, "show", "--format=", "--name-only", "--first-parent", r.Tip()); got != ".reprise/issue-7/04_code.t1/code.md\n.reprise/issue-7/metadata.json" {
				t.Errorf("until it is integrated the branch has of the work:\n%s", got)
			}
			if got := sh(t, user, "branch", "--list"); got != branches {
				t.Errorf("the lane has made branches:\n%s", got)
			}

			put(t, r, tt.ours)
			commit(t, r, "{3}", keys(tt.ours)...)
			merged, conflicts, err := r.Combine(t.Context(), base, r.Tip(), head, at, func(p string) bool { return Under(p, "ci") })
			must(t, err)
			if got := (MergeResult{Conflicts: conflicts}).Paths(); !slices.Equal(got, tt.wantConflicts) {
				t.Errorf("the conflicts are %q, want %q", got, tt.wantConflicts)
			}
			over, err := lane.Overlay(t.Context(), merged, r.Tip(), at)
			must(t, err)
			must(t, lane.MoveTo(t.Context(), over))
			for name, text := range tt.want {
				info, err := os.Lstat(filepath.Join(lane.Tree(), name))
				if text == "" {
					if err == nil {
						t.Errorf("%s is there", name)
					}
					continue
				}
				must(t, err)
				text, runs := strings.CutPrefix(text, "x:")
				if got := read(t, filepath.Join(lane.Tree(), name)); got != text || (info.Mode()&0o100 != 0) != runs {
					t.Errorf("%s has %q, want %q; mode %v", name, got, text, info.Mode())
				}
			}
			if got := read(t, filepath.Join(lane.Tree(), ".reprise/issue-7/metadata.json")); got != "{3}" {
				t.Errorf("the record in the lane is %s", got)
			}
			for _, name := range strings.Fields(sh(t, user, "ls-tree", "-r", "--name-only", merged)) {
				if strings.Contains(name, "~") {
					t.Errorf("there is %s, a name that git has made up", name)
				}
			}
			clean(t, lane)
		})
	}
}

// put writes files into a tree: "" removes one, and x: makes a program.
func put(t *testing.T, r *Repo, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if text == "" {
			must(t, os.Remove(filepath.Join(r.Tree(), name)))
		}
	}
	for name, text := range files {
		text, runs := strings.CutPrefix(text, "x:")
		if text == "" {
			continue
		}
		if filepath.Dir(name) != "." || name == "d" {
			_ = os.Remove(filepath.Join(r.Tree(), filepath.Dir(name))) // a file or an empty folder, if anything
			_ = os.Remove(filepath.Join(r.Tree(), name))
		}
		write(t, filepath.Join(r.Tree(), name), text)
		if runs {
			must(t, os.Chmod(filepath.Join(r.Tree(), name), 0o755))
		}
	}
}

func keys(of map[string]string) (all []string) {
	for name := range of {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// A submodule that both have moved is a conflict: which commit is right, nobody here knows.
func TestPartsThatMoveTheSameSubmodule(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	at := func(commit, file string) string {
		write(t, filepath.Join(user, file), commit)
		sh(t, user, "add", file)
		sh(t, user, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat(commit, 40)+",sub")
		sh(t, user, "commit", "-q", "-m", "the submodule moves")
		return sh(t, user, "rev-parse", "HEAD")
	}
	base := at("1", "a.txt")
	ours := at("2", "ours.txt")
	sh(t, user, "checkout", "-q", "--detach", base)
	theirs := at("3", "theirs.txt")
	r := openRun(t, user)
	merged, conflicts, err := r.Combine(t.Context(), base, ours, theirs, noon, func(string) bool { return false })
	if err != nil || len(conflicts) != 1 || conflicts[0].Path != "sub" || conflicts[0].Sides[1].Data != nil {
		t.Fatalf("the conflicts are %+v, %v", conflicts, err)
	}
	if got := sh(t, user, "ls-tree", merged, "sub"); !strings.Contains(got, strings.Repeat("2", 40)) || sh(t, user, "show", merged+":theirs.txt") != "3" {
		t.Errorf("it has %s", got)
	}
}

// A submodule that the base has moved meanwhile stays where that has it.
func TestPartsBesideASubmodule(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	at := func(commit string) string {
		sh(t, user, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat(commit, 40)+",sub")
		sh(t, user, "commit", "-q", "-m", "the submodule moves")
		return sh(t, user, "rev-parse", "HEAD")
	}
	base, ours := at("1"), at("2")
	sh(t, user, "checkout", "-q", "--detach", base)
	write(t, filepath.Join(user, "b.txt"), "lane\n")
	sh(t, user, "commit", "-q", "-a", "-m", "lane")
	r := openRun(t, user)
	merged, conflicts, err := r.Combine(t.Context(), base, ours, sh(t, user, "rev-parse", "HEAD"), noon, func(string) bool { return false })
	if err != nil || len(conflicts) > 0 {
		t.Fatalf("the conflicts are %+v, %v", conflicts, err)
	}
	if got := sh(t, user, "ls-tree", merged, "sub"); !strings.Contains(got, strings.Repeat("2", 40)) || sh(t, user, "show", merged+":b.txt") != "lane" {
		t.Errorf("it has %s", got)
	}
}
