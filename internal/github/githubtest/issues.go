package githubtest

import (
	"maps"
	"slices"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// Issue is an issue. What a test leaves out is as on most issues.
type Issue = state.Issue

// issues are issues, and pull requests as such.
type issues struct{ in *world }

// AddIssue adds an issue to owner/name, or replaces the one with its number.
// It returns the number.
func (i issues) AddIssue(repo string, is Issue) int {
	i.in.Lock()
	defer i.in.Unlock()
	i.in.repository(repo).AddIssue(&is)
	return is.Number
}

// Issues are the issues and pull requests of a repository, by number.
func (i issues) Issues(repo string) []Issue {
	i.in.Lock()
	defer i.in.Unlock()
	var out []Issue
	all := i.in.repository(repo).Issues
	for _, n := range slices.Sorted(maps.Keys(all)) {
		is := *all[n]
		is.Labels = slices.Clone(is.Labels)
		out = append(out, is)
	}
	return out
}

// Labels are the labels of an issue.
func (i issues) Labels(repo string, number int) []string {
	i.in.Lock()
	defer i.in.Unlock()
	return slices.Clone(i.in.thread(repo, number).Labels)
}

// ChangeIssue changes an issue as people do: its title, text, labels and
// state, and whether it is locked.
func (i issues) ChangeIssue(repo string, number int, change func(*Issue)) {
	i.in.Lock()
	defer i.in.Unlock()
	is := i.in.thread(repo, number)
	change(is)
	is.Updated = i.in.Tick()
}

// DeleteIssue deletes an issue.
func (i issues) DeleteIssue(repo string, number int) {
	i.in.Lock()
	defer i.in.Unlock()
	i.in.DeleteIssue(i.in.repository(repo), number)
}

// Transfer moves an issue and its comments to another repository, where it
// gets a number of its own. The old place leads to the new one.
func (i issues) Transfer(repo string, number int, to string) int {
	i.in.Lock()
	defer i.in.Unlock()
	return i.in.Transfer(i.in.repository(repo), i.in.thread(repo, number), i.in.repository(to))
}

// SubIssues are the numbers of the issues below an issue.
func (i issues) SubIssues(repo string, number int) []int {
	i.in.Lock()
	defer i.in.Unlock()
	var out []int
	for _, id := range i.in.repository(repo).Children[number] {
		_, is := i.in.IssueByID(id)
		out = append(out, is.Number)
	}
	return out
}
