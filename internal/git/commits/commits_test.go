package commits_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/git/commits"
	"github.com/reprise-ci/reprise/internal/git/loose"
	"github.com/reprise-ci/reprise/internal/git/objects"
	"github.com/reprise-ci/reprise/internal/git/program"
)

// place is a bare repository.
type place struct {
	t      *testing.T
	dir    string
	format loose.Format
	store  *objects.Store
}

func newPlace(t *testing.T, format string) *place {
	t.Helper()
	p := &place{t: t, dir: filepath.Join(t.TempDir(), "a repository"), format: loose.Format{SHA256: format == "sha256"}}
	must(t, os.MkdirAll(p.dir, 0o755))
	p.store = &objects.Store{Place: func(context.Context) (program.Call, error) { return p.call(), nil }}
	t.Cleanup(p.store.Close)
	p.git(nil, "init", "-q", "--bare", "--object-format="+format)
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p *place) call() program.Call {
	env := []string{"PATH=" + os.Getenv("PATH"), "GIT_DIR=" + p.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}
	return program.Call{Dir: p.dir, Env: env}
}

func (p *place) git(stdin []byte, args ...string) string {
	p.t.Helper()
	out, err := p.ask(p.t.Context(), stdin, args...)
	must(p.t, err)
	return strings.TrimSpace(string(out))
}

func (p *place) ask(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	c := p.call()
	c.Args, c.Stdin = args, program.Reader(stdin)
	return c.Do(ctx)
}

func (p *place) maker() commits.Maker {
	return commits.Maker{Folder: filepath.Join(p.dir, "objects"), Format: p.format, LookUp: p.store.Ask, Git: p.ask}
}

// imported makes the same commit by git fast-import.
func (p *place) imported(c commits.Commit) (string, error) {
	var b bytes.Buffer
	message := strings.TrimRight(c.Message, "\n") + "\n"
	fmt.Fprintf(&b, "feature done\ncommit refs/x\nmark :1\ncommitter %s %d +0000\ndata %d\n%sfrom %s\n", c.Who, c.Time.Unix(), len(message), message, c.Parents[0])
	for _, merged := range c.Parents[1:] {
		fmt.Fprintf(&b, "merge %s\n", merged)
	}
	fmt.Fprintf(&b, "M 040000 %s \"\"\n", p.git(nil, "rev-parse", c.From+"^{tree}"))
	for _, o := range c.Ops {
		switch {
		case o.Kind == 'D':
			fmt.Fprintf(&b, "D %q\n", o.Path)
		case o.Kind == 'R':
			fmt.Fprintf(&b, "R %q %q\n", o.Path, o.To)
		case o.Inline:
			fmt.Fprintf(&b, "M %s inline %q\ndata %d\n%s\n", o.Mode, o.Path, len(o.Data), o.Data)
		default:
			fmt.Fprintf(&b, "M %s %s %q\n", o.Mode, o.ID, o.Path)
		}
	}
	b.WriteString("get-mark :1\ndone\n")
	out, err := p.ask(p.t.Context(), b.Bytes(), "fast-import", "--quiet", "--done", "--date-format=raw", "--force")
	return strings.TrimSpace(string(out)), err
}

const who = "A B <a@example.com>"

// first makes a commit without parents.
func (p *place) first() string {
	stream := "feature done\ncommit refs/heads/main\nmark :1\ncommitter " + who + " 1 +0000\ndata 2\nm\n"
	for _, f := range []string{"a", "a.b", "a-b", "d/a", "d/e/f", "d0", "x/y/z"} {
		stream += fmt.Sprintf("M 100644 inline %q\ndata 1\n%s\n", f, f[:1])
	}
	return p.git([]byte(stream+"get-mark :1\ndone\n"), "fast-import", "--quiet", "--done")
}

// A commit is the very one that git makes of the same changes, whatever these do.
func TestMakeIsWhatGitMakes(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		p := newPlace(t, format)
		base := p.first()
		blob := p.git([]byte("blob"), "hash-object", "-w", "--stdin")
		names := []string{"a", "a.b", "a/b", "a/b/c", "d", "d/a", "d/e", "d/e/f", "d0", "d.x", "x", "x/y", "x/y/z", "n/e/w", "日本 \\ \" name"}
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 0))
		name := func() string { return names[r.IntN(len(names))] }
		parent := base
		for i := range 40 {
			c := commits.Commit{Parents: []string{parent}, From: parent, Who: who, Time: time.Unix(int64(i), 5), Message: fmt.Sprintf("change %d\n\nKey: value\n\n", i)}
			if i%10 == 3 {
				c.Parents, c.From = append(c.Parents, base), base
			}
			files := strings.Split(p.git(nil, "ls-tree", "-r", "--name-only", "-z", c.From), "\x00")
			for range 1 + r.IntN(4) {
				data := fmt.Appendf(nil, "%d", r.IntN(5))
				switch r.IntN(8) {
				case 0, 1:
					c.Ops = append(c.Ops, commits.Op{Kind: 'D', Path: name()})
				case 2:
					if from := files[0]; len(c.Ops) == 0 && from != "" {
						c.Ops = append(c.Ops, commits.Op{Kind: 'R', Path: from, To: "moved/to/" + fmt.Sprint(i)})
					}
				case 3:
					c.Ops = append(c.Ops, commits.Op{Kind: 'M', Path: name(), Mode: "100755", ID: blob})
				case 4:
					c.Ops = append(c.Ops, commits.Op{Kind: 'M', Path: name(), Mode: "040000", ID: p.git(nil, "rev-parse", base+":d")})
				case 5:
					c.Ops = append(c.Ops, commits.Op{Kind: 'M', Path: name(), Mode: "160000", ID: base})
				default:
					c.Ops = append(c.Ops, commits.Op{Kind: 'M', Path: name(), Mode: "100644", Inline: true, Data: data, ID: p.format.Name("blob", data)})
				}
			}
			got, err := p.maker().Make(t.Context(), c)
			must(t, err)
			want, err := p.imported(c)
			must(t, err)
			if got != want {
				t.Fatalf("seed %d, %s: commit %d of %+v\n%s\nand git makes\n%s", seed, format, i, c.Ops,
					p.git(nil, "ls-tree", "-r", "-t", got), p.git(nil, "ls-tree", "-r", "-t", want))
			}
			parent = got
		}
		if said := p.git(nil, "fsck", "--strict", "--no-dangling", parent); said != "" {
			t.Errorf("git finds %s", said)
		}
	}
}

// Nothing is made of what is not there.
func TestMakeOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "sha1")
	base, none := p.first(), strings.Repeat("1", 40)
	tree := p.git(nil, "rev-parse", base+"^{tree}")
	for _, tt := range []struct {
		what   string
		change func(*commits.Commit)
		wrong  string
	}{
		{"a parent", func(c *commits.Commit) { c.Parents[0] = none }, "commit \"" + none + "\" is not here"},
		{"a tree for a parent", func(c *commits.Commit) { c.Parents = append(c.Parents, tree) }, "commit \"" + tree + "\" is not here"},
		{"the name of a branch", func(c *commits.Commit) { c.Parents[0] = "main" }, "commit \"main\" is not here"},
		{"files", func(c *commits.Commit) { c.From = none }, "is not here"},
		{"an object", func(c *commits.Commit) {
			c.Ops = []commits.Op{{Kind: 'M', Path: "a", Mode: "100644", ID: none}}
		}, "object " + none + " is not here"},
		{"what is moved", func(c *commits.Commit) { c.Ops = []commits.Op{{Kind: 'R', Path: "no/such", To: "b"}} }, "there is no no/such to move"},
		{"a path", func(c *commits.Commit) {
			c.Ops = []commits.Op{{Kind: 'M', Path: "a//b", Mode: "100644", Inline: true, ID: p.format.Name("blob", nil)}}
		}, `"a//b" is no path`},
	} {
		c := commits.Commit{Parents: []string{base}, From: base, Who: who, Time: time.Unix(1, 0), Message: "m"}
		tt.change(&c)
		if id, err := p.maker().Make(t.Context(), c); err == nil || !strings.Contains(err.Error(), tt.wrong) || id != "" {
			t.Errorf("%s: got %q, %v, want %q", tt.what, id, err, tt.wrong)
		}
	}
}

// What cannot be written is said, and leaves nothing.
func TestMakeWhereNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "sha1")
	base := p.first()
	m := p.maker()
	m.Folder = filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(m.Folder, nil, 0o644))
	c := commits.Commit{Parents: []string{base}, From: base, Who: who, Time: time.Unix(1, 0), Message: "m"}
	if id, err := m.Make(t.Context(), c); err == nil || id != "" {
		t.Errorf("got %q, %v", id, err)
	}
}
