package git

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// remote is where the branch is pushed to, and with what.
type remote struct {
	name     string
	fetch    string // URL without credentials
	push     string // URL without credentials
	settings []setting
	filter   string // by which it left objects out of a partial clone, such as blob:none
}

// withToken returns settings that send a token to the remote's own host and nowhere else. Credentials and headers
// of the user are left out: servers refuse two.
func (r *remote) withToken(token string) (out []setting, err error) {
	for _, s := range r.settings {
		if strings.HasPrefix(s.Key, "http.") && !strings.HasSuffix(s.Key, ".extraheader") ||
			strings.HasPrefix(s.Key, "safe.") {
			out = append(out, s)
		}
	}
	out = append(out, setting{Key: "http.followRedirects", Value: "false"}) // else the header goes along
	hosts := map[string]bool{}
	for _, to := range []string{r.fetch, r.push} {
		u, err := url.Parse(to)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" {
			continue // a path or ssh: the token is of no use there
		}
		if u.Scheme == "http" && !loopback(u.Hostname()) {
			return nil, &prompts.Error{Reason: metadata.Because("git_unencrypted", "address", to)}
		}
		host := u.Scheme + "://" + u.Host + "/"
		if !hosts[host] {
			hosts[host] = true
			out = append(out, setting{Key: "http." + host + ".extraheader", Value: "Authorization: Basic " + basicLogin("x-access-token", token)})
		}
	}
	return out, nil
}

// line is a way to talk with a remote.
type line struct {
	src      *Source
	remote   *remote
	token    func(context.Context) (string, error) // nil: the user's own credentials
	patience time.Duration                         // 0: the usual
	memory   int                                   // in kB; 0: the usual
	more     []setting                             // for this call
}

// do runs a command that may talk with the remote, for as long as the patience lasts. Variables that c brings win.
func (l line) do(ctx context.Context, c call) ([]byte, error) {
	settings, secrets := l.remote.settings, secretsIn(l.remote.settings)
	if l.token != nil {
		token, err := l.token(ctx)
		if err != nil {
			return nil, fmt.Errorf("get a token for %s: %w", l.remote.name, err)
		}
		if settings, err = l.remote.withToken(token); err != nil {
			return nil, err
		}
		secrets = append(secretsIn(settings), token)
	}
	settings, secrets = slices.Concat(settings, l.src.promises(), l.more), append(secrets, secretsIn(l.more)...)
	settings, c.Private = privately(settings)
	c.Env, c.Secrets = slices.Concat(l.src.env.Network(settings), l.src.config.batchMode(l.src.env), c.Env), secrets
	c.Args, c.Memory = l.trusted(c.Args), cmp.Or(l.memory, memory)
	within := cmp.Or(l.patience, patience)
	calm, stop := context.WithTimeout(ctx, within)
	defer stop()
	out, err := c.do(calm)
	switch {
	case err != nil && calm.Err() != nil && ctx.Err() == nil:
		err = &prompts.Error{Err: errNoAnswer, Reason: metadata.Because("git_no_answer",
			"remote", l.remote.name, "time", within)}
	case strings.Contains("\n"+stderrOf(err), "\nfatal: Out of memory"):
		err = &prompts.Error{Err: err, Reason: metadata.Because("git_flooded", "remote", l.remote.name)}
	}
	return out, err
}

// trusted has the other end of a remote that is a folder here know which folders of others the user trusts: git takes
// settings of the environment from it.
func (l line) trusted(args []string) []string {
	end, git := map[string]string{"fetch": "upload-pack", "ls-remote": "upload-pack", "push": "receive-pack"}[args[0]], "git"
	for _, s := range l.remote.settings {
		if s.Key == "safe.directory" {
			git += " -c " + text.QuoteShell(s.Key+"="+s.Value)
		}
	}
	if end == "" || git == "git" || !filepath.IsAbs(l.remote.fetch) {
		return args
	}
	return slices.Insert(slices.Clone(args), 1, "--"+end+"="+git+" "+end)
}

// patience is how long a call to the remote may take, with large transfers and the remote's own checks.
const patience = 15 * time.Minute

// memory is how many kB of data git, and each of its helpers, may hold while it talks with a remote, which may send
// without end: as much as large repositories need.
const memory = 2 << 20

// errNoAnswer says that a remote which was reached did not come to an end.
var errNoAnswer = errors.New("has not answered in time")

// basicLogin is how HTTP sends a user name and a password.
func basicLogin(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}

// splitCredentials moves user name and password of an address to settings, so that no argument or message has them.
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

// raced says whether the remote refused because somebody else was at the branch at the same moment.
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

// remoteLines returns what the remote printed for people, as they would read it.
func remoteLines(stderr string) (said []string) {
	for line := range strings.Lines(stderr) {
		if text, ok := strings.CutPrefix(line, "remote:"); ok {
			if text = strings.TrimSpace(process.Printable(text)); text != "" {
				said = append(said, text)
			}
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

// absolute resolves a remote that is a relative path, which git reads from dir, the top of the work tree.
func absolute(dir, address string) string {
	if Host(address) != "" || filepath.IsAbs(address) {
		return address
	}
	return filepath.Join(dir, address)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ownerAndName reads owner/name from the address of a repository on GitHub or a forge like it.
func ownerAndName(address string) string {
	_, path := hostAndPath(address)
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	owner, name, ok := strings.Cut(path, "/")
	if !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		return ""
	}
	return path
}

// Host gives the name of the machine that an address leads to, or "" for a path.
func Host(address string) string {
	host, _ := hostAndPath(address)
	return host
}

// hostAndPath reads a URL or host:path; of anything else both are empty.
func hostAndPath(address string) (host, path string) {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Hostname(), u.Path
	}
	before, path, is := strings.Cut(address, ":")
	if !is || strings.Contains(before, "/") {
		return "", ""
	}
	if strings.HasPrefix(path, "//") { // a URL without a host
		path = ""
	}
	return before[strings.LastIndexByte(before, '@')+1:], path
}
