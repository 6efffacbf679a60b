package git

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing/fstest"

	"github.com/reprise-ci/reprise/internal/folders"
)

// ReadFile returns the file at path in a commit: a full hash, a full ref, or a branch here or else on origin. The
// error wraps fs.ErrNotExist when there is no such commit or file.
func (s *Source) ReadFile(ctx context.Context, ref, path string) ([]byte, error) {
	commit, err := s.resolve(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return s.reads().file(ctx, commit, path)
}

// ReadPlain is ReadFile, but the error wraps folders.ErrNoFile for a folder, a submodule or a symbolic link.
func (s *Source) ReadPlain(ctx context.Context, ref, path string) ([]byte, error) {
	commit, err := s.resolve(ctx, ref)
	if err == nil {
		var found []entry
		if found, err = s.reads().entries(ctx, commit, []string{path}); err == nil && len(found) == 1 && !strings.HasPrefix(found[0].Mode, "100") {
			err = folders.ErrNoFile
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s at %s: %w", path, ref, err)
	}
	return s.reads().file(ctx, commit, path)
}

// Name is what git takes for a branch and nothing else: of two things of one name it takes the tag.
func (s *Source) Name(ctx context.Context, branch string) string {
	if tag, _ := s.kept(ctx, "refs/tags/"+branch); tag != "" { // what cannot be read now may be then
		return "heads/" + branch
	}
	return branch
}

// Has reports whether the user has a branch.
func (s *Source) Has(ctx context.Context, branch string) (bool, error) {
	commit, err := s.kept(ctx, "refs/heads/"+branch)
	return commit != "", err
}

// Refs gives the refs that have one of these full names or lie below it, by name: "refs/heads/reprise/issue-1" is not above
// reprise/issue-10.
func (s *Source) Refs(ctx context.Context, names ...string) ([]Ref, error) {
	out, err := s.inspect(ctx, append([]string{"for-each-ref", refFormat}, names...)...)
	if err != nil {
		return nil, fmt.Errorf("list the branches of %s: %w", s.Dir, err)
	}
	return ParseRefs(out), nil
}

// Shelf gives the commit with a folder of a branch (as in ReadFile): its tip or, if it was taken off that, the one
// which a trailer names. The error wraps fs.ErrNotExist where neither is here.
func (s *Source) Shelf(ctx context.Context, ref, folder string) (string, error) {
	commit, err := s.resolve(ctx, ref)
	if err != nil {
		return "", err
	}
	in := shelves{reader: s.reads(), folder: folder, kept: func(ctx context.Context) (string, error) {
		return s.kept(ctx, KeptRefs+filepath.Base(folder))
	}}
	found, err := in.find(ctx, commit)
	if err == nil && found == "" {
		err = fmt.Errorf("%s has no %s: %w", ref, folder, fs.ErrNotExist)
	}
	return found, err
}

// kept gives the commit of a ref under which a record is kept; "" for none.
func (s *Source) kept(ctx context.Context, ref string) (string, error) {
	commit, err := s.resolve(ctx, ref)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return commit, err
}

// Contains reports whether a commit is in the history of another; both are full names.
func (s *Source) Contains(ctx context.Context, commit, older string) (bool, error) {
	return s.offline().contains(ctx, commit, older)
}

// Merged reports whether what is checked out has all commits of another branch, each file that they changed as it is
// there, or commits that made the same changes, as a squash or a rebase does. Files of reprise do not count. A branch is
// named as in ReadFile; of a commit that changed no other file there is nothing to merge.
func (s *Source) Merged(ctx context.Context, branch string) bool {
	git := s.offline()
	tip, err := s.resolve(ctx, branch)
	if err != nil || branch == s.Branch {
		return false
	}
	base, err := git.base(ctx, s.Head, tip)
	if err != nil || base == "" || base == tip {
		return base == tip
	}
	own, err1 := git.differ(ctx, base, tip)
	lacks, err2 := git.differ(ctx, s.Head, tip)
	own = slices.DeleteFunc(own, func(o op) bool { return strings.HasPrefix(o.path, ".reprise/") })
	if err1 != nil || err2 != nil || len(own) == 0 {
		return err1 == nil && err2 == nil && isHash(branch)
	}
	if !slices.ContainsFunc(own, func(o op) bool {
		return slices.ContainsFunc(lacks, func(l op) bool { return l.path == o.path })
	}) {
		return true
	}
	paths := []string{"--"}
	for _, o := range own {
		paths = append(paths, ":(top,literal)"+o.path)
	}
	log := []string{"log", "--no-merges", "--no-show-signature", "--format=commit %H"}
	there := git.changes(ctx, paths, append(log, base+".."+s.Head)...)
	all := func(made []string) bool {
		return len(made) > 0 && !slices.ContainsFunc(made, func(id string) bool { return !slices.Contains(there, id) })
	}
	return all(git.changes(ctx, paths, "diff", base, tip)) || all(git.changes(ctx, paths, append(log, base+".."+tip)...))
}

// changes names what commits changed at some paths, wherever in a file that is; nil where git cannot say.
func (r reader) changes(ctx context.Context, paths []string, command ...string) (ids []string) {
	out, err := r(ctx, call{Limit: mostPatch, Args: slices.Concat(command, diffArgs()[1:], []string{"--patch", "--unified=0", "--no-renames"}, paths)})
	if err == nil {
		out, err = r(ctx, call{Args: []string{"patch-id", "--stable"}, Stdin: string(out)})
	}
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(out)) {
		id, _, _ := strings.Cut(line, " ")
		ids = append(ids, id)
	}
	return ids
}

// resolve returns the commit that ref stands for, in the sense of ReadFile.
func (s *Source) resolve(ctx context.Context, ref string) (string, error) {
	var names []string
	for _, c := range candidates(ref) {
		names = append(names, c+"^{commit}")
	}
	found, err := s.offline().objects(ctx, names...)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", ref, err)
	}
	for _, o := range found {
		if o.Kind != "" {
			return o.ID, nil
		}
	}
	return "", fmt.Errorf("%s: no such branch or commit in this repository: %w", ref, fs.ErrNotExist)
}

// candidates are the full names of ref, best first. Git gets them on standard input: none passes for an option.
func candidates(ref string) []string {
	if isHash(ref) || strings.HasPrefix(ref, "refs/") {
		return []string{ref}
	}
	return []string{"refs/heads/" + ref, "refs/remotes/origin/" + ref}
}

// FS returns a folder of a commit, given as in ReadFile, with regular files alone; nil where there is none.
func (s *Source) FS(ctx context.Context, ref, dir string) (_ fs.FS, err error) {
	defer wrap(&err, "read %s in %s", dir, ref)
	if ref == "" {
		return nil, nil // nothing is committed
	}
	commit, err := s.resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	files, err := s.filesBelow(ctx, commit, dir, 0)
	all := fstest.MapFS{}
	for p, data := range files {
		name := strings.TrimPrefix(p, dir+"/")
		switch {
		case data != nil:
			all[name] = &fstest.MapFile{Data: data}
		case Under(dir, ".github"): // where a link is a mistake
			all[name] = &fstest.MapFile{Mode: fs.ModeIrregular}
		}
	}
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all, nil
}

// filesBelow reads the regular files of a folder as a commit has it, of at most so many bytes together; 0: of any size.
// Links and submodules are nil.
func (s *Source) filesBelow(ctx context.Context, commit, dir string, most int) (map[string][]byte, error) {
	found, err := s.reads().below(ctx, commit, dir)
	var names, blobs []string
	files := map[string][]byte{}
	for _, p := range slices.Sorted(maps.Keys(found)) {
		if e := found[p]; strings.HasPrefix(e.Mode, "100") {
			names, blobs = append(names, p), append(blobs, e.ID)
		} else {
			files[p] = nil
		}
	}
	if err == nil && most > 0 {
		var sizes []int
		sum := 0
		sizes, err = s.reads().sizes(ctx, blobs)
		for _, size := range sizes {
			sum += size
		}
		if sum > most {
			err = fmt.Errorf("its files have more than %d bytes together", most)
		}
	}
	if err != nil {
		return files, err
	}
	objects, err := s.reads().objects(ctx, blobs...)
	for i, o := range objects {
		files[names[i]] = append([]byte{}, o.Data...) // also an empty one is not nil
	}
	return files, err
}

// Patches gives what commits of ref that from lacks, with a trailer of the key, changed besides exclude; the oldest
// first, cut after 32 MB. Ref is given as in ReadFile. The error wraps
// fs.ErrNotExist where a commit is not here.
func (s *Source) Patches(ctx context.Context, from, ref, key string, exclude ...string) ([]CommitPatch, error) {
	mark := rand.Text() // no file can have it, so none can pass for a commit
	out, err := s.compare(ctx, from, ref, []string{
		"log", "--reverse", "--diff-merges=off", "--no-show-signature", "--no-decorate", "--full-history",
		"--patch", "--format=" + mark + "%H %(trailers:key=" + key + ",valueonly,separator=%x20)",
	}, exclude)
	if err != nil {
		return nil, fmt.Errorf("list what the commits of %s changed: %w", ref, err)
	}
	return parsePatches(out, mark), nil
}

// Difference gives how ref differs from the commit from, as Patches gives what commits changed.
func (s *Source) Difference(ctx context.Context, from, ref string, exclude ...string) (CommitPatch, error) {
	out, err := s.compare(ctx, from, ref, []string{"diff", "--patch"}, exclude)
	if err != nil {
		return CommitPatch{}, fmt.Errorf("compare %s with where it began: %w", ref, err)
	}
	return CommitPatch{Text: string(out[:min(len(out), mostPatch)]), Cut: len(out) > mostPatch}, nil
}

// ChangedFile is a file that was changed, and how many lines of it; binary files have none.
type ChangedFile struct {
	Path           string // after the change
	Added, Deleted int
}

// Changed counts what Difference shows.
func (s *Source) Changed(ctx context.Context, from, ref string, exclude ...string) ([]ChangedFile, error) {
	out, err := s.compare(ctx, from, ref, []string{"diff", "--numstat", "-z"}, exclude)
	if err != nil {
		return nil, err
	}
	return parseCounts(out)
}

// parseCounts reads what --numstat prints with -z.
func parseCounts(out []byte) (all []ChangedFile, err error) {
	for rest := string(out); rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\x00")
		f := strings.SplitN(line, "\t", 3)
		if len(f) < 3 {
			return nil, fmt.Errorf("git counts lines in a form that is not known: %.100q", line)
		}
		c := ChangedFile{Path: f[2]}
		if c.Path == "" { // renamed: the old and the new name follow
			_, rest, _ = strings.Cut(rest, "\x00")
			c.Path, rest, _ = strings.Cut(rest, "\x00")
		}
		c.Added, _ = strconv.Atoi(f[0]) // "-" for a binary file
		c.Deleted, _ = strconv.Atoi(f[1])
		all = append(all, c)
	}
	return all, nil
}

// compare has git print patches of what is in ref and not in the commit from.
func (s *Source) compare(ctx context.Context, from, ref string, args, exclude []string) ([]byte, error) {
	commits := []string{from, ref}
	for i, name := range commits {
		var err error
		if commits[i], err = s.resolve(ctx, name); err != nil {
			return nil, err
		}
	}
	return s.reads()(ctx, call{Args: comparing(args, []string{strings.Join(commits, "..")}, exclude), Limit: mostPatch + 1})
}

// Submodules lists the paths of submodules in the commit that is checked out.
func (s *Source) Submodules(ctx context.Context) (paths []string, err error) {
	all, err := s.reads().all(ctx, s.Head)
	if err != nil {
		return nil, fmt.Errorf("look for submodules: %w", err)
	}
	for _, e := range all {
		if e.Mode == submodule {
			paths = append(paths, e.Path)
		}
	}
	return paths, nil
}

// Filters names those that .gitattributes of the commit that is checked out gives files to, such as lfs.
func (s *Source) Filters(ctx context.Context) ([]string, error) {
	return s.reads().filters(ctx, s.Head)
}

// Sparse says whether only a part of the files is checked out.
func (s *Source) Sparse() bool { return s.config.Get("core.sparsecheckout") == "true" }

// mostFetched is how many bytes FetchFiles takes.
const mostFetched = 4 << 20

// FetchFiles gives the commit that the repository at an address, which may be a path from top, has at a ref, and the files
// of a folder there by their paths. It fetches that one commit as the user's own git would, and neither runs nor checks
// out anything of it. Links and submodules in the folder are refused.
func FetchFiles(ctx context.Context, top, address, ref, folder string) (commit string, files map[string][]byte, err error) {
	defer wrap(&err, "take %s of %s", ref, address)
	dir, err := os.MkdirTemp("", "reprise-fetch-")
	if err != nil {
		return "", nil, err
	}
	defer os.RemoveAll(dir)
	s := &Source{CommonDir: dir, env: takeEnviron(), known: &recalled{}}
	if _, err := s.inspect(ctx, "init", "--quiet", "--bare", "--template="); err != nil {
		return "", nil, err
	}
	const into = "refs/reprise/fetched"
	fetch := s.inspection(append(FetchArgs(), "--depth=1", "--end-of-options", address, "+"+ref+":"+into)...)
	fetch.Dir, fetch.Memory = top, memory
	fetch.Env = append(s.env.discovery(), "GIT_DIR="+dir, "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh")
	_, err = fetch.do(ctx)
	if failed, is := errors.AsType[*Error](err); is && ctx.Err() == nil {
		err = errors.New(failed.Last()) // no run has to do with it
	}
	if err == nil {
		commit, err = s.resolve(ctx, into)
	}
	if err != nil {
		return "", nil, err
	}
	files, err = s.filesBelow(ctx, commit, folder, mostFetched)
	for p, data := range files {
		if data == nil {
			return "", nil, fmt.Errorf("%q is a link or a submodule: nothing is taken from a folder that has one", p)
		}
	}
	return commit, files, err
}
