package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/renameio/v2"
)

// large is what Git LFS keeps of the tip.
type large struct {
	used    bool            // files are given to Git LFS, or may be
	blobs   map[string]bool // of the files that are given to it
	left    map[string]bool // paths at which the tree has pointers, and so keeps them
	fetched string          // commit whose files were asked for
	why     error           // they did not come
}

// pointer is what is committed in place of a file that Git LFS keeps.
type pointer struct {
	path string
	id   string // of the blob
	mode string
	was  string // mode in the tip

	oid  string // SHA-256 of the file
	size int64  // of the file, in bytes
}

// maxPointer is more than any pointer of Git LFS has, in bytes.
const maxPointer = 1024

var pointerForm = regexp.MustCompile(`(?s)\Aversion https://git-lfs\.github\.com/spec/v1\n(?:.*\n)?oid sha256:([0-9a-f]{64})\nsize ([0-9]{1,18})\n`)

// parsePointer reads a pointer, if that is what text is.
func parsePointer(text []byte) (pointer, bool) {
	if len(text) > maxPointer {
		return pointer{}, false
	}
	m := pointerForm.FindSubmatch(text)
	if m == nil {
		return pointer{}, false
	}
	size, err := strconv.ParseInt(string(m[2]), 10, 64)
	return pointer{oid: string(m[1]), size: size}, err == nil
}

// inLFS reports whether files are converted on their way into the tree and out
// of it.
func (r *Repo) inLFS() bool { return r.large.used && r.src.lfs != "" }

// fill puts files in the place of the pointers that the tree has for them, which
// are fetched first where they are missing. What stays a pointer is noted, and
// not tried again.
func (r *Repo) fill(ctx context.Context) error {
	if !r.inLFS() {
		return nil
	}
	if err := r.syncIndex(ctx); err != nil {
		return err
	}
	all, err := r.pointers(ctx)
	if err != nil {
		return fmt.Errorf("look for Git LFS: %w", err)
	}
	untried := slices.DeleteFunc(slices.Clone(all), func(p pointer) bool { return r.large.left[p.path] })
	if slices.ContainsFunc(untried, r.missing) {
		r.fetchLarge(ctx, r.tip)
	}
	var paths []string
	for _, p := range untried {
		if r.src.skipsContent() || r.missing(p) {
			continue
		}
		if err := r.clearWay(p.path); err != nil {
			return err
		}
		paths = append(paths, p.path)
	}
	if err := r.checkOutPaths(ctx, paths); err != nil {
		return err
	}
	r.large.left = map[string]bool{}
	for _, p := range all {
		if _, still := r.pointerAt(p.path); still {
			r.large.left[p.path] = true
		}
	}
	return ctx.Err()
}

// refill is fill between two calls: an agent may have put pointers back, and what
// else it put in their place was converted and is not needed.
func (r *Repo) refill(ctx context.Context) error {
	if !r.inLFS() {
		return nil
	}
	if !r.opt.Scratch { // which keeps there what it has committed
		if err := os.RemoveAll(r.lfsDir("store")); err != nil {
			return err
		}
	}
	return r.fill(ctx)
}

// pointers lists the files of the tip that Git LFS keeps and that the tree has
// as the pointers which the tip has.
func (r *Repo) pointers(ctx context.Context) ([]pointer, error) {
	out, err := r.git(ctx, "ls-files", "-s", "-z", "--", ":(top,attr:filter=lfs)")
	if err != nil {
		return nil, err
	}
	r.large.blobs = map[string]bool{}
	var found []pointer
	for _, record := range records(out) {
		info, name, _ := strings.Cut(record, "\t")
		f := strings.Fields(info) // mode, id, stage
		if len(f) != 3 || f[0] != "100644" && f[0] != "100755" {
			continue
		}
		r.large.blobs[f[1]] = true
		if p, ok := r.pointerAt(name); ok && p.id == f[1] {
			found = append(found, p)
		}
	}
	return found, nil
}

// pointerAt reads the pointer that the tree has at a path, if it has one there.
func (r *Repo) pointerAt(name string) (pointer, bool) {
	if info, err := r.top.Lstat(name); err != nil || info.Size() > maxPointer {
		return pointer{}, false
	}
	data, err := r.readState(name)
	p, ok := parsePointer(data)
	p.path, p.id = name, r.blobID(data)
	return p, ok && err == nil
}

// find gives the path of what a pointer stands for, or "" if it is not here.
func (r *Repo) find(p pointer) string {
	for _, storage := range []string{r.lfsDir("store"), r.src.storage()} {
		name := inObjects(storage, p.oid)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() == p.size {
			return name
		}
	}
	return ""
}

func (r *Repo) missing(p pointer) bool { return p.size > 0 && r.find(p) == "" }

// fetchLarge has git-lfs fetch what a commit has and is not here into the user's
// repository, once. Without it the files stay pointers.
func (r *Repo) fetchLarge(ctx context.Context, commit string) {
	from := r.remote
	if from == nil {
		from = r.src.origin
	}
	if r.opt.Scratch || r.large.fetched == commit || r.src.skipsContent() {
		return
	}
	r.large.fetched = commit
	if from == nil {
		r.large.why = errors.New("there is no remote to fetch them from")
		return
	}
	_, r.large.why = r.talkLarge(ctx, from, "fetch", from.name, commit)
}

// talkLarge runs a command of git-lfs that reaches the remote.
func (r *Repo) talkLarge(ctx context.Context, with *remote, args ...string) ([]byte, error) {
	if err := r.guardLFS(); err != nil {
		return nil, err
	}
	l := r.line(with)
	l.more = append([]setting{{"remote." + with.name + ".url", with.fetch}, {"remote." + with.name + ".pushurl", with.push}}, r.lfs...)
	// It finds its git directory by where it starts: it also works in that of a
	// remote which is a folder, and takes what GIT_DIR names for it.
	return l.do(ctx, call{dir: r.lfsDir(), how: []string{"-c", "safe.bareRepository=all"}, args: append([]string{"lfs"}, args...)})
}

// upload brings to the remote what the pointers stand for in the commits that it
// does not have yet. What is not here is left out: the remote has it, or nobody.
func (r *Repo) upload(ctx context.Context) error {
	if !r.inLFS() {
		return nil
	}
	objects, err := r.unsent(ctx)
	for some := range slices.Chunk(objects, 500) {
		if err == nil {
			_, err = r.talkLarge(ctx, r.remote, append([]string{"push", "--object-id", r.remote.name}, some...)...)
		}
	}
	if err != nil {
		return fmt.Errorf("upload files of Git LFS: %w", err)
	}
	return nil
}

// unsent lists what the new commits have of Git LFS.
func (r *Repo) unsent(ctx context.Context) ([]string, error) {
	there, err := r.src.inspect(ctx, "for-each-ref", "--format=^%(objectname)", "refs/remotes/"+r.remote.name+"/")
	if err != nil {
		return nil, err
	}
	ask := r.tip + "\n" + string(there)
	if r.theirs != "" {
		ask += "^" + r.theirs + "\n"
	}
	out, err := r.gitStdin(ctx, []byte(ask), "rev-list", "--objects", "--no-object-names", "--ignore-missing",
		fmt.Sprintf("--filter=blob:limit=%d", maxPointer+1), "--stdin")
	if err != nil {
		return nil, err
	}
	var ops []op
	for id := range strings.Lines(string(out)) {
		ops = append(ops, op{kind: 'M', id: strings.TrimSpace(id)})
	}
	pointers, err := r.among(ctx, ops)
	var oids []string
	for _, p := range pointers {
		if !r.missing(p) && p.size > 0 {
			oids = append(oids, p.oid)
		}
	}
	slices.Sort(oids)
	return slices.Compact(oids), err
}

// among finds the pointers among objects.
func (r *Repo) among(ctx context.Context, ops []op) ([]pointer, error) {
	var ask strings.Builder
	var asked []op
	for _, o := range ops {
		if o.kind == 'M' && !o.inline {
			ask.WriteString(o.id + "\n")
			asked = append(asked, o)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	out, err := r.gitStdin(ctx, []byte(ask.String()), "cat-file", "--batch-check=%(objecttype) %(objectsize)")
	if err != nil {
		return nil, err
	}
	var small []op
	var names []string
	for i, line := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		kind, size, _ := strings.Cut(line, " ")
		if n, err := strconv.Atoi(size); i < len(asked) && kind == "blob" && err == nil && n <= maxPointer {
			small, names = append(small, asked[i]), append(names, asked[i].id)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	blobs, err := r.lookUp(ctx, names...)
	if err != nil {
		return nil, err
	}
	var pointers []pointer
	for i, b := range blobs {
		if p, ok := parsePointer(b.data); ok {
			p.path, p.id, p.mode, p.was = small[i].path, small[i].id, small[i].mode, small[i].was
			pointers = append(pointers, p)
		}
	}
	return pointers, nil
}

// staged finds the pointers that ops would commit.
func (r *Repo) staged(ctx context.Context, ops []op) ([]pointer, error) {
	if slices.ContainsFunc(ops, func(o op) bool { return path.Base(o.path) == ".gitattributes" }) {
		r.large.used = true
	}
	if !r.inLFS() {
		return nil, nil
	}
	return r.among(ctx, ops)
}

// judgeLarge has judged what new pointers stand for: that is what is uploaded.
func (r *Repo) judgeLarge(ctx context.Context, c Commit, pointers []pointer) error {
	for _, p := range pointers {
		if !r.isNewObject(p) {
			continue
		}
		if p.size > maxJudged {
			return fmt.Errorf("%s has %d bytes, at most %d can be looked through", p.path, p.size, maxJudged)
		}
		data, err := os.ReadFile(inObjects(r.lfsDir("store"), p.oid))
		if err != nil {
			return err
		}
		s := Staged{Path: p.path, Type: typeOfMode(p.mode), Data: data}
		if strings.Trim(p.was, "0") != "" {
			s.Was = typeOfMode(p.was)
		}
		if err := c.Judge(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// keepLarge puts what pointers stand for into the user's repository, before a
// commit names it.
func (r *Repo) keepLarge(pointers []pointer) error {
	if r.opt.Scratch {
		return nil // nobody else gets the commit
	}
	for _, p := range pointers {
		if !r.isNewObject(p) {
			continue
		}
		if err := keepObject(inObjects(r.lfsDir("store"), p.oid), inObjects(r.src.storage(), p.oid)); err != nil {
			return fmt.Errorf("keep %s: %w", p.path, err)
		}
	}
	return nil
}

// isNewObject reports whether a pointer was made of a file in the tree that the
// user's repository does not have.
func (r *Repo) isNewObject(p pointer) bool {
	_, made := os.Stat(inObjects(r.lfsDir("store"), p.oid))
	_, known := os.Stat(inObjects(r.src.storage(), p.oid))
	return made == nil && known != nil
}

// keepObject copies a file durably and in one step.
func keepObject(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := renameio.NewPendingFile(to, renameio.WithTempDir(filepath.Dir(to)), renameio.WithPermissions(0o644))
	if err != nil {
		return err
	}
	defer out.Cleanup()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.CloseAtomicallyReplace()
}

// Held returns the beginning of the file that the tip has at path, at most n
// bytes: of one that Git LFS keeps, what it holds, if that is here.
func (r *Repo) Held(ctx context.Context, path string, n int) ([]byte, error) {
	data, err := r.ReadFile(ctx, r.tip, path)
	if p, ok := parsePointer(data); err == nil && ok && r.inLFS() {
		if name := r.find(p); name != "" {
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

// markLarge notes at changes which files Git LFS keeps and cannot be committed
// as they are. Without git-lfs that is all but pointers. With it, it is what
// stands where a pointer was left, of which nobody knows the content, and pointers
// to what the tip does not have.
func (r *Repo) markLarge(ctx context.Context, changes []Change) error {
	if !r.large.used && !slices.ContainsFunc(changes, func(c Change) bool { return path.Base(c.Path) == ".gitattributes" }) {
		return nil
	}
	var ask strings.Builder
	for _, c := range changes {
		ask.WriteString(c.Path + "\x00")
	}
	out, err := r.gitStdin(ctx, []byte(ask.String()), "check-attr", "-z", "--stdin", "filter")
	if err != nil {
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
		p, is := r.pointerAt(c.Path)
		switch {
		case r.src.lfs == "":
			changes[i].Large = !is
		case is:
			changes[i].Large = !r.large.blobs[p.id]
		default:
			changes[i].Large = r.large.left[c.Path]
		}
	}
	return nil
}
