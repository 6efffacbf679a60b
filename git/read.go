package git

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// ReadFile returns the file at path, from the top of the repository, as it is
// in a commit. The commit is given by its full hash, by a full ref, or by the
// name of a branch here or, if there is none here, on origin. The error wraps
// fs.ErrNotExist when there is no such commit or no such file in it.
func (s *Source) ReadFile(ctx context.Context, ref, path string) ([]byte, error) {
	names := candidates(ref)
	if len(s.promisors) > 0 { // where objects are fetched there are no refs
		commit, err := s.resolve(ctx, ref)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		names = []string{commit}
	}
	return readFile(ctx, s.read, names, ref, path)
}

// ReadFile returns the file at path as it is in commit, a full hash. The error
// wraps fs.ErrNotExist when there is no such commit or no such file in it.
func (r *Repo) ReadFile(ctx context.Context, commit, path string) ([]byte, error) {
	if err := r.need(ctx, commit); err != nil {
		return nil, err
	}
	return readFile(ctx, r.gitStdin, []string{commit}, commit, path)
}

// Branches lists the user's branches that are named prefix or lie under it, in
// the order of their names: "reprise" lists reprise/issue-1, "reprise/issue-1"
// does not list reprise/issue-10.
func (s *Source) Branches(ctx context.Context, prefix string) ([]string, error) {
	prefix = strings.TrimSuffix(prefix, "/")
	if strings.ContainsAny(prefix, "*?[\\\x00\n") {
		return nil, fmt.Errorf("%q is not the beginning of a branch name", prefix)
	}
	out, err := s.inspect(ctx, nil, "for-each-ref", "--format=%(refname)", strings.TrimSuffix("refs/heads/"+prefix, "/"))
	if err != nil {
		return nil, fmt.Errorf("list the branches of %s: %w", s.Dir, err)
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		names = append(names, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "refs/heads/"))
	}
	return names, nil
}

// resolve returns the commit that ref stands for, in the sense of ReadFile.
func (s *Source) resolve(ctx context.Context, ref string) (string, error) {
	var ask strings.Builder
	for _, c := range candidates(ref) {
		if err := oneLine(c); err != nil {
			return "", err
		}
		fmt.Fprintf(&ask, "%s^{commit}\n", c)
	}
	out, err := s.inspect(ctx, []byte(ask.String()), "cat-file", "--batch-check=%(objectname)")
	if err != nil {
		return "", fmt.Errorf("find %s: %w", ref, err)
	}
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSuffix(line, "\n"); isHash(line) {
			return line, nil
		}
	}
	return "", fmt.Errorf("%s: no such branch or commit in this repository: %w", ref, fs.ErrNotExist)
}

// candidates are the full names that ref may stand for, best first. Names reach
// git on standard input, where none can pass for an option.
func candidates(ref string) []string {
	if isHash(ref) || strings.HasPrefix(ref, "refs/") {
		return []string{ref}
	}
	return []string{"refs/heads/" + ref, "refs/remotes/origin/" + ref}
}

func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

func oneLine(name string) error {
	if strings.ContainsAny(name, "\n\x00") {
		return fmt.Errorf("%q holds a line break or a zero byte, no name in git does", name)
	}
	return nil
}

type gitFunc func(ctx context.Context, stdin []byte, args ...string) ([]byte, error)

func readFile(ctx context.Context, git gitFunc, refs []string, ref, path string) ([]byte, error) {
	var names []string
	for _, c := range refs {
		if err := oneLine(c + path); err != nil {
			return nil, err
		}
		names = append(names, c+":"+path)
	}
	blobs, err := catFile(ctx, git, names)
	if err != nil {
		return nil, fmt.Errorf("read %s at %s: %w", path, ref, err)
	}
	for _, b := range blobs {
		if b.kind == "blob" {
			return b.data, nil
		}
		if b.kind != "" {
			return nil, fmt.Errorf("read %s at %s: is a folder, not a file", path, ref)
		}
	}
	return nil, fmt.Errorf("read %s at %s: %w", path, ref, fs.ErrNotExist)
}

// object is what git holds under a name; kind is "" if it holds nothing.
type object struct {
	kind string
	data []byte
}

// catFile reads objects by name, one answer per name.
func catFile(ctx context.Context, git gitFunc, names []string) ([]object, error) {
	out, err := git(ctx, []byte(strings.Join(names, "\n")+"\n"), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	objects := make([]object, len(names))
	for i, name := range names {
		line, rest, ok := bytes.Cut(out, []byte("\n"))
		if !ok {
			return nil, io.ErrUnexpectedEOF
		}
		out = rest
		if text := string(line); text == name+" missing" || text == name+" ambiguous" {
			continue
		}
		f := strings.Fields(string(line)) // hash, kind, size
		if len(f) != 3 || !isHash(f[0]) {
			return nil, fmt.Errorf("git cat-file answered %q", line)
		}
		size, err := strconv.Atoi(f[2])
		if err != nil || size+1 > len(out) {
			return nil, io.ErrUnexpectedEOF
		}
		objects[i] = object{kind: f[1], data: out[:size:size]}
		out = out[size+1:]
	}
	return objects, nil
}

func reader(b []byte) io.Reader {
	if b == nil {
		return nil
	}
	return bytes.NewReader(b)
}
