package git

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// revision is a commit that can be made on any parent.
type revision struct {
	message string
	time    time.Time
	ops     []op

	// first is the first parent, where that is not the one that the changes are made
	// to, which is the second then; "" otherwise.
	first   string
	tree    string   // the commit whose files it has before the ops; "" for its parent
	parents []string // besides the one before
}

// op is one change of a tree: M (set path to data if inline, else to the blob
// id), D (delete path), R (rename path to to).
type op struct {
	kind byte
	path string
	to   string
	mode string
	was  string // mode in the tip; "" or zeros if it has none; of what is staged
	id   string // always set for M
	data []byte

	inline bool
}

// build makes the revisions, one after the other, on parent, moves a ref of
// the run to the last and returns its hash. With force the ref may leave commits
// behind.
func (r *Repo) build(ctx context.Context, ref, parent string, revs []revision, force bool) (string, error) {
	for _, rev := range revs {
		var err error
		if parent, err = r.makeCommit(ctx, rev, parent); err != nil {
			return "", err
		}
	}
	move := []string{"update-ref", ref, parent}
	if !force {
		move = append(move, cmp.Or(r.localTip, r.zero()))
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if _, err := r.git(context.WithoutCancel(ctx), move...); err != nil { // told to end, nobody would know where the ref is
		return "", err
	}
	return parent, nil
}

// made is what the newest commit is called that fast-import has made.
const made = "refs/reprise/made"

// makeCommit has git make a commit, of a stream that gitformat fast-import(1) describes. Each
// commit and object that it names has to be here.
func (r *Repo) makeCommit(ctx context.Context, rev revision, parent string) (string, error) {
	parents, from := append([]string{parent}, rev.parents...), cmp.Or(rev.tree, parent)
	if rev.first != "" {
		parents, from = append([]string{rev.first}, parents...), parent
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "commit %s\nmark :1\ncommitter %s %d +0000\n", made, r.identity(), rev.time.Unix())
	data(&b, []byte(strings.TrimRight(rev.message, "\n")+"\n"))
	fmt.Fprintf(&b, "from %s\n", parents[0])
	for _, p := range parents[1:] {
		fmt.Fprintf(&b, "merge %s\n", p)
	}
	if from != parents[0] {
		top, err := r.lookUp(ctx, from+"^{tree}")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "M 040000 %s \"\"\n", top[0].ID)
	}
	for _, o := range rev.ops {
		switch {
		case o.kind == 'D':
			fmt.Fprintf(&b, "D %s\n", quotePath(o.path))
		case o.kind == 'R':
			fmt.Fprintf(&b, "R %s %s\n", quotePath(o.path), quotePath(o.to))
		case o.inline:
			fmt.Fprintf(&b, "M %s inline %s\n", o.mode, quotePath(o.path))
			data(&b, o.data)
		default:
			fmt.Fprintf(&b, "M %s %s %s\n", o.mode, o.id, quotePath(o.path))
		}
	}
	b.WriteString("get-mark :1\ndone\n")
	out, err := r.gitStdin(ctx, b.Bytes(), "fast-import", "--quiet", "--force", "--done", "--cat-blob-fd=1")
	if id := strings.TrimSpace(string(out)); err != nil || isHash(id) {
		return id, err
	}
	return "", fmt.Errorf("git fast-import answered %q", out)
}

func data(b *bytes.Buffer, of []byte) { fmt.Fprintf(b, "data %d\n%s\n", len(of), of) }

// identity is who commits.
func (r *Repo) identity() string {
	name, email := r.opt.Name, r.opt.Email
	if name == "" && email == "" && r.src.UserName != "" && r.src.UserEmail != "" {
		name, email = r.src.UserName, r.src.UserEmail
	}
	return identityOf(name, email)
}

// opsBetween are the ops that make one commit of another.
func (r *Repo) opsBetween(ctx context.Context, from, to string) ([]op, error) {
	ops, err := r.reads().differ(ctx, from, to)
	return deletionsFirst(ops), err
}

// deletionsFirst sorts ops: a file may take the name of a folder that goes.
func deletionsFirst(ops []op) []op {
	slices.SortStableFunc(ops, func(a, b op) int { return cmp.Compare(a.kind, b.kind) })
	return ops
}
