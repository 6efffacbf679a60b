//go:build e2e

package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// gitLFS builds git-lfs, once, and gives its path. It has a go.mod of its own,
// as act has.
var gitLFS = sync.OnceValues(func() (string, error) {
	c := exec.Command("go", "tool", "-modfile=internal/e2e/lfs.mod", "-n", "git-lfs")
	c.Dir = filepath.Join("..", "..")
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("build git-lfs: %w\n%s", err, said.String())
	}
	return strings.TrimSpace(out.String()), nil
})

// lfsServer keeps files for Git LFS, as its documents have the batch API and the
// basic transfer. It serves those who log in.
type lfsServer struct {
	*httptest.Server
	login   string // value of the header Authorization
	arrives func() // when a file is uploaded

	mu    sync.Mutex
	full  bool              // it takes no more
	files map[string][]byte // by their SHA-256
	wrong []string          // requests that it did not serve
}

func newLFSServer(t *testing.T) *lfsServer {
	s := &lfsServer{login: "Basic dGVzdGVyOndvcmQ=", files: map[string][]byte{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /demo/objects/batch", s.batch)
	mux.HandleFunc("PUT /files/{oid}", s.put)
	mux.HandleFunc("GET /files/{oid}", s.get)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, known := mux.Handler(r); known == "" || r.Header.Get("Authorization") != s.login {
			s.wrong = append(s.wrong, r.Method+" "+r.URL.Path)
			http.Error(w, `{"message": "nothing for you"}`, http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

type lfsObject struct {
	OID     string               `json:"oid"`
	Size    int64                `json:"size"`
	Actions map[string]lfsAction `json:"actions,omitempty"`
	Error   *lfsError            `json:"error,omitempty"`
}

type lfsAction struct {
	Href   string            `json:"href"`
	Header map[string]string `json:"header"`
}

type lfsError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (s *lfsServer) batch(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Operation string      `json:"operation"`
		Objects   []lfsObject `json:"objects"`
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for i := range ask.Objects {
		o := &ask.Objects[i]
		_, here := s.files[o.OID]
		switch {
		case ask.Operation == "upload" && here:
		case ask.Operation == "upload" && s.full:
			o.Error = &lfsError{422, "you have no room left"}
		case ask.Operation == "download" && !here:
			o.Error = &lfsError{404, "it is not here"}
		default:
			o.Actions = map[string]lfsAction{ask.Operation: {s.URL + "/files/" + o.OID, map[string]string{"Authorization": s.login}}}
		}
	}
	w.Header().Set("Content-Type", "application/vnd.git-lfs+json")
	json.NewEncoder(w).Encode(map[string]any{"transfer": "basic", "objects": ask.Objects})
}

func (s *lfsServer) put(_ http.ResponseWriter, r *http.Request) {
	if s.arrives != nil {
		s.arrives()
	}
	data, err := io.ReadAll(r.Body)
	if err == nil && lfsID(string(data)) == r.PathValue("oid") {
		s.files[r.PathValue("oid")] = data
	}
}

func (s *lfsServer) get(w http.ResponseWriter, r *http.Request) {
	w.Write(s.files[r.PathValue("oid")])
}

// has reports whether a file with this content was uploaded.
func (s *lfsServer) has(content string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, here := s.files[lfsID(content)]
	return here
}

func lfsID(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }

func lfsPointer(content string) string {
	return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d", lfsID(content), len(content))
}

// large makes a place whose repository keeps files with Git LFS: a.bin, and
// gone.bin, which the server has lost. Neither is in the clone.
func large(t *testing.T) (*place, *lfsServer) {
	t.Helper()
	p := newPlace(t)
	program, err := gitLFS()
	testenv.Must(t, err)
	p.write("bin/.keep", "")
	testenv.Must(t, os.Symlink(program, filepath.Join(p.root, "bin", "git-lfs")))
	p.more = append(p.more, "PATH="+filepath.Join(p.root, "bin")+":"+programs+":"+os.Getenv("PATH"))
	s := newLFSServer(t)
	p.git(p.repo, "config", "--global", "http."+s.URL+"/.extraheader", "Authorization: "+s.login)
	p.git(p.repo, "lfs", "install")
	p.write("repo/.lfsconfig", "[lfs]\n\turl = "+s.URL+"/demo\n")
	p.write("repo/.gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
	p.write("repo/a.bin", "the first\n")
	p.write("repo/gone.bin", "gone\n")
	p.git(p.repo, "add", ".")
	p.git(p.repo, "commit", "--quiet", "-m", "Large files")
	p.git(p.repo, "push", "--quiet", "origin", "main")
	if !s.has("the first\n") || !s.has("gone\n") {
		t.Fatalf("git-lfs has uploaded %d files; not served: %q", len(s.files), s.wrong)
	}
	delete(s.files, lfsID("gone\n"))
	testenv.Must(t, os.RemoveAll(filepath.Join(p.repo, ".git", "lfs", "objects")))
	p.write("7.md", "# Say more\n")
	return p, s
}

// worker makes the program that is the agent of both phases.
func (p *place) worker(script string) {
	p.t.Helper()
	p.write("bin/work", "#!/bin/sh\nmkdir -p $(dirname $REPRISE_ARTIFACT); echo '# Done' > $REPRISE_ARTIFACT\n"+script)
	testenv.Must(p.t, os.Chmod(filepath.Join(p.root, "bin/work"), 0o755))
	p.write("large.cue", `name: "large"
agents: worker: {use: "command", command: ["work"]}
phases: [
	{name: "build", goal: "Build.", access: "tree", review: false, checks: [{name: "second", run: "grep -q second a.bin"}]},
	{name: "polish", goal: "Polish.", access: "tree", review: false},
]
`)
}

// Agents and checks work with the files that Git LFS keeps, and what they change
// is at its server before the branch is.
func TestLFS(t *testing.T) {
	p, s := large(t)
	other := newLFSServer(t)
	p.worker(`case $(cat a.bin) in
"the first") echo "the second" > a.bin; echo new > new.bin;;
"the second") echo "the third" > a.bin;;
esac
echo wrong > gone.bin
printf '[lfs]\n\turl = ` + other.URL + `/demo\n' > .lfsconfig
`)
	s.arrives = func() {
		c := exec.Command("git", "--git-dir", filepath.Join(p.root, "origin.git"), "cat-file", "-e", "reprise/issue-7:new.bin")
		if len(s.files) == 1 && c.Run() == nil {
			t.Error("the branch was pushed before what it refers to")
		}
	}
	out := p.reprise("run", "--issue-file", "../7.md", "--pipeline", "../large.cue", "--push")
	p.want(0, out)
	before, _, _ := strings.Cut(out.stderr, "[1/2]")
	testenv.Has(t, "what is said before the first call", before, "gone.bin stays a pointer of Git LFS")
	for name, content := range map[string]string{"a.bin": "the third\n", "new.bin": "new\n", "gone.bin": "gone\n"} {
		testenv.Is(t, name+" of origin is", p.pushed(name), lfsPointer(content))
	}
	for _, content := range []string{"the second\n", "the third\n", "new\n"} {
		if !s.has(content) {
			t.Errorf("%q was not uploaded", content)
		}
	}
	testenv.Has(t, ".lfsconfig of origin", p.pushed(".lfsconfig"), s.URL)
	if s.has("wrong\n") || len(other.wrong) > 0 {
		t.Errorf("the server that the agent names was asked for %q", other.wrong)
	}

	p.want(0, p.reprise("rollback", "--issue", "7", "--to-phase", "build", "--reason", "Say less.", "--restore", "--force", "--push"))
	testenv.Is(t, "after going back a.bin of origin is", p.pushed("a.bin"), lfsPointer("the second\n"))
	p.git(p.root, "-c", "lfs.skipdownloaderrors=true", "clone", "--quiet", "--branch", "reprise/issue-7", "origin.git", "clone")
	testenv.Is(t, "a person has in a.bin", p.read(filepath.Join(p.root, "clone", "a.bin")), "the second\n")
}

// A secret in a file of Git LFS is not uploaded.
func TestLFSSecret(t *testing.T) {
	p, s := large(t)
	p.worker("echo the second > a.bin; echo " + canary + " > new.bin\n")
	p.want(3, p.reprise("run", "--issue-file", "../7.md", "--pipeline", "../large.cue", "--push"))
	if s.has(canary + "\n") {
		t.Error("it was uploaded")
	}
	if s.has("the second\n") {
		t.Error("what was refused with it was uploaded")
	}
}

// Where the server takes no file, the branch is not pushed and the run says why;
// the next start pushes both.
func TestLFSServerFull(t *testing.T) {
	p, s := large(t)
	p.worker("echo the second > a.bin\n")
	s.full = true
	out := p.reprise("run", "--issue-file", "../7.md", "--pipeline", "../large.cue", "--push")
	if out.code == 0 || !strings.Contains(out.stdout+out.stderr, "you have no room left") {
		t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if left := p.git(p.repo, "ls-remote", "origin", "reprise/issue-7"); left != "" {
		testenv.Is(t, "a.bin of origin is", p.pushed("a.bin"), lfsPointer("the first\n"))
	}
	s.full = false
	p.want(0, p.reprise("run", "--issue", "7", "--push"))
	if got := p.pushed("a.bin"); got != lfsPointer("the second\n") || !s.has("the second\n") {
		t.Errorf("a.bin of origin is %q", got)
	}
}

// A git-lfs that does what it likes when it converts what an agent wrote is held by the
// sandbox, and still fetches and uploads. Without the sandbox nothing holds it.
func TestLFSIsHeld(t *testing.T) {
	for _, c := range []struct {
		how  string
		want string
	}{{"required", "convert"}, {"off", "connect convert environment escape repository settings tree"}} {
		t.Run(c.how, func(t *testing.T) {
			p, s := large(t)
			p.worker("echo the second > a.bin; echo new > new.bin\n")
			program, err := gitLFS()
			testenv.Must(t, err)
			if err := exec.Command("cp", program, filepath.Join(p.root, "bin/real-git-lfs")).Run(); err != nil { // in PATH, where the sandbox has programs
				t.Fatal(err)
			}
			address := strings.TrimPrefix(s.URL, "http://")
			host, port, _ := strings.Cut(address, ":")
			p.write("bin/hostile", fmt.Sprintf(`#!/bin/bash
if [ "$1" = filter-process ]; then
	root=%[1]q
	try() { if bash -c "$2" >/dev/null 2>&1; then echo > "$GIT_DIR/store/did $1"; fi; }
	export root
	try convert true
	try escape 'echo > "$root/escaped"'
	try settings 'cat "$root/home/.gitconfig"'
	try repository 'cat "$root/repo/.gitattributes"'
	try connect 'exec 3<>/dev/tcp/%[2]s/%[3]s'
	try environment "cat /proc/$PPID/environ"
	try tree 'cat "$GIT_DIR/../../tree/a.bin"'
fi
exec "$(dirname "$0")/real-git-lfs" "$@"
`, p.root, host, port))
			testenv.Must(t, errors.Join(os.Chmod(filepath.Join(p.root, "bin/hostile"), 0o755), os.Remove(filepath.Join(p.root, "bin/git-lfs")), os.Symlink("hostile", filepath.Join(p.root, "bin/git-lfs"))))
			p.want(0, p.reprise("run", "--issue-file", "../7.md", "--pipeline", "../large.cue", "--push", "--sandbox", c.how))
			if got := p.pushed("a.bin"); got != lfsPointer("the second\n") || !s.has("the second\n") || !s.has("new\n") {
				t.Errorf("a.bin of origin is %q", got)
			}
			var did []string
			err = filepath.WalkDir(filepath.Join(p.root, "runs"), func(name string, d fs.DirEntry, err error) error {
				if what, is := strings.CutPrefix(filepath.Base(name), "did "); is {
					did = append(did, what)
				}
				return err
			})
			testenv.Must(t, err)
			got := strings.Join(did, " ")
			testenv.Is(t, "it could:", got, c.want)
			if _, err := os.Stat(filepath.Join(p.root, "escaped")); (err == nil) != (c.how == "off") {
				t.Errorf("a file outside: %v", err)
			}
		})
	}
}
