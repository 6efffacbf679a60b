package wire

import (
	"fmt"
	"net/url"
	"regexp"
	"sync"
)

// RepoPath begins the path of everything in a repository.
func RepoPath(owner, repo string) (string, error) {
	if !isName(owner) || !isName(repo) {
		return "", fmt.Errorf("%q is no repository: it takes owner/name", owner+"/"+repo)
	}
	return "repos/" + owner + "/" + repo, nil
}

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`) })

// isName reports whether a text can be the name of an owner or a repository,
// and stays one part of a path.
func isName(s string) bool { return nameForm().MatchString(s) && s != "." && s != ".." }

// SafeURL lets an address pass that can be shown and kept.
func SafeURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	u.RawQuery, u.Fragment = "", ""
	return u.String()
}
