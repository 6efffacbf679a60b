package githubtest

import (
	"github.com/reprise-ci/reprise/internal/github/githubtest/bare"
	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// Settings are what the owner of a repository can choose.
type Settings = state.Settings

// repositories are repositories, and their branches.
type repositories struct{ in *world }

// AddRepository adds owner/name, or makes it private if it is there.
func (r repositories) AddRepository(name string, private bool) {
	r.in.Lock()
	defer r.in.Unlock()
	r.in.repository(name).Private = private
}

// Configure sets the settings of owner/name, and adds it if it is not there.
func (r repositories) Configure(name string, settings Settings) {
	r.in.Lock()
	defer r.in.Unlock()
	if settings.DefaultBranch == "" {
		settings.DefaultBranch = "main"
	}
	r.in.repository(name).Settings = settings
}

// Bare ties a repository to a bare git repository on disk: from now on its
// branches are what git has.
func (r repositories) Bare(repo, dir string) {
	r.in.Lock()
	defer r.in.Unlock()
	r.in.repository(repo).Bare = bare.Repository(dir)
}

// SetBranch says where a branch is, in a repository without git. The default
// branch is there without it. An empty commit takes the branch away.
func (r repositories) SetBranch(repo, branch, commit string) {
	r.in.Lock()
	defer r.in.Unlock()
	branches := r.in.repository(repo).Branches
	delete(branches, branch)
	if commit != "" {
		branches[branch] = commit
	}
}
