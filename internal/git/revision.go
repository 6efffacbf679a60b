package git

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/git/objects"
	"github.com/reprise-ci/reprise/internal/git/pathname"
	"github.com/reprise-ci/reprise/internal/git/program"
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

// fastImport makes the revisions, one after the other, on parent, moves a ref of
// the run to the last and returns its hash. With force the ref may leave commits
// behind. One process writes all objects; nothing looks at the work tree, so
// this takes the same time whatever its size.
func (br *runBranch) fastImport(ctx context.Context, ref, parent string, revs []revision, force bool) (string, error) {
	var b bytes.Buffer
	b.WriteString("feature done\n")
	who := br.identity()
	for i, rev := range revs {
		message := strings.TrimRight(rev.message, "\n") + "\n"
		fmt.Fprintf(&b, "commit %s\nmark :%d\ncommitter %s %d +0000\ndata %d\n%s",
			ref, i+1, who, rev.time.Unix(), len(message), message)
		if err := br.descend(ctx, &b, rev, parent); err != nil {
			return "", err
		}
		for _, o := range rev.ops {
			o.write(&b)
		}
		parent = fmt.Sprintf(":%d", i+1)
	}
	fmt.Fprintf(&b, "get-mark %s\ndone\n", parent)
	args := []string{"fast-import", "--quiet", "--done", "--date-format=raw"}
	if force {
		args = append(args, "--force")
	}
	out, err := br.gitStdin(ctx, b.Bytes(), args...)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(out))
	if !objects.IsHash(id) {
		return "", fmt.Errorf("git fast-import answered %q", out)
	}
	return id, nil
}

// descend writes what a revision comes from.
func (br *runBranch) descend(ctx context.Context, b *bytes.Buffer, rev revision, parent string) error {
	tree := rev.tree
	if rev.first == "" {
		fmt.Fprintf(b, "from %s\n", parent)
	} else {
		fmt.Fprintf(b, "from %s\nmerge %s\n", rev.first, parent)
		tree = parent
	}
	for _, p := range rev.parents {
		fmt.Fprintf(b, "merge %s\n", p)
	}
	if tree == "" {
		return nil
	}
	found, err := br.lookUp(ctx, tree+"^{tree}")
	if err == nil {
		fmt.Fprintf(b, "M 040000 %s \"\"\n", found[0].ID)
	}
	return err
}

func (o op) write(b *bytes.Buffer) {
	switch {
	case o.kind == 'D':
		fmt.Fprintf(b, "D %s\n", pathname.Quote(o.path))
	case o.kind == 'R':
		fmt.Fprintf(b, "R %s %s\n", pathname.Quote(o.path), pathname.Quote(o.to))
	case o.inline:
		fmt.Fprintf(b, "M %s inline %s\ndata %d\n", o.mode, pathname.Quote(o.path), len(o.data))
		b.Write(o.data)
		b.WriteByte('\n')
	default:
		fmt.Fprintf(b, "M %s %s %s\n", o.mode, o.id, pathname.Quote(o.path))
	}
}

// identity is who commits.
func (br *runBranch) identity() string {
	name, email := br.opt.Name, br.opt.Email
	if name == "" && email == "" && br.src.UserName != "" && br.src.UserEmail != "" {
		name, email = br.src.UserName, br.src.UserEmail
	}
	return program.Identity(name, email)
}

// parseRaw reads git's raw difference: ":oldmode newmode oldid newid X", path.
// Deletions come first, since a file may take the name of a folder that goes.
func parseRaw(fields []string) ([]op, error) {
	var gone, set []op
	for len(fields) >= 2 {
		f := strings.Fields(strings.TrimPrefix(fields[0], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("git diff answered %q", fields[0])
		}
		if f[4] == "D" {
			gone = append(gone, op{kind: 'D', path: fields[1], was: f[0]})
		} else {
			set = append(set, op{kind: 'M', path: fields[1], mode: f[1], was: f[0], id: f[3]})
		}
		fields = fields[2:]
	}
	return append(gone, set...), nil
}
