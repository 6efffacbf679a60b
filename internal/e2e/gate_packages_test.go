//go:build e2e

package e2e

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// zipped makes an archive of files.
func zipped(files map[string]string) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, text := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			panic(err) // a buffer takes everything
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// tarball makes one with a file.
func tarball(name, text string) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))})
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err != nil || w.Close() != nil || z.Close() != nil {
		panic(err) // a buffer takes everything
	}
	return out.Bytes()
}

// locked is the lock file of npm for a package that depends on demo.
func locked(name string, demo []byte) string {
	sum := sha512.Sum512(demo)
	return fmt.Sprintf(`{"name":%[1]q,"version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":%[1]q,"version":"1.0.0","dependencies":{"demo":"1.0.0"}},
		"node_modules/demo":{"version":"1.0.0","resolved":"http://registry.npmjs.org/demo/-/demo-1.0.0.tgz","integrity":"sha512-%[2]s"}}}`, name, base64.StdEncoding.EncodeToString(sum[:]))
}

// registries are those of Go, npm, PyPI and Maven with one package each, as a proxy of the
// user's leads to them.
func registries(t *testing.T, demo []byte) *url.URL {
	const module = "/example.com/demo/@v/v1.0.0"
	files := map[string][]byte{
		"proxy.golang.org" + module + ".info":       []byte(`{"Version":"v1.0.0"}`),
		"proxy.golang.org" + module + ".mod":        []byte("module example.com/demo\n"),
		"proxy.golang.org" + module + ".zip":        zipped(map[string]string{"example.com/demo@v1.0.0/go.mod": "module example.com/demo\n"}),
		"registry.npmjs.org/demo/-/demo-1.0.0.tgz":  demo,
		"repo.maven.apache.org/maven2/demo-1.0.pom": []byte("<project/>"),
		"pypi.org/simple/demo/":                     []byte(`<a href="/files/demo-1.0-py3-none-any.whl">demo-1.0-py3-none-any.whl</a>`),
		"pypi.org/files/demo-1.0-py3-none-any.whl":  zipped(map[string]string{"demo.py": "", "demo-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n", "demo-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "demo-1.0.dist-info/RECORD": ""}),
	}
	world := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := files[r.Host+r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/") {
			w.Header().Set("Content-Type", "text/html")
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(world.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		far, err := net.Dial("tcp", world.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		near, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
		go func() { _, _ = io.Copy(near, far); _ = near.Close() }()
	}))
	t.Cleanup(proxy.Close)
	at, err := url.Parse(proxy.URL)
	testenv.Must(t, err)
	return at
}

// Package managers fetch from the registries that the pipeline lists, and from none
// where it lists none; what they were refused stands in what the check says.
func TestPackageManagers(t *testing.T) {
	self := built(t)
	p := newPlace(t)
	demo := tarball("package/package.json", `{"name":"demo","version":"1.0.0"}`)
	p.write("repo/package.json", `{"name":"x","version":"1.0.0","dependencies":{"demo":"1.0.0"}}`)
	p.write("repo/package-lock.json", locked("x", demo))
	at := registries(t, demo)
	// Where python3 is a script that looks for the real one, as pyenv's is, what counts here is the real one.
	python, err := exec.Command("python3", "-c", "import os, sys; print(os.path.dirname(os.path.realpath(sys.executable)))").Output()
	if err != nil {
		t.Fatalf("python3: %v", err)
	}
	environ := p.environ()
	environ[0] = "PATH=" + strings.TrimSpace(string(python)) + ":" + strings.TrimPrefix(environ[0], "PATH=")
	opts, note, err := agents.Options{Environ: environ, Proxy: func(*url.URL) (*url.URL, error) { return at, nil }}.Contain(sandbox.Required, sandbox.Sandbox{
		Helper: []string{self, "sandboxed", "--"}, State: filepath.Join(p.root, "homes"), Closed: true,
	})
	if err != nil || note != "" {
		t.Fatal(note, err)
	}
	// What a program in Java does with the properties that it is given.
	const java = `node -e '
		const at = name => process.env.JAVA_TOOL_OPTIONS.match("-D" + name + "=(\\S+)")[1];
		require("http").get({host: at("http.proxyHost"), port: at("http.proxyPort"), path: "http://repo.maven.apache.org/maven2/demo-1.0.pom", headers: {host: "repo.maven.apache.org"}},
			r => { r.pipe(process.stdout); process.exitCode = r.statusCode == 200 ? 0 : 1; });'`
	for host, run := range map[string]string{
		"repo.maven.apache.org": java,
		"proxy.golang.org":      "mkdir -p go && cd go && printf 'module x\\n' > go.mod && GOFLAGS=-modcacherw GOTOOLCHAIN=local GOSUMDB=off GOPROXY=http://proxy.golang.org GOMODCACHE=$PWD/cache go mod download -x example.com/demo@v1.0.0 && test -d cache/example.com/demo@v1.0.0",
		"registry.npmjs.org":    "npm ci --registry http://registry.npmjs.org --no-audit --no-fund --fetch-retries=0 --cache $PWD/cache && test -f node_modules/demo/package.json",
		"pypi.org":              "python3 -m pip install --isolated --no-cache-dir --disable-pip-version-check --retries 0 --no-deps --target lib --index-url http://pypi.org/simple --trusted-host pypi.org demo==1.0 && test -f lib/demo.py",
	} {
		for _, allow := range [][]string{{"proxy.golang.org", "registry.npmjs.org", "pypi.org", "repo.maven.apache.org"}, nil} {
			t.Run(fmt.Sprintf("%s %d", host, len(allow)), func(t *testing.T) {
				dir := filepath.Join(p.root, "tree", host, fmt.Sprint(len(allow)))
				testenv.Must(t, os.CopyFS(dir, os.DirFS(p.repo)))
				r, err := opts.Check(t.Context(), dir, pipelines.Check{Name: host, Run: run, Timeout: pipelines.Duration(5 * time.Minute), Network: pipelines.Network{Closed: true, Allow: allow}})
				if err != nil || r.Pass != (allow != nil) {
					t.Errorf("it passes: %v, %v\n%s", r.Pass, err, r.Output)
				}
				if refused := strings.Contains(r.Output, host+":80 ("); refused != (allow == nil) {
					t.Errorf("it was refused the host: %v\n%s", refused, r.Output)
				}
			})
		}
	}
}
