package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/git/lfs"
)

// largeFiles are those of the tip that Git LFS keeps.
type largeFiles struct {
	*tree
	used       bool            // files are given to Git LFS, or may be
	asPointers map[string]bool // paths at which the tree has pointers, and so keeps them
	why        error           // they did not come
}

// inLFS reports whether files are converted on their way into the tree and out
// of it.
func (l *largeFiles) inLFS() bool { return l.used && l.src.lfs.Program != "" }

// usesLFS says whether a .gitattributes gives files to Git LFS.
func (l *largeFiles) usesLFS(ctx context.Context, files []entry) (bool, error) {
	var rules []string
	for _, f := range files {
		if path.Base(f.Path) == ".gitattributes" && strings.HasPrefix(f.Mode, "100") {
			rules = append(rules, f.ID)
		}
	}
	found, err := l.lookUp(ctx, rules...)
	return slices.ContainsFunc(found, func(o object) bool { return bytes.Contains(o.Data, []byte("filter=lfs")) }), err
}

// fill replaces pointers in the tree by their files, which are fetched first if
// they are missing. What stays a pointer is noted, and not tried again.
func (l *largeFiles) fill(ctx context.Context) error {
	if !l.inLFS() {
		return nil
	}
	if err := l.syncIndex(ctx); err != nil {
		return err
	}
	all, err := l.pointers(ctx)
	if err != nil {
		return fmt.Errorf("look for Git LFS: %w", err)
	}
	untried := slices.DeleteFunc(slices.Clone(all), func(p lfs.Pointer) bool { return l.asPointers[p.Path] })
	if slices.ContainsFunc(untried, l.missing) {
		l.fetch(ctx, l.tip)
	}
	var paths []string
	for _, p := range untried {
		if l.src.lfs.Skips || l.missing(p) {
			continue
		}
		if err := l.clearWay(p.Path); err != nil {
			return err
		}
		paths = append(paths, p.Path)
	}
	if err := l.checkOutPaths(ctx, paths); err != nil {
		return err
	}
	l.asPointers = map[string]bool{}
	for _, p := range all {
		if _, still := l.pointerAt(p.Path); still {
			l.asPointers[p.Path] = true
		}
	}
	if !l.opt.DryRun { // which keeps there what it has committed; else they are copies by now
		err = l.emptyStore()
	}
	return errors.Join(err, ctx.Err())
}

// pointers lists the files of the tip that Git LFS keeps and that the tree has
// as the pointers which the tip has.
func (l *largeFiles) pointers(ctx context.Context) ([]lfs.Pointer, error) {
	out, err := l.git(ctx, "ls-files", "-s", "-z", "--", ":(top,attr:filter=lfs)")
	var found []lfs.Pointer
	for _, record := range records(out) {
		info, name, _ := strings.Cut(record, "\t")
		f := strings.Fields(info) // mode, id, stage
		if p, ok := l.pointerAt(name); ok && len(f) == 3 && strings.HasPrefix(f[0], "100") && p.Id == f[1] {
			found = append(found, p)
		}
	}
	return found, err
}

// pointerAt reads the pointer that the tree has at a path, if it has one there.
func (l *largeFiles) pointerAt(name string) (lfs.Pointer, bool) {
	if info, err := l.top.Lstat(name); err != nil || info.Size() > lfs.MaxPointer {
		return lfs.Pointer{}, false
	}
	data, err := l.readState(name)
	p, ok := lfs.ParsePointer(data)
	p.Path, p.Id = name, l.blobID(data)
	return p, ok && err == nil
}

// find gives the path of what a pointer stands for, or "" if it is not here.
func (l *largeFiles) find(p lfs.Pointer) string {
	for _, storage := range []string{l.src.lfs.Storage, l.lfsDir("store")} {
		if p.In(storage) {
			return lfs.ObjectIn(storage, p.Oid)
		}
	}
	return ""
}

func (l *largeFiles) missing(p lfs.Pointer) bool { return p.Size > 0 && l.find(p) == "" }

// held gives the beginning of a file of the tip, see Repo.Held.
func (l *largeFiles) held(ctx context.Context, path string, n int) ([]byte, error) {
	data, err := l.ReadFile(ctx, l.tip, path)
	if p, ok := lfs.ParsePointer(data); err == nil && ok && l.inLFS() {
		if name := l.find(p); name != "" {
			f, err := os.Open(name)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			return io.ReadAll(io.LimitReader(f, int64(n)))
		}
	}
	return data[:min(n, len(data))], err
}

// mark notes at changes which files Git LFS keeps and cannot be committed as
// they are. Without git-lfs that is every file that is no pointer. With it, it
// is a file in place of a pointer whose content is missing here, and a pointer
// to content that the tip does not have.
func (l *largeFiles) mark(ctx context.Context, changes []Change) error {
	if !l.used && !slices.ContainsFunc(changes, func(c Change) bool { return path.Base(c.Path) == ".gitattributes" }) {
		return nil
	}
	var ask strings.Builder
	for _, c := range changes {
		ask.WriteString(c.Path + "\x00")
	}
	out, err := l.gitStdin(ctx, []byte(ask.String()), "check-attr", "-z", "--stdin", "filter")
	known, wrong := l.files(ctx)
	if err := errors.Join(err, wrong); err != nil {
		return fmt.Errorf("look for Git LFS: %w", err)
	}
	kept := map[string]bool{}
	for f := records(out); len(f) >= 3; f = f[3:] { // path, attribute, value
		kept[f[0]] = f[2] == "lfs"
	}
	for i, c := range changes {
		if plain := c.Type == File || c.Type == Executable; !plain || !kept[c.Path] {
			continue
		}
		p, is := l.pointerAt(c.Path)
		switch {
		case l.src.lfs.Program == "":
			changes[i].Large = !is
		case is:
			changes[i].Large = !slices.ContainsFunc(known, func(e entry) bool { return e.ID == p.Id })
		default:
			changes[i].Large = l.asPointers[c.Path]
		}
	}
	return nil
}

// lacks says which files are pointers of Git LFS in the work tree.
func (l *largeFiles) lacks() string {
	const follows = " in the tree of agents and checks, and what an agent writes in place of a pointer is taken back"
	switch {
	case !l.used:
		return ""
	case l.src.lfs.Program == "":
		return "files that are kept with Git LFS are pointers" + follows
	case len(l.asPointers) == 0:
		return ""
	}
	why := "the content is not here, or Git LFS is set up to leave it out"
	if l.why != nil {
		why = fmt.Sprintf("the content could not be fetched: %v", l.why)
	}
	return named(slices.Sorted(maps.Keys(l.asPointers)), "stays a pointer", "stay pointers") + " of Git LFS" + follows + " (" + why + ")"
}

// named gives some of the paths and says what they all are.
func named(paths []string, one, all string) string {
	if len(paths) == 1 {
		return paths[0] + " " + one
	}
	names := strings.Join(paths[:min(5, len(paths))], ", ")
	if more := len(paths) - 5; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return names + " " + all
}

// staged finds the pointers that ops would commit.
func (l *largeFiles) staged(ctx context.Context, ops []op) ([]lfs.Pointer, error) {
	if slices.ContainsFunc(ops, func(o op) bool { return path.Base(o.path) == ".gitattributes" }) {
		l.used = true
	}
	if !l.inLFS() {
		return nil, nil
	}
	return l.among(ctx, ops)
}

// among finds the pointers among objects.
func (l *largeFiles) among(ctx context.Context, ops []op) ([]lfs.Pointer, error) {
	ops = slices.DeleteFunc(slices.Clone(ops), func(o op) bool { return o.kind != 'M' || o.inline })
	var ids []string
	for _, o := range ops {
		ids = append(ids, o.id)
	}
	sizes, err := l.sizes(ctx, ids)
	if err != nil {
		return nil, err
	}
	var small []op
	ids = nil
	for i, o := range ops {
		if sizes[i] > 0 && sizes[i] <= lfs.MaxPointer {
			small, ids = append(small, o), append(ids, o.id)
		}
	}
	blobs, err := l.lookUp(ctx, ids...)
	var pointers []lfs.Pointer
	for i, b := range blobs {
		if p, ok := lfs.ParsePointer(b.Data); ok && b.Kind == "blob" {
			p.Path, p.Id, p.Mode, p.Was = small[i].path, small[i].id, small[i].mode, small[i].was
			pointers = append(pointers, p)
		}
	}
	return pointers, err
}

// isNew reports whether a pointer was made of a file in the tree that the user's
// repository does not have.
func (l *largeFiles) isNew(p lfs.Pointer) bool {
	_, made := os.Lstat(lfs.ObjectIn(l.lfsDir("store"), p.Oid))
	_, known := os.Stat(lfs.ObjectIn(l.src.lfs.Storage, p.Oid))
	return made == nil && known != nil
}

// each gives what new pointers stand for to f: that is what is uploaded.
func (l *largeFiles) each(pointers []lfs.Pointer, f func(Staged) error) error {
	for _, p := range slices.DeleteFunc(slices.Clone(pointers), func(p lfs.Pointer) bool { return !l.isNew(p) }) {
		if p.Size > maxJudged {
			return fmt.Errorf("%s has %d bytes, at most %d can be looked through", p.Path, p.Size, maxJudged)
		}
		data, err := p.Read(l.lfsDir("store"))
		if err != nil {
			return err
		}
		s := stagedOf(p.Path, p.Mode, p.Was)
		s.Data = data
		if err := f(s); err != nil {
			return err
		}
	}
	return nil
}

// keep puts what pointers stand for into the user's repository, before a
// commit names it.
func (l *largeFiles) keep(pointers []lfs.Pointer) error {
	if l.opt.DryRun {
		return nil // nobody else gets the commit
	}
	for _, p := range pointers {
		if !l.isNew(p) {
			continue
		}
		if err := p.Copy(l.lfsDir("store"), l.src.lfs.Storage); err != nil {
			return fmt.Errorf("keep %s: %w", p.Path, err)
		}
	}
	return nil
}

// fetch has git-lfs fetch what a commit has and is not here into the user's
// repository. Without it the files stay pointers.
func (l *largeFiles) fetch(ctx context.Context, commit string) {
	from := l.remote
	if from == nil {
		from = l.src.origin
	}
	switch {
	case l.opt.DryRun || l.src.lfs.Skips:
	case from == nil:
		l.why = errors.New("there is no remote to fetch them from")
	default:
		l.why = l.transfer(ctx, from, "fetch", from.name, commit)
	}
}

// transfer runs a command of git-lfs that reaches the remote.
func (l *largeFiles) transfer(ctx context.Context, with *remote, args ...string) error {
	if err := l.guardLFS(); err != nil {
		return err
	}
	to := l.line(with)
	to.more = append([]setting{{Key: "remote." + with.name + ".url", Value: with.fetch}, {Key: "remote." + with.name + ".pushurl", Value: with.push}}, l.lfs...)
	// It finds its git directory by where it starts: it also works in that of a
	// remote which is a folder, and takes what GIT_DIR names for it.
	_, err := to.do(ctx, call{Dir: l.lfsDir(), How: []string{"-c", "safe.bareRepository=all"}, Args: append([]string{"lfs"}, args...)})
	return err
}

// upload brings to the remote what the pointers stand for in the commits that it
// does not have yet. What is not here is left out: the remote has it, or nobody.
func (l *largeFiles) upload(ctx context.Context) error {
	if !l.inLFS() {
		return nil
	}
	objects, err := l.unsent(ctx)
	for some := range slices.Chunk(objects, 500) {
		if err == nil {
			err = l.transfer(ctx, l.remote, append([]string{"push", "--object-id", l.remote.name}, some...)...)
		}
	}
	if err != nil {
		return fmt.Errorf("upload files of Git LFS: %w", err)
	}
	return nil
}

// unsent lists what the new commits have of Git LFS.
func (l *largeFiles) unsent(ctx context.Context) ([]string, error) {
	there, err := l.src.inspect(ctx, "for-each-ref", "--format=^%(objectname)", "refs/remotes/"+l.remote.name+"/")
	if err != nil {
		return nil, err
	}
	ask := l.tip + "\n" + string(there)
	if l.remoteTip != "" {
		ask += "^" + l.remoteTip + "\n"
	}
	out, err := l.gitStdin(ctx, []byte(ask), "rev-list", "--objects", "--no-object-names", "--ignore-missing",
		fmt.Sprintf("--filter=blob:limit=%d", lfs.MaxPointer+1), "--stdin")
	if err != nil {
		return nil, err
	}
	var ops []op
	for id := range strings.FieldsSeq(string(out)) {
		ops = append(ops, op{kind: 'M', id: id})
	}
	pointers, err := l.among(ctx, ops)
	var oids []string
	for _, p := range pointers {
		if !l.missing(p) && p.Size > 0 {
			oids = append(oids, p.Oid)
		}
	}
	slices.Sort(oids)
	return slices.Compact(oids), err
}
