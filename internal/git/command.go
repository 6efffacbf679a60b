package git

import (
	"context"

	"github.com/reprise-ci/reprise/internal/folders"
)

// git runs a command on the run's own git directory. It also starts there, so
// that a relative path never leads to a file of an agent.
func (g *gitDir) git(ctx context.Context, args ...string) ([]byte, error) {
	return g.gitCall(ctx, call{Args: args})
}

func (g *gitDir) gitStdin(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	return g.gitCall(ctx, call{Args: args, Stdin: stdinOf(stdin)})
}

// gitCall adds directory and environment to c. Variables that c brings win.
func (g *gitDir) gitCall(ctx context.Context, c call) ([]byte, error) {
	defer folders.ReleaseFromPipes(g.root)()
	if len(g.src.promisors) == 0 {
		return g.offline(ctx, c)
	}
	c, err := g.placed(nil, c)
	if err != nil {
		return nil, err
	}
	return g.line(g.src.promisors[0].remote).do(ctx, c) // any command may ask for an object that is missing
}

// offline is gitCall for a command that talks to nobody: in a partial clone it
// finds only what is here.
func (g *gitDir) offline(ctx context.Context, c call) ([]byte, error) {
	c, err := g.placed(g.src.env.Local(), c)
	if err != nil {
		return nil, err
	}
	return c.Do(ctx)
}

// placed gives c the run's own directory, and what it and env bring.
func (g *gitDir) placed(env []string, c call) (call, error) {
	c.Dir, c.Lock, c.Env = g.dir, g.lock, append(g.place(env), c.Env...)
	return c, g.restoreConfig()
}

// place points git at the run's own directory.
func (g *gitDir) place(env []string) []string {
	return append(env, "GIT_DIR="+g.dir, "GIT_WORK_TREE="+g.treePath,
		"GIT_OBJECT_DIRECTORY="+g.objects(), "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quotePath(g.staged.Dir))
}

// reads is how objects are read, also those of what is staged.
func (g *gitDir) reads() reader { return g.gitCall }

// lookUp gives objects by name.
func (g *gitDir) lookUp(ctx context.Context, names ...string) ([]object, error) {
	return g.reads().objects(ctx, names...)
}

// ReadFile returns the file at path as it is in commit, a full hash. The error
// wraps fs.ErrNotExist when there is no such commit or no such file in it.
func (g *gitDir) ReadFile(ctx context.Context, commit, path string) ([]byte, error) {
	if err := g.need(ctx, commit); err != nil {
		return nil, err
	}
	return g.reads().file(ctx, []string{commit}, commit, path)
}

// ReadPlain is as that of a Source. The commit is given by its full hash.
func (g *gitDir) ReadPlain(ctx context.Context, commit, path string) ([]byte, error) {
	if err := g.need(ctx, commit); err != nil {
		return nil, err
	}
	return g.reads().plain(ctx, commit, path)
}

// contains says whether commit old is in the history of commit tip.
func (g *gitDir) contains(ctx context.Context, tip, old string) (bool, error) {
	return g.reads().contains(ctx, tip, old)
}

// between lists the paths in which two commits differ.
func (g *gitDir) between(ctx context.Context, from, to string) ([]string, error) {
	all, err := g.reads().differ(ctx, from, to)
	var paths []string
	for _, o := range all {
		paths = append(paths, o.path)
	}
	return paths, err
}

// blobID is the name git gives to a file with this content.
func (g *gitDir) blobID(data []byte) string { return g.src.format.Blob(data) }
