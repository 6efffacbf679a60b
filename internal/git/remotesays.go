package git

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// Basic is how HTTP sends a user name and a password.
func basicLogin(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}

// SplitCredentials takes user name and password out of an address, so that
// they show in no argument and no message, and returns them as settings.
func splitCredentials(address string) (string, []setting) {
	u, err := url.Parse(address)
	if err != nil || u.User == nil || u.Scheme != "https" && u.Scheme != "http" {
		return address, nil
	}
	user := u.User.Username()
	password, has := u.User.Password()
	u.User = nil
	host := u.Scheme + "://" + u.Host + "/"
	if has {
		return u.String(), []setting{{Key: "http." + host + ".extraheader", Value: "Authorization: Basic " + basicLogin(user, password)}}
	}
	return u.String(), []setting{{Key: "credential." + strings.TrimSuffix(host, "/") + ".username", Value: user}}
}

// Refusal reads what a push --porcelain that failed has printed: the remote's own words on
// it, whether the remote will say the same again, and whether it said nothing about the branch.
func refusal(out []byte, stderr string) (rule string, final, unclear bool) {
	said := remoteLines(stderr)
	unclear = true
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "!") {
			continue
		}
		unclear = false
		if _, why, found := strings.Cut(line, "[remote rejected]"); found && !raced(why) {
			final = true
			said = append(said, strings.TrimSpace(why))
		}
	}
	return strings.Join(said, " "), final, unclear
}

// raced says whether the remote refused because somebody else was at the same
// branch at the same moment.
func raced(why string) bool {
	for _, text := range []string{
		"cannot lock ref", "failed to lock", "failed to update ref", "incorrect old value",
		"fetch first", "non-fast-forward", "stale info", "atomic transaction failed",
	} {
		if strings.Contains(why, text) {
			return true
		}
	}
	return false
}

// RemoteLines returns what the remote printed for people.
func remoteLines(stderr string) []string {
	var said []string
	for line := range strings.Lines(stderr) {
		if text, ok := strings.CutPrefix(line, "remote:"); ok && strings.TrimSpace(text) != "" {
			said = append(said, strings.TrimSpace(text))
		}
	}
	return said
}

// FetchArgs begin every fetch that is told exactly what to fetch.
func FetchArgs() []string {
	return []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules"}
}

// PushArgs begin every push.
func PushArgs() []string {
	return []string{"push", "--no-verify", "--no-follow-tags", "--no-recurse-submodules", "--no-signed"}
}
