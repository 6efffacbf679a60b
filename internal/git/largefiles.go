package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// inLFS reports whether files are converted on their way into the tree and out of it.
func (r *Repo) inLFS() bool { return r.largeUsed && r.src.lfs.Program != "" }

// fillLarge replaces pointers in the tree by their files, fetched if missing. What stays a pointer is not tried again.
func (r *Repo) fillLarge(ctx context.Context) error {
	if !r.inLFS() {
		return nil
	}
	all, err := r.pointers(ctx)
	if err != nil {
		return fmt.Errorf("look for Git LFS: %w", err)
	}
	untried := slices.DeleteFunc(slices.Clone(all), func(p pointer) bool { return r.asPointers[p.path] })
	if slices.ContainsFunc(untried, r.missing) {
		r.fetchLarge(ctx, r.tip)
	}
	var paths []string
	for _, p := range untried {
		if r.src.lfs.Skips || r.missing(p) {
			continue
		}
		if err := r.clearWay(p.path); err != nil {
			return err
		}
		paths = append(paths, p.path)
	}
	if err := r.checkOutPaths(ctx, nil, paths); err != nil {
		return err
	}
	r.asPointers = map[string]bool{}
	for _, p := range all {
		if _, still := r.pointerAt(p.path); still {
			r.asPointers[p.path] = true
		}
	}
	if !r.opt.DryRun { // which keeps there what it has committed; else they are copies by now
		err = r.emptyStore()
	}
	return errors.Join(err, ctx.Err())
}

// pointers lists the files of the tip in Git LFS that the tree has as the tip's own pointers.
func (r *Repo) pointers(ctx context.Context) (found []pointer, err error) {
	out, err := r.git(ctx, "ls-files", "-s", "-z", "--", ":(top,attr:filter=lfs)")
	for _, record := range records(out) {
		info, name, _ := strings.Cut(record, "\t")
		f := strings.Fields(info) // mode, id, stage
		if p, ok := r.pointerAt(name); ok && len(f) == 3 && strings.HasPrefix(f[0], "100") && p.id == f[1] {
			found = append(found, p)
		}
	}
	return found, err
}

func (r *Repo) pointerAt(name string) (pointer, bool) {
	if info, err := r.top.Lstat(name); err != nil || info.Size() > maxPointer {
		return pointer{}, false
	}
	data, err := r.readState(name)
	p, ok := parsePointer(data)
	p.path, p.id = name, blobID(data)
	return p, ok && err == nil
}

func (r *Repo) missing(p pointer) bool {
	return p.size > 0 && !p.in(r.src.lfs.Storage) && !p.in(r.lfsDir("store"))
}

// markLarge sets Change.Large and Change.Filter.
func (r *Repo) markLarge(ctx context.Context, changes []Change) error {
	if !r.largeUsed && len(r.filters) == 0 && !slices.ContainsFunc(changes, func(c Change) bool { return path.Base(c.Path) == ".gitattributes" }) {
		return nil
	}
	var ask strings.Builder
	for _, c := range changes {
		ask.WriteString(c.Path + "\x00")
	}
	out, err := r.gitCall(ctx, call{
		Env:   []string{"GIT_DIR=" + r.src.CommonDir}, // that of the run has no encodings, see prepare
		How:   []string{"-c", "core.attributesFile=" + r.src.ownAttributes()[1]},
		Stdin: ask.String(), Args: []string{"check-attr", "-z", "--stdin", "filter", strings.TrimSuffix(encodingOf, "=")},
	})
	known, wrong := r.files(ctx)
	if err := errors.Join(err, wrong); err != nil {
		return fmt.Errorf("look for Git LFS: %w", err)
	}
	filter := map[string]string{}
	for f := records(out); len(f) >= 3; f = f[3:] { // path, attribute, value
		switch {
		case slices.Contains([]string{"unspecified", "unset", "set", "UTF-8"}, f[2]):
		case f[1] == "filter":
			filter[f[0]] = f[2]
		default:
			filter[f[0]] = encodingOf + f[2]
		}
	}
	gone := map[string]string{} // the filters of what is gone, by what it is in commits
	for _, c := range changes {
		if i := slices.IndexFunc(known, func(e entry) bool { return e.Path == c.Path }); i >= 0 && c.Type == None && filter[c.Path] != "" {
			gone[known[i].ID] = filter[c.Path]
		}
	}
	for i, c := range changes {
		name := filter[c.Path]
		plain := c.Type == File || c.Type == Executable
		if plain && name == "" && len(gone) > 0 && c.Was == None {
			data, _ := r.readState(c.Path)         // one that cannot be read is refused for that
			changes[i].Filter = gone[blobID(data)] // moved to where nothing would convert it back
		}
		if !plain || name == "" {
			continue
		}
		p, is := r.pointerAt(c.Path)
		switch {
		case name != "lfs":
			changes[i].Filter = name
		case r.src.lfs.Program == "":
			changes[i].Large = !is
		case is:
			changes[i].Large = !slices.ContainsFunc(known, func(e entry) bool { return e.ID == p.id })
		default:
			changes[i].Large = r.asPointers[c.Path]
		}
	}
	return nil
}

func (r *Repo) lackLarge() string {
	const follows = " in the tree of agents and checks, and what an agent writes in place of a pointer is taken back"
	switch {
	case !r.largeUsed:
		return ""
	case r.src.lfs.Program == "":
		return "files that are kept with Git LFS are pointers" + follows
	case len(r.asPointers) == 0:
		return ""
	}
	why := "the content is not here, or Git LFS is set up to leave it out"
	if r.largeFailed != nil {
		why = fmt.Sprintf("the content could not be fetched: %v", r.largeFailed)
	}
	return named(slices.Sorted(maps.Keys(r.asPointers)), "stays a pointer", "stay pointers") + " of Git LFS" + follows + " (" + why + ")"
}

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

func (r *Repo) pointersAmong(ctx context.Context, ops []op) (pointers []pointer, err error) {
	ops = slices.DeleteFunc(slices.Clone(ops), func(o op) bool { return o.kind != 'M' || o.inline })
	sizes, err := r.reads().sizes(ctx, blobsOf(ops))
	var small []op
	for i, size := range sizes {
		if size > 0 && size <= maxPointer {
			small = append(small, ops[i])
		}
	}
	if err != nil {
		return nil, err
	}
	found, err := r.reads().objects(ctx, blobsOf(small)...)
	for i, o := range found {
		if p, ok := parsePointer(o.Data); ok {
			p.op = small[i]
			pointers = append(pointers, p)
		}
	}
	return pointers, err
}

// newLarge gives the pointers among ops to what the user's repository lacks: made of files in the tree, it lies in the store.
func (r *Repo) newLarge(ctx context.Context, ops []op) ([]pointer, error) {
	r.largeUsed = r.largeUsed || slices.ContainsFunc(ops, func(o op) bool { return path.Base(o.path) == ".gitattributes" })
	if !r.inLFS() {
		return nil, nil
	}
	all, err := r.pointersAmong(ctx, ops)
	return slices.DeleteFunc(all, func(p pointer) bool {
		return p.in(r.src.lfs.Storage) || !p.in(r.lfsDir("store"))
	}), err
}

// eachLarge gives f what new pointers among ops stand for: that is what is uploaded.
func (r *Repo) eachLarge(ctx context.Context, ops []op, f func(p pointer, data []byte) error) error {
	all, err := r.newLarge(ctx, ops)
	for _, p := range all {
		var data []byte
		if err == nil {
			data, err = p.read(r.lfsDir("store"))
		}
		if err == nil {
			err = f(p, data)
		}
	}
	return err
}

// keepLarge gives the user's repository what pointers among ops stand for before a commit names it; not after a dry run.
func (r *Repo) keepLarge(ctx context.Context, ops []op) error {
	if r.opt.DryRun {
		return nil
	}
	return r.eachLarge(ctx, ops, func(p pointer, data []byte) (err error) {
		defer wrap(&err, "keep %s", p.path)
		return folders.PutFile(largeFile(r.src.lfs.Storage, p.oid), data)
	})
}

// fetchLarge has git-lfs fetch what a commit lacks here into the user's repository; else files stay pointers.
func (r *Repo) fetchLarge(ctx context.Context, commit string) {
	from := cmp.Or(r.remote, r.src.origin)
	switch {
	case r.opt.DryRun || r.src.lfs.Skips:
	case from == nil:
		r.largeFailed = errors.New("there is no remote to fetch them from")
	default:
		r.largeFailed = r.transfer(ctx, from, "fetch", from.name, commit)
	}
}

// transfer runs a command of git-lfs that reaches the remote.
func (r *Repo) transfer(ctx context.Context, with *remote, args ...string) error {
	if err := r.guardLFS(); err != nil {
		return err
	}
	to := r.line(with)
	to.more = append([]setting{{Key: "remote." + with.name + ".url", Value: with.fetch}, {Key: "remote." + with.name + ".pushurl", Value: with.push}}, r.lfs...)
	// It finds its git directory by where it starts: it also works in that of a
	// remote which is a folder, and takes what GIT_DIR names for it.
	_, err := to.do(ctx, call{Dir: r.lfsDir(), How: []string{"-c", "safe.bareRepository=all"}, Args: append([]string{"lfs"}, args...)})
	return err
}

// uploadLarge sends what pointers of new commits stand for. What is not here, the remote has, or nobody.
func (r *Repo) uploadLarge(ctx context.Context) error {
	if !r.inLFS() {
		return nil
	}
	objects, err := r.unsent(ctx)
	for some := range slices.Chunk(objects, 500) {
		if err == nil {
			err = r.transfer(ctx, r.remote, append([]string{"push", "--object-id", r.remote.name}, some...)...)
		}
	}
	if err != nil {
		return fmt.Errorf("upload files of Git LFS: %w", err)
	}
	return nil
}

// unsent lists what the new commits have of Git LFS.
func (r *Repo) unsent(ctx context.Context) (oids []string, err error) {
	there, err := r.src.inspect(ctx, "for-each-ref", "--format=^%(objectname)", "refs/remotes/"+r.remote.name+"/")
	if err != nil {
		return nil, err
	}
	ask := r.tip + "\n" + string(there)
	if r.remoteTip != "" {
		ask += "^" + r.remoteTip + "\n"
	}
	out, err := r.gitCall(ctx, call{Stdin: ask, Args: []string{
		"rev-list", "--objects", "--no-object-names", "--ignore-missing", fmt.Sprintf("--filter=blob:limit=%d", maxPointer+1), "--stdin",
	}})
	if err != nil {
		return nil, err
	}
	var ops []op
	for id := range strings.FieldsSeq(string(out)) {
		ops = append(ops, op{kind: 'M', id: id})
	}
	pointers, err := r.pointersAmong(ctx, ops)
	for _, p := range pointers {
		if p.size > 0 && !r.missing(p) && !slices.Contains(oids, p.oid) {
			oids = append(oids, p.oid)
		}
	}
	return oids, err
}
