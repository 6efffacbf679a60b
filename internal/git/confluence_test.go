package git

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

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
