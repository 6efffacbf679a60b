// Package bare is a bare git repository on disk, as GitHub lets people look at it
// and commit to it.
package bare

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Repository is one, by its folder; "" is none, in which nothing is found.
type Repository string

// Ref is what a full name such as refs/heads/main leads to; empty if there is none. It
// is asked for so often that a process each time is felt.
func (r Repository) Ref(name string) string {
	if r == "" {
		return ""
	}
	if data, err := os.ReadFile(filepath.Join(string(r), filepath.FromSlash(name))); err == nil {
		return strings.TrimSpace(string(data))
	}
	packed, _ := os.ReadFile(filepath.Join(string(r), "packed-refs")) // a repository may have none
	for line := range strings.Lines(string(packed)) {
		if sha, packedName, _ := strings.Cut(strings.TrimSpace(line), " "); packedName == name {
			return sha
		}
	}
	return ""
}

// Git gives what a command of git prints.
func (r Repository) Git(args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"--git-dir", string(r)}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}

// Object gives what there is under a name, such as main:README.md.
func (r Repository) Object(name string) (id, kind string, data []byte, found bool) {
	c := exec.Command("git", "--git-dir", string(r), "cat-file", "--batch")
	c.Stdin = strings.NewReader(name + "\n")
	out, _ := c.Output() // what is not there has no answer of this form
	head, data, _ := bytes.Cut(out, []byte("\n"))
	f := strings.Fields(string(head)) // id, kind, size
	if len(f) != 3 {
		return "", "", nil, false
	}
	return f[0], f[1], bytes.TrimSuffix(data, []byte("\n")), true
}

// Ahead reports whether a commit has others behind it that another commit has not, or
// the two do not know each other.
func (r Repository) Ahead(commit, of string) bool {
	n, err := r.Git("rev-list", "--count", of+".."+commit)
	return err != nil || n != "0"
}

// Put commits a file to a branch. Its content is in Base64, as clients send it.
func (r Repository) Put(branch, name, message, content string) error {
	const script = `b=$(base64 -d | git hash-object -w --stdin) && git read-tree "$1" && git update-index --add --cacheinfo "100644,$b,$2" &&
		c=$(git -c user.name=M -c user.email=m@example.com commit-tree -p "$1" -m "$3" "$(git write-tree)") && git update-ref "refs/heads/$1" "$c" && rm "$GIT_INDEX_FILE"`
	c := exec.Command("sh", "-c", script, "sh", branch, name, message)
	c.Env, c.Stdin = append(os.Environ(), "GIT_DIR="+string(r), "GIT_INDEX_FILE="+string(r)+"/notes.index"), strings.NewReader(content)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("commit %s to %s: %w: %s", name, branch, err, out)
	}
	return nil
}

// Create makes a ref, unless it is there. It reports whether there is such a commit.
func (r Repository) Create(ref, commit string) (known bool, err error) {
	if r == "" {
		return false, nil
	}
	if _, err := r.Git("cat-file", "-e", commit+"^{commit}"); err != nil {
		return false, nil
	}
	_, err = r.Git("update-ref", ref, commit, fmt.Sprintf("%040d", 0))
	return true, err
}
