package pipelines_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/builtin"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// load evaluates a built-in pipeline.
func load(t testing.TB, name string) *pipelines.Pipeline {
	t.Helper()
	p, err := source.Load(t.Context(), source.Sources{}, name)
	if err != nil {
		t.Fatalf("load %s:\n%v", name, err)
	}
	return p
}

func TestFormatParse(t *testing.T) {
	for _, name := range builtin.Names() {
		p := load(t, name)
		data, err := pipelines.Format(p)
		testenv.Must(t, err)
		back, err := pipelines.Parse(data)
		testenv.Must(t, err)
		if diff := cmp.Diff(p, back); diff != "" {
			t.Errorf("%s: changed on the way (-want +got):\n%s", name, diff)
		}
		again, err := pipelines.Format(load(t, name))
		testenv.Must(t, err)
		if !bytes.Equal(data, again) {
			t.Errorf("%s: two formats differ:\n%s", name, cmp.Diff(string(data), string(again)))
		}
	}
}

func TestParseRefuses(t *testing.T) {
	data, err := pipelines.Format(load(t, "fix"))
	testenv.Must(t, err)
	good := string(data)
	for name, test := range map[string]struct{ old, new, want string }{
		"an unknown field": {`"name": "fix"`, `"nmae": "fix"`, `unknown field "nmae"`},
		"a second value":   {"\n}\n", "\n}\n{}\n", "more than one value"},
		"a cut file":       {"\n}\n", "\n", "unexpected EOF"},
		"no phases":        {good, `{"name": "fix"}`, "no phases"},
		"a path to write":  {`"analyze.md"`, `"../../x"`, `writes "../../x" is no name`},
		"a path as folder": {`"00_analyze"`, `"..\\x"`, `is no name of a file`},
		"an unknown agent": {`"agent": "writer"`, `"agent": "nobody"`, `no agent "nobody"`},
		"a bad time":       {`"timeout": "20m0s"`, `"timeout": "soon"`, "invalid duration"},
		"nothing":          {good, "", "EOF"},
	} {
		bad := strings.Replace(good, test.old, test.new, 1)
		if bad == good {
			t.Fatalf("%s: nothing to replace", name)
		}
		p, err := pipelines.Parse([]byte(bad))
		if err == nil || !strings.Contains(err.Error(), test.want) || p != nil {
			t.Errorf("%s: got %v, want an error with %q", name, err, test.want)
		}
	}
}

func TestDigest(t *testing.T) {
	const want = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	if got := pipelines.Digest(nil); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
