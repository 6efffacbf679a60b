package scripts

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reprise-ci/reprise/internal/test/world"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

type scriptCommand = func(ts *testscript.TestScript, neg bool, args []string)

// commands are the commands that scripts have besides the usual ones.
func commands() map[string]scriptCommand {
	return map[string]scriptCommand{
		"exits": exits, "json": jsonHas, "snapshot": snapshot, "await": await, "text": textAt, "audit": auditBranch, "plain": plain, "kept": kept, "reprise": reprise,
	}
}

// reprise ARGUMENT... is exec reprise ARGUMENT...
func reprise(ts *testscript.TestScript, neg bool, args []string) {
	if err := ts.Exec("reprise", args...); (err != nil) != neg {
		ts.Fatalf("reprise %s: %v", strings.Join(args, " "), err)
	}
}

// exits N PROGRAM ARGUMENT... runs a program that has to end with exit code N,
// and never with the trace of a stack.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N program argument...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	said := ts.ReadFile("stdout") + ts.ReadFile("stderr")
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	if trace := stackTrace.FindString(said); trace != "" {
		ts.Fatalf("there is a stack trace: %q", trace)
	}
}

// stackTrace is what only a program that broke down prints.
var stackTrace = regexp.MustCompile(`goroutine \d+|(?m)^panic:|fatal error:|\.go:\d+`)

// json FILE holds a file against being one JSON value and nothing else;
// json FILE PATH VALUE asks for a value in it. In the path names and list
// positions stand between dots, and len is a length. The value is text, or JSON
// for what is no string, or for a reason what it says in English, or a regular expression after a ~.
func jsonHas(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 && len(args) != 3 {
		ts.Fatalf("usage: json FILE [PATH VALUE]")
	}
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	dec.UseNumber()
	var v any
	ts.Check(dec.Decode(&v))
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		ts.Fatalf("%s has more than one JSON value", args[0])
	}
	if len(args) == 1 {
		return
	}
	got, err := dig(v, strings.Split(args[1], "."))
	ts.Check(err)
	pattern, isPattern := strings.CutPrefix(args[2], "~")
	same := got == args[2]
	if isPattern {
		same = regexp.MustCompile(pattern).MatchString(got)
	}
	if same == neg {
		ts.Fatalf("%s is %q, compared with %q", args[1], got, args[2])
	}
}

// text FILE PATH TO writes the text at a path of a JSON file to a file.
func textAt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: text FILE PATH TO")
	}
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &v))
	got, err := dig(v, strings.Split(args[1], "."))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(got), 0o644))
}

// dig gives what is at a path, as text.
func dig(v any, path []string) (string, error) {
	for i, key := range path {
		switch at := v.(type) {
		case map[string]any:
			inner, ok := at[key]
			if key == "len" {
				inner, ok = len(at), true
			}
			if !ok {
				return "", fmt.Errorf("there is no %s", strings.Join(path[:i+1], "."))
			}
			v = inner
		case []any:
			n, err := strconv.Atoi(key)
			switch {
			case key == "len":
				v = len(at)
				continue
			case key == "last":
				n, err = len(at)-1, nil
			}
			if err != nil || n < 0 || n >= len(at) {
				return "", fmt.Errorf("there is no %s in a list of %d", strings.Join(path[:i+1], "."), len(at))
			}
			v = at[n]
		default:
			return "", fmt.Errorf("%s is not in %v", key, v)
		}
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	out, err := json.Marshal(v)
	var why metadata.Reason
	if json.Unmarshal(out, &why) == nil {
		return why.In(prompts.Words("en")), nil
	}
	return string(out), err
}

// snapshot FILE DIR [PATH...] writes a line for everything in DIR, but for
// what lies below the PATHs: mode, hash and name.
func snapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: snapshot FILE DIR [PATH...]")
	}
	var b bytes.Buffer
	root := os.DirFS(ts.MkAbs(args[1]))
	ts.Check(fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		for _, but := range args[2:] {
			if name == but {
				return fs.SkipDir
			}
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var data []byte
		switch {
		case d.Type().IsRegular():
			data, err = fs.ReadFile(root, name)
		case d.Type()&fs.ModeSymlink != 0:
			var to string
			to, err = os.Readlink(ts.MkAbs(args[1]) + "/" + name)
			data = []byte(to)
		}
		fmt.Fprintf(&b, "%v %x %s\n", info.Mode(), sha256.Sum256(data), name)
		return err
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o644))
}

// await FILE waits until a file is there.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
	}
	ts.Fatalf("%s has not come", args[0])
}

// audit REPOSITORY BRANCH holds every commit of a run against what its record
// says, see audit, and the newest record against the schema of records.
func auditBranch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: audit REPOSITORY BRANCH")
	}
	run, err := world.Audit(ts.MkAbs(args[0]), args[1])
	ts.Check(err)
	ts.Check(world.FitsSchema(ts.MkAbs(args[0]), args[1], run.IssueNumber))
	if run.Status == metadata.Completed {
		ts.Check(stated(ts.MkAbs(args[0]), args[1]))
	}
}

// stated says whether the statement on a run holds in a clone of all that the repository has.
func stated(repository, branch string) error {
	clone, err := os.MkdirTemp("", "reprise-clone-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(clone)
	for _, args := range [][]string{
		{"git", "clone", "--quiet", "--config", "remote.origin.fetch=+refs/reprise/*:refs/reprise/*", repository, clone},
		{"reprise", "verify", "--repo", clone, branch},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", args, err, out)
		}
	}
	return nil
}

// kept [-C REPOSITORY] ARGUMENT... runs git, for which the branch of a run stands for
// the newest commit that has its record.
func kept(ts *testscript.TestScript, neg bool, args []string) {
	repo := "."
	if len(args) > 1 && args[0] == "-C" {
		repo = args[1]
	}
	for i, arg := range args {
		if branch, file, _ := strings.Cut(arg, ":"); strings.HasPrefix(branch, "reprise/") && !strings.Contains(branch, "~") {
			args[i] = strings.TrimSuffix(world.RecordAt(ts.MkAbs(repo), branch)+":"+file, ":")
		}
	}
	if err := ts.Exec("git", args...); (err != nil) != neg {
		ts.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
}
