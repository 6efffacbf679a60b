package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
)

// git runs a command on the run's git directory, and starts there: no relative path leads to a file of an agent.
func (r *Repo) git(ctx context.Context, args ...string) ([]byte, error) {
	return r.gitCall(ctx, call{Args: args})
}

// gitCall adds directory and environment to c. Variables that c brings win.
func (r *Repo) gitCall(ctx context.Context, c call) ([]byte, error) {
	defer folders.ReleaseFromPipes(r.root)()
	if len(r.src.promisors) == 0 {
		return r.offline(ctx, c)
	}
	c, err := r.placed(nil, c)
	if err != nil {
		return nil, err
	}
	return r.line(r.src.promisors[0]).do(ctx, c) // any command may ask for an object that is missing
}

// offline is gitCall without any remote: in a partial clone it finds only what is here.
func (r *Repo) offline(ctx context.Context, c call) ([]byte, error) {
	c, err := r.placed(r.src.env.local(), c)
	if err != nil {
		return nil, err
	}
	return c.do(ctx)
}

func (r *Repo) placed(env []string, c call) (call, error) {
	c.Dir, c.Lock, c.Env = r.dir, r.lock, append(r.place(env), c.Env...)
	return c, r.restoreConfig()
}

func (r *Repo) place(env []string) []string {
	return append(env, "GIT_DIR="+r.dir, "GIT_WORK_TREE="+r.treePath,
		"GIT_OBJECT_DIRECTORY="+r.objects(), "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quotePath(r.staged()))
}

// reads is how objects are read, also those of what is staged.
func (r *Repo) reads() reader { return r.src.once(r.gitCall) }

// readAt reads a file at a commit, a full hash. The error wraps fs.ErrNotExist when either is missing.
func (r *Repo) readAt(ctx context.Context, commit, path string) ([]byte, error) {
	if err := r.need(ctx, commit); err != nil {
		return nil, err
	}
	return r.reads().file(ctx, commit, path)
}

func (r *Repo) contains(ctx context.Context, tip, old string) (bool, error) {
	return r.reads().contains(ctx, tip, old)
}

func (r *Repo) between(ctx context.Context, from, to string) (paths []string, err error) {
	all, err := r.reads().differ(ctx, from, to)
	for _, o := range all {
		paths = append(paths, o.path)
	}
	return paths, err
}

func (r *Repo) line(to *remote) line {
	return line{src: r.src, remote: to, token: r.opt.Token, patience: r.opt.Patience}
}

// Exchange runs a command, such as push with its flags, against the remote; the refs it is about follow the address.
func (r *Repo) Exchange(ctx context.Context, command []string, what ...string) ([]byte, error) {
	if err := r.restoreConfig(); err != nil {
		return nil, err
	}
	address := map[bool]string{true: r.remote.push, false: r.remote.fetch}[command[0] == "push"]
	return r.line(r.remote).do(ctx, call{Dir: r.dir, Env: r.place(nil), Args: slices.Concat(command, []string{"--end-of-options", address}, what)})
}

// fetchRef fetches a ref or commit of the remote to a ref of the run, and gives the commit. Flags are of git fetch.
func (r *Repo) fetchRef(ctx context.Context, ref, into string, flags ...string) (string, error) {
	if _, err := r.Exchange(ctx, append(FetchArgs(), flags...), "+"+ref+":"+into); err != nil {
		return "", err
	}
	text, err := os.ReadFile(r.home(into))
	return strings.TrimSpace(string(text)), err
}

func noSuchRef(err error) bool { return strings.Contains(stderrOf(err), "couldn't find remote ref") }

// need makes sure that a commit is here: a shallow clone may lack older ones of the run, and fetches each alone.
func (r *Repo) need(ctx context.Context, commit string) error {
	if !isHash(commit) {
		return fmt.Errorf("%q is not the full hash of a commit", commit)
	}
	if !r.src.Shallow || r.remote == nil {
		return nil
	}
	here, err := r.has(ctx, commit)
	if err == nil && !here {
		if _, err = r.fetchRef(ctx, commit, "refs/reprise/needed/"+commit, "--depth=1"); err != nil {
			err = fmt.Errorf("fetch commit %s, which this shallow clone does not have: %w", short(commit), err)
		}
	}
	return err
}

// has says whether a commit is here, without asking any remote for it.
func (r *Repo) has(ctx context.Context, commit string) (bool, error) {
	found, err := reader(r.offline).objects(ctx, commit)
	return err == nil && found[0].Kind == "commit", err
}

// mostBehind is how many commits back the history of a branch goes that is fetched anew.
const mostBehind = "500"

// refetch fetches the branch anew if it was cut at a merge: git, told to leave out what was merged, cuts all parents.
func (r *Repo) refetch(ctx context.Context, into string) error {
	before, err := textOf(filepath.Join(r.src.CommonDir, "shallow"))
	cut, wrong := textOf(r.home("shallow"))
	if err := errors.Join(err, wrong); err != nil {
		return err
	}
	news := slices.DeleteFunc(strings.Fields(cut), func(commit string) bool { return strings.Contains(before, commit) })
	found, err := reader(r.offline).objects(ctx, news...)
	if err != nil || !slices.ContainsFunc(found, func(o object) bool {
		head, _, _ := strings.Cut(string(o.Data), "\n\n")
		return strings.Count(head, "\nparent ") > 1
	}) {
		return err
	}
	if err := folders.PutFile(r.home("shallow"), []byte(before)); err != nil {
		return err
	}
	r.remoteTip, err = r.fetchRef(ctx, r.ref, into, "--refetch", "--depth="+mostBehind)
	return err
}

// revision is a commit that can be made on any parent.
type revision struct {
	message string
	time    time.Time
	ops     []op

	// first is the first parent, if not the one that is changed, which is the second then; "" otherwise.
	first   string
	tree    string   // the commit whose files it has before the ops; "" for its parent
	parents []string // besides the one before
	states  string   // see Commit.States
}

// op is one change of a tree: M (set path to data if inline, else to blob id), D (delete path).
type op struct {
	kind byte
	path string
	mode string
	was  string // mode in the tip; "" or zeros if it has none; of what is staged
	id   string // always set for M
	data []byte

	inline bool
}

// made is what the newest commit is called that is on no branch.
const made = "refs/reprise/made"

// signingTime is how long git may take to sign a commit: a key that asks for its passphrase waits for ever.
const signingTime = time.Minute

// makeCommit commits with a stream of git-fast-import(1), and moves a ref of the run to it; without force only
// forward. Each commit and object that it names has to be here. Where the user has commits signed, git signs it.
func (r *Repo) makeCommit(ctx context.Context, ref string, rev revision, parent string) (string, error) {
	parents, from := append([]string{parent}, rev.parents...), cmp.Or(rev.tree, parent)
	if rev.first != "" {
		parents, from = append([]string{rev.first}, parents...), parent
	}
	target, signs := ref, r.signs() && ref != draftRef
	if signs {
		ref = made
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "commit %s\nmark :1\ncommitter %s %d +0000\n", ref, r.identity(), rev.time.Unix())
	message := strings.TrimRight(rev.message, "\n") + "\n"
	if s := cmp.Or(r.opt.Signing, &Signing{}); s.Off || r.src.config.Get("format.signoff") == "true" {
		message += "Signed-off-by: " + cmp.Or(s.For, r.identity()) + "\n"
	}
	data(&b, []byte(message))
	fmt.Fprintf(&b, "from %s\n", parents[0])
	for _, p := range parents[1:] {
		fmt.Fprintf(&b, "merge %s\n", p)
	}
	if from != parents[0] {
		top, err := r.reads().objects(ctx, from+"^{tree}")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "M 040000 %s \"\"\n", top[0].ID)
	}
	for _, o := range rev.ops {
		switch {
		case o.kind == 'D':
			fmt.Fprintf(&b, "D %s\n", quotePath(o.path))
		case o.inline:
			fmt.Fprintf(&b, "M %s inline %s\n", o.mode, quotePath(o.path))
			data(&b, o.data)
		default:
			fmt.Fprintf(&b, "M %s %s %s\n", o.mode, o.id, quotePath(o.path))
		}
	}
	b.WriteString("get-mark :1\ndone\n")
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	out, err := r.gitCall(context.WithoutCancel(ctx), call{Args: []string{"fast-import", "--quiet", "--done", "--cat-blob-fd=1", "--force"}, Stdin: b.String()}) // told to end, nobody would know where the ref is
	id := strings.TrimSpace(string(out))
	switch {
	case err != nil || isHash(id) && !signs:
		return id, err
	case !isHash(id):
		return "", fmt.Errorf("git fast-import answered %q", out)
	}
	var signed string
	if r.signsThere() {
		signed, err = r.signThere(ctx, id, message, parents)
	} else {
		signed, err = r.sign(ctx, rev.time, message, id+"^{tree}", parents...)
	}
	if err == nil {
		_, err = r.git(context.WithoutCancel(ctx), "update-ref", target, signed)
	}
	return signed, err
}

// signs reports whether commits are signed, by the forge or as the user has git sign them.
func (r *Repo) signs() bool { return r.signsThere() || !r.opt.DryRun && r.src.Signs() }

// signsThere reports whether the forge signs commits.
func (r *Repo) signsThere() bool {
	return !r.opt.DryRun && r.remote != nil && r.opt.Signing != nil && r.opt.Signing.By != nil
}

// signThere has the forge make and sign a commit. It gets the files at a ref that is no branch, as a rule that asks for
// signatures would refuse them on one. An error is no *PushError: nothing was committed.
func (r *Repo) signThere(ctx context.Context, id, message string, parents []string) (signed string, err error) {
	defer wrap(&err, "have a commit signed")
	top, err := r.reads().objects(ctx, id+"^{tree}")
	if err == nil {
		err = r.uploadLarge(ctx)
	}
	if err == nil {
		_, err = r.Exchange(ctx, append(PushArgs(), "--quiet"), "+"+id+":refs/reprise/unsigned/"+strings.TrimPrefix(cmp.Or(r.opt.Own, r.ref), "refs/"))
	}
	if err == nil {
		signed, err = r.opt.Signing.By(ctx, message, top[0].ID, parents)
	}
	if err == nil {
		signed, err = r.fetchRef(ctx, signed, made)
	}
	if err != nil {
		return "", err
	}
	if has, err := r.reads().objects(ctx, signed+"^{tree}"); err != nil || has[0].ID != top[0].ID {
		return "", errors.Join(err, fmt.Errorf("commit %s has other files than were asked for", short(signed)))
	}
	return signed, nil
}

// Signs reports whether the user has git sign commits.
func (s *Source) Signs() bool {
	return slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(s.config.Get("commit.gpgsign")))
}

// TrySigning has git sign a commit that is kept nowhere.
func (s *Source) TrySigning(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "reprise-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // the system removes what is left
	_, err = signed(ctx, call{Dir: s.Dir, Args: []string{"commit-tree", "-S", "-m", "reprise", s.Head + "^{tree}"}, Env: append(s.env.Network(append(s.config.Network(), setting{"user.name", cmp.Or(s.UserName, "reprise")}, setting{"user.email", cmp.Or(s.UserEmail, "reprise@localhost")})),
		"GIT_OBJECT_DIRECTORY="+dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quotePath(filepath.Join(s.CommonDir, "objects")))})
	return err
}

// sign makes a commit that git signs as it signs the user's, on no branch.
func (r *Repo) sign(ctx context.Context, at time.Time, message, tree string, parents ...string) (string, error) {
	name, email, _ := strings.Cut(strings.TrimSuffix(r.identity(), ">"), " <")
	date := fmt.Sprintf("_DATE=%d +0000", at.Unix())
	c, err := r.placed(r.src.env.Network(append(r.src.config.Network(), setting{"user.name", name}, setting{"user.email", email})), call{
		Env: []string{"GIT_AUTHOR" + date, "GIT_COMMITTER" + date}, Args: []string{"commit-tree", "-S", "-F", "-", tree}, Stdin: message,
	})
	if err != nil {
		return "", err
	}
	for _, p := range parents {
		c.Args = append(c.Args, "-p", p)
	}
	return signed(ctx, c)
}

// signed makes a commit by a command that signs it.
func signed(ctx context.Context, c call) (string, error) {
	limited, stop := context.WithTimeout(ctx, signingTime)
	defer stop()
	out, err := c.do(limited)
	if limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("it took longer than %v", signingTime)
	}
	if err != nil {
		return "", fmt.Errorf("sign a commit, as commit.gpgSign in your git configuration asks: %w; unlock the key, such as by signing something with it, or set commit.gpgSign to false", err)
	}
	return strings.TrimSpace(string(out)), nil
}

func data(b *bytes.Buffer, of []byte) { fmt.Fprintf(b, "data %d\n%s\n", len(of), of) }

func (r *Repo) identity() string {
	name, email := r.opt.Name, r.opt.Email
	if name == "" && email == "" && r.src.UserName != "" && r.src.UserEmail != "" {
		name, email = r.src.UserName, r.src.UserEmail
	}
	return identityOf(name, email)
}

func (r *Repo) opsBetween(ctx context.Context, from, to string) ([]op, error) {
	ops, err := r.reads().differ(ctx, from, to)
	return deletionsFirst(ops), err
}

// deletionsFirst sorts ops: a file may take the name of a folder that goes.
func deletionsFirst(ops []op) []op {
	slices.SortStableFunc(ops, func(a, b op) int { return cmp.Compare(a.kind, b.kind) })
	return ops
}
