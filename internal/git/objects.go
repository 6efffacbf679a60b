package git

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/reprise-ci/reprise/metadata"
)

// object is what git holds under a name; Kind is "" if it holds nothing.
type object struct {
	ID   string
	Kind string
	Data []byte
}

// entry is a file, symbolic link, submodule or folder of a commit or the index. Without an ID there is none.
type entry struct{ Path, Mode, ID string }

// submodule is the mode of a submodule.
const submodule = "160000"

// reader runs a command of git where objects are to be read.
type reader func(ctx context.Context, c call) ([]byte, error)

// lasting says whether names begin with full hashes: what they name never changes.
func lasting(names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !isHash(n[:min(len(n), len(zero))]) })
}

// recalled is what a process has read of what lasts, up to mostKnown bytes.
type recalled struct {
	sync.Map
	size atomic.Int64
}

// mostKnown is small beside what a process needs, and large beside the definitions that it reads again and again.
const mostKnown = 8 << 20

// once has a reader ask for what lasts only once, but for what is not there yet.
func (s *Source) once(r reader) reader {
	if s.known == nil {
		return r
	}
	return func(ctx context.Context, c call) ([]byte, error) {
		key := strings.Join(c.Args, "\x00") + "\n" + c.Stdin
		if known, is := s.known.Load(key); is && c.Lasting {
			return []byte(known.(string)), ctx.Err()
		}
		out, err := r(ctx, c)
		if c.Lasting && err == nil && len(out) < 256<<10 && !bytes.Contains(out, []byte(" missing\n")) && s.known.size.Add(int64(len(key)+len(out))) < mostKnown {
			s.known.Store(key, string(out))
		}
		return out, err
	}
}

// git runs a command that reads nothing.
func (r reader) git(ctx context.Context, args ...string) ([]byte, error) {
	return r(ctx, call{Args: args})
}

// objects gives the objects of the names, one for each.
func (r reader) objects(ctx context.Context, names ...string) ([]object, error) {
	if len(names) == 0 {
		return nil, nil
	}
	for _, name := range names {
		if strings.ContainsAny(name, "\n\x00") {
			return nil, fmt.Errorf("%q holds a line break or a zero byte, no name in git does", name)
		}
	}
	out, err := r(ctx, call{Args: []string{"cat-file", "--batch"}, Stdin: strings.Join(names, "\n") + "\n", Lasting: lasting(names...)})
	if err != nil {
		return nil, err
	}
	all := make([]object, len(names))
	for i, name := range names {
		if all[i], out, err = parseObject(out, name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// sizes gives how many bytes objects have; 0 for what is none.
func (r reader) sizes(ctx context.Context, ids []string) ([]int, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := r(ctx, call{Args: []string{"cat-file", "--batch-check=%(objectsize)"}, Stdin: strings.Join(ids, "\n") + "\n"})
	sizes := make([]int, len(ids))
	for i, line := range strings.Split(string(out), "\n")[:min(len(sizes), strings.Count(string(out), "\n"))] {
		sizes[i], _ = strconv.Atoi(line) // "missing" is none
	}
	return sizes, err
}

// parseObject reads the answer to a name: a line "hash kind size", and the data.
func parseObject(out []byte, name string) (o object, rest []byte, err error) {
	text, rest, _ := bytes.Cut(out, []byte("\n"))
	line := string(text)
	f := strings.Fields(line)
	if line == name+" missing" || line == name+" ambiguous" || len(f) == 2 && isHash(f[0]) && f[1] == "submodule" {
		return object{}, rest, nil // the commit of a submodule is elsewhere
	}
	size := -1
	if len(f) == 3 && isHash(f[0]) {
		size, err = strconv.Atoi(f[2])
	}
	if err != nil || size < 0 || size >= len(rest) {
		return object{}, nil, fmt.Errorf("git cat-file answered %q", line)
	}
	return object{ID: f[0], Kind: f[1], Data: rest[:size:size]}, rest[size+1:], nil // a line break follows
}

// all lists the files of a commit, in the order of the paths.
func (r reader) all(ctx context.Context, commit string) ([]entry, error) {
	return r.entries(ctx, commit, []string{""}, "-r")
}

// entries gives what a commit has at some paths, of which "" is the top. Flags are of git ls-tree.
func (r reader) entries(ctx context.Context, commit string, paths []string, flags ...string) (all []entry, err error) {
	for some := range slices.Chunk(paths, 1000) { // a command takes so many
		args := slices.Concat([]string{"--literal-pathspecs", "ls-tree", "-z", "--full-tree"}, flags, []string{commit, "--"})
		if some[0] != "" {
			args = append(args, some...)
		}
		out, err := r(ctx, call{Args: args, Lasting: lasting(commit)})
		if err != nil {
			return nil, err
		}
		for _, record := range records(out) {
			info, name, _ := strings.Cut(record, "\t")
			if f := strings.Fields(info); len(f) == 3 { // mode, kind, id
				all = append(all, entry{name, f[0], f[2]})
			}
		}
	}
	return all, nil
}

// below gives the files of a folder of a commit by their full paths: none if there is no such folder.
func (r reader) below(ctx context.Context, commit, folder string) (map[string]entry, error) {
	all, err := r.entries(ctx, commit, []string{folder}, "-r")
	files := map[string]entry{}
	for _, e := range all {
		if e.Path != folder {
			files[e.Path] = e
		}
	}
	return files, err
}

// targets are where symbolic links lead, by their paths, but for absolute ones out of the repository.
type targets map[string]string

func (r reader) targets(ctx context.Context, links []entry) (targets, error) {
	var blobs []string
	for _, l := range links {
		blobs = append(blobs, l.ID)
	}
	found, err := r.objects(ctx, blobs...)
	to := targets{}
	for i, o := range found {
		if target := string(o.Data); !path.IsAbs(target) {
			to[links[i].Path] = path.Join(path.Dir(links[i].Path), target)
		}
	}
	return to, err
}

// lead says whether a link leads to what counts, perhaps by other links.
func (t targets) lead(link string, counts func(target string) bool) bool {
	target := t[link]
	for n := 0; n < 10 && target != ""; n++ {
		if counts(target) {
			return true
		}
		target = t[target]
	}
	return false
}

// file reads a file as it is in a commit. The error wraps fs.ErrNotExist where there is none.
func (r reader) file(ctx context.Context, commit, path string) (_ []byte, err error) {
	defer wrap(&err, "read %s at %s", path, commit)
	found, err := r.objects(ctx, commit+":"+path)
	switch {
	case err != nil:
		return nil, err
	case found[0].Kind == "":
		return nil, fs.ErrNotExist
	case found[0].Kind != "blob":
		return nil, errors.New("is a folder, not a file")
	}
	return found[0].Data, nil
}

func (r reader) contains(ctx context.Context, tip, old string) (bool, error) {
	if tip == old {
		return true, nil
	}
	_, err := r.git(ctx, "merge-base", "--is-ancestor", old, tip)
	if exitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// base gives a commit that two have in common; "" if none is here.
func (r reader) base(ctx context.Context, one, other string) (string, error) {
	out, err := r.git(ctx, "merge-base", one, other)
	if exitCode(err) == 1 {
		err = nil
	}
	return strings.TrimSpace(string(out)), err
}

// differ gives what makes one commit, or tree, of another, in the order of the paths.
func (r reader) differ(ctx context.Context, from, to string) ([]op, error) {
	out, err := r(ctx, call{Args: slices.Concat([]string{"diff-tree", "-r"}, rawFlags(), []string{from + "^{tree}", to + "^{tree}"}), Lasting: lasting(from, to)})
	if err != nil {
		return nil, err
	}
	return parseRaw(out)
}

// rawFlags have diff-tree and diff-index print what parseRaw reads.
func rawFlags() []string {
	return []string{"--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=none"}
}

// parseRaw reads records such as ":100644 100755 ID ID M" and a path.
func parseRaw(out []byte) (all []op, err error) {
	for r := records(out); len(r) >= 2; r = r[2:] {
		f := strings.Fields(strings.TrimPrefix(r[0], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("git diff answered %q", r[0])
		}
		o := op{kind: 'D', path: r[1], was: f[0]}
		if f[1] != "000000" {
			o.kind, o.mode, o.id = 'M', f[1], f[3]
		}
		all = append(all, o)
	}
	return all, nil
}

func isHash(s string) bool {
	return len(s) == len(zero) && strings.Trim(s, "0123456789abcdef") == ""
}

// blobID is the name of a file with this content.
func blobID(data []byte) string { return objectID("blob", data) }

func objectID(kind string, data []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// trail reads the trail of a folder from the commit in a history that changed it last, along first parents.
func (r reader) trail(ctx context.Context, commit, folder string) (t metadata.Trail, err error) {
	defer wrap(&err, "read the history of %s at %s", folder, short(commit))
	list, within := []string{"log", "--no-show-signature", "--no-decorate", "--format=%H"}, ":(top,literal)"+folder
	last, err := r.git(ctx, append(list, "-n1", commit, "--", within)...)
	if commit = strings.TrimSpace(string(last)); err != nil || commit == "" {
		return t, errors.Join(err, fs.ErrNotExist)
	}
	all, err := r.git(ctx, append(list, "--reverse", "--first-parent", commit, "--", within)...)
	if err != nil {
		return t, err
	}
	var names []string
	t.Commits, t.Files = strings.Fields(string(all)), map[string]string{}
	for _, c := range t.Commits {
		names = append(names, c+":"+folder+"/"+metadata.File)
	}
	records, err := r.objects(ctx, names...)
	for _, o := range records {
		t.Records = append(t.Records, o.Data)
	}
	files, bad := r.below(ctx, commit, folder)
	for name, e := range files {
		if name = strings.TrimPrefix(name, folder+"/"); name != metadata.StatementFile {
			t.Files[name] = e.Mode + " " + e.ID
		}
	}
	work, wrong := r.work(ctx, commit, folder)
	t.Work = work
	return t, errors.Join(err, bad, wrong)
}

// work gives the tree that a commit has without a folder in one of the top.
func (r reader) work(ctx context.Context, commit, folder string) (string, error) {
	above := path.Dir(folder)
	all, err := r.entries(ctx, commit, []string{""})
	beside, wrong := r.entries(ctx, commit, []string{above + "/"})
	beside = slices.DeleteFunc(beside, func(e entry) bool { return e.Path == folder })
	all = slices.DeleteFunc(all, func(e entry) bool { return e.Path == above && len(beside) == 0 })
	for i := range all {
		if all[i].Path == above {
			all[i].ID = treeID(beside)
		}
	}
	return treeID(all), errors.Join(err, wrong)
}

// treeID is the name of a tree with entries in git's order.
func treeID(entries []entry) string {
	var b bytes.Buffer
	for _, e := range entries {
		id, _ := hex.DecodeString(e.ID) // git gave it
		fmt.Fprintf(&b, "%s %s\x00%s", strings.TrimLeft(e.Mode, "0"), path.Base(e.Path), id)
	}
	return objectID("tree", b.Bytes())
}

// draftRef is what a commit is called that is made to make the statement on it.
const draftRef = "refs/reprise/draft"

// withStatement adds to a revision the statement on the commit that it makes on a parent, unless a shallow clone lacks the run's first.
func (r *Repo) withStatement(ctx context.Context, rev revision, parent string) (revision, error) {
	if rev.states == "" {
		return rev, nil
	}
	draft, err := r.makeCommit(ctx, draftRef, rev, parent)
	if err != nil {
		return rev, err
	}
	t, err := r.reads().trail(ctx, draft, r.opt.State)
	if err != nil {
		return rev, err
	}
	data, err := t.Statement()
	if errors.Is(err, metadata.ErrCut) {
		return rev, nil
	}
	rev.ops = append(slices.Clip(rev.ops), inlined(rev.states, data))
	return rev, err
}

// Trail gives the trail of a folder in the history of a record, as far as it is here, and the tree of a commit without it.
func (s *Source) Trail(ctx context.Context, record, commit, folder string) (metadata.Trail, string, error) {
	t, err := s.offline().trail(ctx, record, folder)
	work, wrong := s.offline().work(ctx, commit, folder)
	return t, work, errors.Join(err, wrong)
}

// CommitOf gives the commit that git takes a name for (fs.ErrNotExist: none), and the issue of the newest run in its history.
func (s *Source) CommitOf(ctx context.Context, name string) (commit, issue string, err error) {
	out, err := s.inspect(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if exitCode(err) == 1 {
		return "", "", fs.ErrNotExist
	}
	if commit = strings.TrimSpace(string(out)); err == nil {
		out, err = s.inspect(ctx, "log", "-n1", "--no-show-signature", "--grep=^Reprise-Issue: ", "--format=%(trailers:key=Reprise-Issue,valueonly)", commit)
	}
	return commit, strings.TrimSpace(string(out)), err
}
