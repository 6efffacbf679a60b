package git

import (
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A tree beside that of the run has its work in commits that no branch names, which
// come together with what went in meanwhile.
func TestSecondParents(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
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
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			user := newUser(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.bin": "\x00c"})
			r := openRun(t, user)
			base := commit(t, r, "{1}")
			lane := openRun(t, user, func(o *Options) {
				o.Aside, o.Base, o.Root = filepath.Join(user, ".git", "objects"), base, filepath.Join(filepath.Dir(user), "lane")
			})
			branches := sh(t, user, "branch", "--list")

			for name, text := range tt.theirs {
				write(t, filepath.Join(lane.Tree(), name), text)
			}
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

			for name, text := range tt.ours {
				write(t, filepath.Join(r.Tree(), name), text)
			}
			commit(t, r, "{3}", keys(tt.ours)...)
			merged, conflicts, err := r.Combine(t.Context(), base, r.Tip(), head, at)
			must(t, err)
			if !slices.Equal(conflicts, tt.wantConflicts) {
				t.Errorf("the conflicts are %q, want %q", conflicts, tt.wantConflicts)
			}
			over, err := lane.Overlay(t.Context(), merged, r.Tip(), at)
			must(t, err)
			must(t, lane.MoveTo(t.Context(), over))
			for name, text := range tt.want {
				if got := read(t, filepath.Join(lane.Tree(), name)); got != text {
					t.Errorf("%s has %q, want %q", name, got, text)
				}
			}
			if got := read(t, filepath.Join(lane.Tree(), ".reprise/issue-7/metadata.json")); got != "{3}" {
				t.Errorf("the record in the lane is %s", got)
			}
			clean(t, lane)
		})
	}
}

func keys(of map[string]string) (all []string) {
	for name := range of {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
