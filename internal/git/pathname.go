package git

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// checkPath refuses what must not be committed by that name.
func checkPath(p string) error {
	if err := checkPathName(p); err != nil {
		return &Unfit{p, err}
	}
	return nil
}

// Unfit says that a path is not committed, and why.
type Unfit struct {
	Path string
	Err  error
}

// Error says what is wrong with the path.
func (u *Unfit) Error() string { return u.Err.Error() }

func checkPathName(p string) error {
	if i := strings.IndexFunc(p, func(c rune) bool { return c < ' ' || c == 0x7f }); i >= 0 {
		return fmt.Errorf("%q: a name with a control character is not committed: rename the file", p)
	}
	if p == "" || p == "." || p != path.Clean(p) || path.IsAbs(p) || p == ".." || strings.HasPrefix(p, "../") {
		return fmt.Errorf("%q is not a clean path from the top of the repository", p)
	}
	for part := range strings.SplitSeq(p, "/") {
		// Other systems take these names for .git as well.
		name := strings.ToLower(strings.TrimRight(part, ". "))
		if name == ".git" || name == "git~1" {
			return fmt.Errorf("%q lies in a .git folder, which is never committed", p)
		}
	}
	return nil
}

// Under says whether p is dir or lies in it. Nothing lies under "".
func Under(p, dir string) bool {
	rest, ok := strings.CutPrefix(p, dir)
	return ok && dir != "" && (rest == "" || rest[0] == '/')
}

// underAny says whether p is one of dirs or lies in one.
func underAny(p string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return Under(p, strings.TrimSuffix(dir, "/")) })
}

// overlap says whether one of the paths is, or contains, or lies in, one of the
// others.
func overlap(a, b []string) bool {
	seen := map[string]bool{}
	for _, p := range a {
		for ; p != "."; p = path.Dir(p) {
			seen[p] = true
		}
	}
	whole := map[string]bool{}
	for _, p := range a {
		whole[p] = true
	}
	for _, p := range b {
		if seen[p] {
			return true
		}
		for p = path.Dir(p); p != "."; p = path.Dir(p) {
			if whole[p] {
				return true
			}
		}
	}
	return false
}

// records splits what git prints with -z.
func records(out []byte) []string {
	text := strings.TrimSuffix(string(out), "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}

// quotePath writes a path the way fast-import and lists of object folders read it.
// Control characters have been refused before.
func quotePath(p string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p) + `"`
}

// EscapeGlob writes a path where git expects a pattern.
func EscapeGlob(p string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(p)
}
