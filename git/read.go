package git

import (
	"bytes"
	"context"
	"encoding/hex"
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
	return readFile(ctx, s.lookUp, names, ref, path)
}

// ReadFile returns the file at path as it is in commit, a full hash. The error
// wraps fs.ErrNotExist when there is no such commit or no such file in it.
func (r *Repo) ReadFile(ctx context.Context, commit, path string) ([]byte, error) {
	if err := r.need(ctx, commit); err != nil {
		return nil, err
	}
	return readFile(ctx, r.lookUp, []string{commit}, commit, path)
}

// Branches lists the user's branches that are named prefix or lie under it, in
// the order of their names: "reprise" lists reprise/issue-1, "reprise/issue-1"
// does not list reprise/issue-10.
func (s *Source) Branches(ctx context.Context, prefix string) ([]string, error) {
	prefix = strings.TrimSuffix(prefix, "/")
	if strings.ContainsAny(prefix, "*?[\\\x00\n") {
		return nil, fmt.Errorf("%q is not the beginning of a branch name", prefix)
	}
	out, err := s.inspect(ctx, "for-each-ref", "--format=%(refname)", strings.TrimSuffix("refs/heads/"+prefix, "/"))
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
	for _, c := range candidates(ref) {
		found, err := s.store.ask(ctx, c+"^{commit}")
		if err != nil {
			return "", fmt.Errorf("find %s: %w", ref, err)
		}
		if found[0].kind != "" {
			return found[0].id, nil
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

// asker gives the objects of names, one for each.
type asker func(ctx context.Context, names ...string) ([]object, error)

// readFile reads a file as it is in the first of the refs that has it.
func readFile(ctx context.Context, ask asker, refs []string, ref, path string) ([]byte, error) {
	for _, c := range refs {
		found, err := ask(ctx, c+":"+path)
		if err != nil {
			return nil, fmt.Errorf("read %s at %s: %w", path, ref, err)
		}
		switch found[0].kind {
		case "":
		case "blob":
			return found[0].data, nil
		default:
			return nil, fmt.Errorf("read %s at %s: is a folder, not a file", path, ref)
		}
	}
	return nil, fmt.Errorf("read %s at %s: %w", path, ref, fs.ErrNotExist)
}

// below gives the files of a folder of a commit, by their path from the top of
// the repository: none if there is no such folder. commit is a full hash.
func below(ctx context.Context, ask asker, commit, dir string) (map[string]entry, error) {
	files := map[string]entry{}
	type folder struct{ name, path string }
	for todo := []folder{{commit + ":" + dir, dir}}; len(todo) > 0; todo = todo[1:] {
		found, err := ask(ctx, todo[0].name)
		if err != nil {
			return nil, err
		}
		if found[0].kind != "tree" {
			continue
		}
		for rest := found[0].data; len(rest) > 0; {
			info, after, _ := bytes.Cut(rest, []byte{0})
			mode, name, ok := strings.Cut(string(info), " ")
			if !ok || len(after) < len(commit)/2 {
				return nil, fmt.Errorf("%s is no folder that git could have written", todo[0].path)
			}
			id := hex.EncodeToString(after[:len(commit)/2])
			rest = after[len(commit)/2:]
			if p := todo[0].path + "/" + name; mode == "40000" {
				todo = append(todo, folder{id, p})
			} else {
				files[p] = entry{mode: plainMode(mode), id: id}
			}
		}
	}
	return files, nil
}

// plainMode gives a mode as git does today: old ones of files say more.
func plainMode(mode string) string {
	if bits, err := strconv.ParseUint(mode, 8, 32); err == nil && strings.HasPrefix(mode, "100") {
		if bits&0o100 != 0 {
			return "100755"
		}
		return "100644"
	}
	return mode
}

func reader(b []byte) io.Reader {
	if b == nil {
		return nil
	}
	return bytes.NewReader(b)
}
