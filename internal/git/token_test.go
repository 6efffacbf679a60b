package git

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

const token = "ghs_CanaryCanaryCanary0123456789"

// gitServer serves repositories over HTTP to whoever sends want as
// Authorization, and looks for the token where it must not be.
type gitServer struct {
	*httptest.Server
	root, want string

	mu    sync.Mutex
	seen  []string // headers
	leaks []string
}

func newGitServer(t *testing.T, want string) *gitServer {
	t.Helper()
	git, err := exec.LookPath("git")
	must(t, err)
	s := &gitServer{root: realTemp(t), want: want}
	backend := &cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Dir: s.root,
		Env: []string{"GIT_PROJECT_ROOT=" + s.root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=x"},
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s.note(req)
		if req.Header.Get("Authorization") != s.want {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, req)
	}))
	t.Cleanup(s.Close)
	return s
}

// note looks at the arguments and environments of all processes while git waits
// for an answer.
func (s *gitServer) note(req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, req.Header.Values("Authorization")...)
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range slices.Concat(lines, environs) {
		text, _ := os.ReadFile(name)
		if servers := strings.Contains("\x00"+string(text), "\x00GATEWAY_INTERFACE="); !servers && holdsToken(text) {
			s.leaks = append(s.leaks, string(text))
		}
	}
}

func holdsToken(data []byte) bool {
	text := string(data)
	return strings.Contains(text, token) || strings.Contains(text, basicLogin("x-access-token", token)) ||
		strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(token)))
}

// served makes a user's repository whose origin is the server.
func (s *gitServer) served(t *testing.T) (user, bare string) {
	t.Helper()
	user = newUser(t, map[string]string{"a.txt": "a"})
	bare = filepath.Join(s.root, "acme", "widget.git")
	sh(t, user, "clone", "-q", "--bare", user, bare)
	sh(t, user, "remote", "add", "origin", s.URL+"/acme/widget.git")
	return user, bare
}

func withToken(value string) func(*Options) {
	return func(o *Options) {
		o.Remote = "origin"
		o.Token = func(context.Context) (string, error) { return value, nil }
	}
}

func TestTokenGoesToTheRemoteOnly(t *testing.T) {
	var evilRequests atomic.Int32
	evil := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { evilRequests.Add(1) }))
	defer evil.Close()
	home := realTemp(t)
	t.Setenv("HOME", home)
	global := home + "/.gitconfig"
	write(t, global, read(t, os.Getenv("GIT_CONFIG_GLOBAL")))
	t.Setenv("GIT_CONFIG_GLOBAL", global)

	good := newGitServer(t, "Basic "+basicLogin("x-access-token", token))
	user, bare := good.served(t)
	// A header of the user's, as checkout actions leave it, would be a second one.
	sh(t, user, "config", "http."+good.URL+"/.extraheader", "Authorization: basic b2xk")
	r := openRun(t, user, withToken(token))
	commit(t, r, "{1}")
	must(t, r.buildScratch("tree", r.home("index"), r.tip))

	plant := fmt.Sprintf("[url %q]\n\tinsteadOf = %s/\n\tpushInsteadOf = %[2]s/\n[http]\n\tproxy = %[1]s\n[remote \"origin\"]\n\turl = %[1]s/x.git\n\tpushurl = %[1]s/x.git\n",
		evil.URL+"/", good.URL)
	for _, name := range []string{global, user + "/.git/config", r.Tree() + "/.git/config", r.home("config")} {
		text, _ := os.ReadFile(name)
		write(t, name, string(text)+plant)
	}
	id := commit(t, r, "{2}")
	r.Close()
	o := r.opt
	r, err := Open(t.Context(), o)
	must(t, err)
	defer r.Close()
	id2 := commit(t, r, "{3}")
	if sh(t, bare, "rev-parse", branch) != id2 || sh(t, bare, "rev-parse", branch+"^") != id {
		t.Error("not pushed")
	}
	if n := evilRequests.Load(); n != 0 {
		t.Errorf("%d requests went to the evil host", n)
	}
	for _, h := range good.seen {
		if h != good.want {
			t.Errorf("sent %q", h)
		}
	}
	if len(good.seen) == 0 || len(good.leaks) > 0 {
		t.Errorf("%d requests with the token; arguments and environments that hold it: %q", len(good.seen), good.leaks)
	}
	for _, dir := range []string{r.opt.Root, user, home} {
		must(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && holdsToken([]byte(read(t, name))) {
				t.Errorf("the token is in %s", name)
			}
			return err
		}))
	}
}

// A survey is made while agents work: what one without a sandbox writes into its folder
// leads the token nowhere else.
func TestTokenOfASurvey(t *testing.T) {
	var evilRequests atomic.Int32
	evil := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { evilRequests.Add(1) }))
	defer evil.Close()
	good := newGitServer(t, "Basic "+basicLogin("x-access-token", token))
	user, bare := good.served(t)
	sh(t, bare, "branch", "reprise/issue-8")
	src := found(t, user)
	give := func(context.Context) (string, error) { return token, nil }
	v, err := NewSurvey(t.Context(), src, filepath.Join(realTemp(t), "origin"), give, []string{"refs/heads/reprise/"}, func(all []Ref) []Ref { return all })
	must(t, err)
	defer v.Close()
	if all, err := v.Refs(t.Context(), "refs/remotes/origin/reprise"); err != nil || len(all) != 1 {
		t.Errorf("fetched %v, %v", all, err)
	}
	tree := sh(t, bare, "rev-parse", "HEAD^{tree}")
	later := sh(t, bare, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit-tree", "-m", "m", tree)
	sh(t, bare, "update-ref", "refs/heads/other", later)
	write(t, filepath.Join(v.CommonDir, "config"), fmt.Sprintf("[url %q]\n\tinsteadOf = %s/\n[http]\n\tproxy = %[1]s\n", evil.URL+"/", good.URL))
	elsewhere := realTemp(t)
	sh(t, elsewhere, "init", "-q", "--bare")
	write(t, filepath.Join(v.CommonDir, "commondir"), elsewhere)
	must(t, v.Need(t.Context(), later))
	if found, err := v.offline().objects(t.Context(), later); err != nil || found[0].Kind != "commit" {
		t.Errorf("a commit that is needed: %+v, %v", found, err)
	}
	if n := evilRequests.Load(); n != 0 || len(good.seen) == 0 || len(good.leaks) > 0 {
		t.Errorf("%d requests went to the evil host, %d with the token; arguments and environments that hold it: %q", n, len(good.seen), good.leaks)
	}
}

func TestRefusedTokenIsInNoMessage(t *testing.T) {
	t.Parallel()
	server := newGitServer(t, "Basic another")
	user, _ := server.served(t)
	_, err := tryOpen(t, user, withToken(token))
	if err == nil || holdsToken([]byte(err.Error())) || holdsToken([]byte(stderrOf(err))) {
		t.Errorf("got %v", err)
	}
	want := errors.New("no app installed")
	if _, err := tryOpen(t, user, func(o *Options) {
		o.Remote = "origin"
		o.Token = func(context.Context) (string, error) { return "", want }
	}); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

// A host that sends git elsewhere does not get the token sent there.
func TestTokenIsNotRedirected(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	evil := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	defer evil.Close()
	moved := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, evil.URL+req.URL.String(), http.StatusMovedPermanently)
	}))
	defer moved.Close()
	user := newUser(t, nil)
	sh(t, user, "remote", "add", "origin", moved.URL+"/acme/widget.git")
	if _, err := tryOpen(t, user, withToken(token)); err == nil || requests.Load() != 0 {
		t.Errorf("got %v, and %d requests", err, requests.Load())
	}
}

func TestTokenIsNotSentInTheClear(t *testing.T) {
	t.Parallel()
	user := newUser(t, nil)
	sh(t, user, "remote", "add", "origin", "http://192.0.2.1/acme/widget.git")
	if _, err := tryOpen(t, user, withToken(token)); err == nil || !strings.Contains(err.Error(), "not encrypted") {
		t.Errorf("got %v", err)
	}
}

// Without a token of ours the user's own ways of logging in work. They are tried one after
// the other: each is watched for processes that hold the password, and some are made known to
// git with it.
func TestUsersCredentials(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		set  func(t *testing.T, user string, s *gitServer)
	}{
		{"in the address", func(t *testing.T, user string, s *gitServer) {
			sh(t, user, "remote", "set-url", "origin", strings.Replace(s.URL, "://", "://alice:"+token+"@", 1)+"/acme/widget.git")
		}},
		{"helper", func(t *testing.T, user string, s *gitServer) {
			sh(t, user, "config", "credential.helper", "!printf 'username=alice\\npassword="+token+"\\n' #")
		}},
		{"header", func(t *testing.T, user string, s *gitServer) {
			sh(t, user, "config", "http."+s.URL+"/.extraheader", s.want)
			sh(t, user, "config", "http."+s.URL+"/.extraheader", "Authorization: "+s.want)
		}},
		{"rewritten address", func(t *testing.T, user string, s *gitServer) {
			sh(t, user, "remote", "set-url", "origin", "gh:acme/widget.git")
			sh(t, user, "config", "url."+strings.Replace(s.URL, "://", "://alice:"+token+"@", 1)+"/.insteadOf", "gh:")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := newGitServer(t, "Basic "+basicLogin("alice", token))
			user, bare := server.served(t)
			tc.set(t, user, server)
			r := openRun(t, user, pushing)
			if strings.Contains(r.src.RemoteURL, token) || r.src.RemoteURL != server.URL+"/acme/widget.git" {
				t.Errorf("address %s", r.src.RemoteURL)
			}
			if id := commit(t, r, "{1}"); sh(t, bare, "rev-parse", branch) != id {
				t.Error("not pushed")
			}
			if len(server.leaks) > 0 {
				t.Errorf("arguments and environments that hold the password: %q", server.leaks)
			}
			must(t, filepath.WalkDir(r.opt.Root, func(name string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() && holdsToken([]byte(read(t, name))) {
					t.Errorf("the password is in %s", name)
				}
				return err
			}))
		})
	}
}
