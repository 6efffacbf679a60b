package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

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
		{"a folder for a file", map[string]string{"a.txt": "", "a.txt/x": "lane\n"}, map[string]string{"a.txt": "run\n"}, map[string]string{"a.txt": "run\n"}, []string{"a.txt", "a.txt/x"}},
		{"a folder for the file of another", map[string]string{"new": "lane\n"}, map[string]string{"new/x": "run\n"}, map[string]string{"new/x": "run\n"}, []string{"new", "new/x"}},
		{"a file for the folder of another", map[string]string{"new/x": "lane\n"}, map[string]string{"new": "run\n"}, map[string]string{"new": "run\n"}, []string{"new", "new/x"}},
		{"a file for a folder", map[string]string{"d/x": "", "d": "lane\n"}, map[string]string{"d/y": "run\n"}, map[string]string{"d/y": "run\n"}, []string{"d", "d/y"}},
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
			stage, err := lane.Stage(t.Context(), allPaths(t, lane))
			must(t, err)
			head, err := lane.Keep(t.Context(), stage, base, "t1", at)
			must(t, err)
			files, _ := lane.State(stage)
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
	if err != nil || len(conflicts) != 1 || conflicts[0].Path != "sub" || conflicts[0].Ours.Data != nil {
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
